package node

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// Crosstalk C14: a home whose configuration names no alias finds its host file by user and machine,
// else by the machine alone. It prevents: a guess where two files match, and a node that ends where
// none does.
func TestWhichHostThisIs(t *testing.T) {
	t.Parallel()
	here, me := whereabouts.Hostname(), whereabouts.User()
	if here == "" || me == "" {
		t.Skip("this machine or user has no name")
	}
	home := initHome(t, nil)
	config, err := os.ReadFile(home.Config())
	if err != nil {
		t.Fatal(err)
	}
	config = regexp.MustCompile(`(?m)^alias: .*\n`).ReplaceAll(config, nil)
	if err := os.WriteFile(home.Config(), config, 0o600); err != nil {
		t.Fatal(err)
	}
	clone := cloneOf(t, home.Record())
	hosts := func(files map[string]string) {
		t.Helper()
		for name, about := range files {
			text := fmt.Sprintf("---\nalias: %s\nhostname: %s\nactors: {}\n---\n", name, about)
			if err := os.WriteFile(filepath.Join(clone, "hosts", name+".md"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		git(t, clone, "add", ".")
		git(t, clone, "commit", "--quiet", "-m", "hosts")
		git(t, clone, "push", "--quiet")
	}
	for _, test := range []struct {
		name  string
		files map[string]string
		want  string // an alias, or a part of the error
	}{
		{"the machine", nil, "oracle-world"},
		{"another user's", map[string]string{"theirs": here + "\nusername: not-" + me}, "oracle-world"},
		{"this user's", map[string]string{"mine": here + "\nusername: " + me}, "mine"},
		{"two of this user", map[string]string{"again": here + "\nusername: " + me}, "the host files of again and mine match this machine equally"},
		{"one that is out", map[string]string{"again": here + "\nusername: " + me + "\nremoved: 2026-05-23T19:01:00.000Z"}, "mine"},
		{"none", map[string]string{"again": "elsewhere", "mine": "elsewhere", "oracle-world": "elsewhere"}, "no host file in hosts/ of record.git"},
	} {
		if test.files != nil {
			hosts(test.files)
		}
		cfg, err := homes.LoadConfig(home)
		said := cfg.Alias.String()
		if err != nil {
			said = err.Error()
		}
		if !strings.Contains(said, test.want) {
			t.Errorf("%s: %s, want %s", test.name, said, test.want)
		}
		if unknown := new(homes.NoHostError); test.name == "none" && (!errors.As(err, &unknown) || unknown.User != me || unknown.Hostname != here) {
			t.Errorf("%s: %v", test.name, err)
		}
		if test.name == "two of this user" && control.AsError(err).Hint == "" {
			t.Error("nothing says what to do")
		}
	}
}

// It prevents: a node that ended between the revocation of a host and its file leaves a file by
// which other programs go on writing to that host.
func TestAHostThatIsOutIsShownSo(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	founder := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "white", remote })
	initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "black", remote })
	n, stop := runNode(t, founder)
	eventually(t, "black is known", func() bool {
		err := n.record.Fetch(t.Context())
		_, err2 := control.RevokeKey.Ask(t.Context(), n, control.RevokeRequest{Host: "black", Try: true})
		return err == nil && err2 == nil
	})
	before, _, err := n.record.ReadFile("hosts/black.md")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := control.RevokeKey.Ask(t.Context(), n, control.RevokeRequest{Host: "black", Phrase: control.RevokePhrase("black")}); err != nil {
		t.Fatal(err)
	}
	if err := n.record.WriteFile(t.Context(), "hosts/black.md", before); err != nil { // as if the node had ended before
		t.Fatal(err)
	}
	stop()
	n, _ = runNode(t, founder)
	eventually(t, "the file says that it is out", func() bool {
		now, _, err := n.record.ReadFile("hosts/black.md")
		return err == nil && strings.Contains(string(now), "removed:")
	})
}
