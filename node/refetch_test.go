package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// A node whose record.git is gone fetches it anew, and puts in what only its journal holds. It
// prevents: a host that cannot start again after its disk lost the repository, or that starts
// without what it had acknowledged.
func TestRecordIsFetchedAnew(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	home := initHome(t, func(o *homes.Options) { o.Remote = remote })
	n, stop := runNode(t, home)
	addExec(t, n, "echo", "cat")
	answerTo(t, n, say(t, n, "echo", "hello").Path)
	if _, err := control.Wake.Ask(t.Context(), n, control.WakeRequest{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "everything is pushed", func() bool {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		return err == nil && s.Record.Unpushed == 0
	})
	away := remote + ".away"
	if err := os.Rename(remote, away); err != nil {
		t.Fatal(err)
	}
	answerTo(t, n, say(t, n, "echo", "only here").Path)
	before := spoken(t, n)
	stop()
	if err := os.RemoveAll(filepath.Join(home.Dir, "record.git")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Home: home, Log: zerolog.Nop()}); err == nil || !strings.Contains(err.Error(), "cannot fetch the record anew") {
		t.Errorf("without a remote to be seen: %v", err)
	}
	if err := os.Rename(away, remote); err != nil {
		t.Fatal(err)
	}
	n, _ = runNode(t, home)
	if diff := cmp.Diff(before, spoken(t, n)); diff != "" {
		t.Errorf("said before and after (-want +got):\n%s", diff)
	}
	answerTo(t, n, say(t, n, "echo", "again").Path)
	v, err := n.audits.Verify(t.Context())
	if err != nil || v.Wrong > 0 {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// spoken returns the paths and texts of all messages.
func spoken(t *testing.T, n control.Service) []string {
	t.Helper()
	var lines []string
	for _, m := range everything(t, n) {
		lines = append(lines, m.Path.String()+" "+m.Body)
	}
	return lines
}

// It prevents: a host takes another fleet's record, or an empty repository, for its own because
// record.git was lost.
func TestAnotherRecordIsNotTaken(t *testing.T) {
	t.Parallel()
	foreign := bareRemote(t)
	initHome(t, func(o *homes.Options) { o.Remote, o.Alias = foreign, "oracle-world" })
	for name, test := range map[string]struct{ remote, want string }{
		"none":    {"", "record.git is not in"},
		"empty":   {bareRemote(t), "is empty"},
		"foreign": {foreign, "is another one"},
	} {
		home := initHome(t, func(o *homes.Options) {
			if o.Remote = test.remote; name != "none" {
				o.Remote = bareRemote(t)
			}
		})
		if err := os.RemoveAll(filepath.Join(home.Dir, "record.git")); err != nil {
			t.Fatal(err)
		}
		setRemoteOf(t, home.Config(), test.remote)
		_, err := Open(t.Context(), Options{Home: home, Log: zerolog.Nop()})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
		if _, err := os.Stat(filepath.Join(home.Dir, "record.git")); err == nil {
			t.Errorf("%s: record.git was made", name)
		}
	}
}

// setRemoteOf writes another remote into a configuration.
func setRemoteOf(t *testing.T, config, remote string) {
	t.Helper()
	data, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "remote: ") {
			lines[i] = "remote: \"" + remote + "\""
		}
	}
	if err := os.WriteFile(config, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
}
