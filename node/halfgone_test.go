package node

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

func emptyFolder(t *testing.T, dir string) {
	t.Helper()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.RemoveAll(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
	}
}

// The packs, or the whole record, of a node without a remote are removed while the node runs. It
// prevents: the node goes on as if all were well, lets go of what is stored after that, runs agents
// that may have answered already, and does not start again.
func TestRecordGoesWhileTheNodeRuns(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"objects/pack", "objects", "."} {
		t.Run(what, func(t *testing.T) {
			home := initHome(t, nil)
			n, stop := runNode(t, home)
			addExec(t, n, "echo", "cat")
			before := say(t, n, "echo", "said before")
			answerTo(t, n, before.Path)
			eventually(t, "all is recorded", func() bool { return n.record.Status().Unrecorded == 0 })
			emptyFolder(t, filepath.Join(home.Record(), filepath.FromSlash(what)))
			after := say(t, n, "echo", "said after")
			eventually(t, "status says what is wrong", func() bool {
				s, err := control.ShowStatus.Ask(t.Context(), n)
				return err == nil && strings.Contains(strings.Join(s.Warned, "\n"), "record.git has lost a part of itself") && s.Record.CommitError != ""
			})
			if s := n.record.Status(); s.Unrecorded == 0 {
				t.Error("the journal let go of it")
			}
			if !n.serving.Halted() {
				t.Error("agents are run")
			}
			stop()

			n, stop = runNode(t, home)
			if m, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: after.Path.String()}); err != nil || m.Body != "said after" {
				t.Errorf("what was stored after reads %q, %v", m.Body, err)
			}
			_, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: before.Path.String()})
			gone := err != nil
			if found, err := n.audits.Verify(t.Context()); err != nil || gone != slices.ContainsFunc(found.Findings, isLost(before)) {
				t.Errorf("lost: %v; verify finds %+v, %v", gone, found, err)
			}
			if s, err := control.ShowStatus.Ask(t.Context(), n); err != nil || !strings.Contains(strings.Join(s.Warned, "\n"), "--accept-loss") {
				t.Errorf("status does not say how to go on: %q, %v", s.Warned, err)
			}
			later := say(t, n, "echo", "said after the start")
			eventually(t, "it is recorded", func() bool { return n.record.Status().Unrecorded == 0 })
			stop()

			done, err := Rebuild(t.Context(), Options{Home: home, Log: zerolog.Nop()}, false, nil)
			if err != nil || len(done.Lost) == 0 || gone != slices.Contains(done.Lost, before.Path.RepoPath()) {
				t.Errorf("rebuilt: %+v, %v", done, err)
			}
			if done, err := Rebuild(t.Context(), Options{Home: home, Log: zerolog.Nop()}, true, nil); err != nil || len(done.Lost) > 0 {
				t.Errorf("rebuilt without the lost: %+v, %v", done, err)
			}
			n, stop = runNode(t, home)
			defer stop()
			answerTo(t, n, after.Path)
			answerTo(t, n, later.Path)
			if v, err := n.audits.Verify(t.Context()); err != nil || slices.ContainsFunc(v.Findings, func(f control.Finding) bool { return f.Kind == control.FindingDamaged }) {
				t.Errorf("verify finds %+v, %v", v.Findings, err)
			}
			gitSays(t, home.Record(), "rev-list", "--objects", "--quiet", "main")
		})
	}
}

// isLost returns a function that tells the finding that a message is lost.
func isLost(m control.Message) func(control.Finding) bool {
	return func(f control.Finding) bool { return f.Path == m.Path && f.Kind == control.FindingDamaged }
}

// The same happens with a remote: the node puts itself right while it runs. It prevents: agents
// that stay paused, and a host that stays cut off until somebody repairs it.
func TestRecordIsFetchedWhileTheNodeRuns(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"objects/pack", "objects", "."} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			remote := bareRemote(t)
			home := initHome(t, func(o *homes.Options) { o.Remote = remote })
			n, stop := runNode(t, home)
			defer stop()
			addExec(t, n, "echo", "cat")
			before := say(t, n, "echo", "said before")
			answerTo(t, n, before.Path)
			eventually(t, "all is pushed", func() bool { s := n.record.Status(); return s.Unrecorded+s.Unpushed == 0 })
			emptyFolder(t, filepath.Join(home.Record(), filepath.FromSlash(what)))
			answerTo(t, n, say(t, n, "echo", "said after").Path)
			eventually(t, "all is pushed again", func() bool {
				s := n.record.Status()
				return s.Unrecorded+s.Unpushed == 0 && s.Broken == "" && s.Tip == s.RemoteTip
			})
			if m, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: before.Path.String()}); err != nil || m.Body != "said before" {
				t.Errorf("it reads %q, %v", m.Body, err)
			}
			if s, err := control.ShowStatus.Ask(t.Context(), n); err != nil || strings.Contains(strings.Join(s.Warned, "\n"), "no agent is run") {
				t.Errorf("status still warns: %q, %v", s.Warned, err)
			}
			if v, err := n.audits.Verify(t.Context()); err != nil || v.Wrong > 0 {
				t.Errorf("verify finds %+v, %v", v.Findings, err)
			}
			gitSays(t, home.Record(), "rev-list", "--objects", "--quiet", "main")
		})
	}
}
