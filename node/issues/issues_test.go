//go:build unix

package issues

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// scripted puts a program called gh in front of the PATH.
func scripted(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "gh"), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

var anchor = protocol.Anchor{Owner: "nat", Repo: "maw-js", Number: 332}

func TestComments(t *testing.T) {
	scripted(t, `echo "$@" > "$0.args"
echo '{"comments":[
 {"author":{"login":"eve"},"body":"later","createdAt":"2026-04-15T11:00:00Z","url":"u2"},
 {"author":{"login":"bo"},"body":"SYNC-RESULT | from: mawjs","createdAt":"2026-04-15T10:00:00Z","url":"u1"}]}'
`)
	all, err := GH{}.Comments(t.Context(), anchor)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].Author != "bo" || all[1].Body != "later" || all[0].At.Hour() != 10 {
		t.Errorf("got %+v", all)
	}
}

func TestSay(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("SAID", filepath.Join(dir, "said"))
	scripted(t, `echo "$@" > "$SAID"; cat >> "$SAID"; test -n "$GH_PROMPT_DISABLED"`)
	if err := (GH{}).Say(t.Context(), anchor, "$(touch pwned) `x`\nsecond line"); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(filepath.Join(dir, "said"))
	if want := "issue comment 332 --repo github.com/nat/maw-js --body-file -\n$(touch pwned) `x`\nsecond line"; err != nil || string(said) != want {
		t.Errorf("it was given %q, %v", said, err)
	}
}

// What goes wrong is said in one line; gh is never asked twice.
func TestTroubles(t *testing.T) {
	for name, c := range map[string]struct{ script, want string }{
		"not signed in": {"echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4", "gh: To get started with GitHub CLI, please run: gh auth login"},
		"no JSON":       {"echo hello", "gh did not print what it should"},
		"silent":        {"exit 1", "exit status 1"},
		"too much":      {"head -c 20000000 /dev/zero", "more than 16777216 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			scripted(t, c.script)
			if _, err := (GH{}).Comments(t.Context(), anchor); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestWithoutTheProgram(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if err := (GH{}).Reachable(anchor); !errors.Is(err, ErrNoProgram) {
		t.Errorf("got %v", err)
	}
	if _, err := (GH{}).Comments(t.Context(), anchor); !errors.Is(err, ErrNoProgram) {
		t.Errorf("got %v", err)
	}
	if err := (GH{}).Reachable(protocol.Anchor{Repo: "maw-js", Number: 1}); err == nil || errors.Is(err, ErrNoProgram) {
		t.Errorf("an issue that nobody can find: %v", err)
	}
}
