package node

import (
	"os"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Of two files the second cannot be withheld. It prevents: this host withholds the first, and no
// other host is told.
func TestWithholdTellsOfTheFirst(t *testing.T) {
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	n, _ := runNode(t, home)
	if err := os.Rename(n.cfg.Remote, n.cfg.Remote+".away"); err != nil {
		t.Fatal(err)
	}
	addExec(t, n, "echo", "cat")
	m := say(t, n, "echo", "the key is …")
	files := []string{m.Path.String(), "nothing"}
	for range 2 { // to do it again does no harm
		done, err := control.Withhold.Ask(t.Context(), n, control.WithholdRequest{Files: files})
		if err == nil || control.AsError(err).Kind != control.KindNotFound {
			t.Errorf("%+v, %v", done, err)
		}
	}
	if words := withholdWords(n); len(words) != 2 {
		t.Errorf("all hosts were told by %v", words)
	}
}

// A host names a message that never came, or has no remote. It prevents: the log says so each
// minute, for ever.
func TestHeedLogsOnce(t *testing.T) {
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	n, _ := runNode(t, home)
	addExec(t, n, "echo", "cat")
	said := say(t, n, "echo", "hello").Path
	gone, err := protocol.ParsePath(strings.Replace(said.String(), said.Short(), "b2c3d4e5", 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := n.decider.Say(t.Context(), fleet.Withhold{Host: n.cfg.Alias, Paths: []protocol.Path{gone}}); err != nil {
		t.Fatal(err)
	}
	for _, shared := range []bool{true, false} {
		var log strings.Builder
		w := *n.withholding
		w.Shared, w.Heeded, w.Logged, w.Log = func() bool { return shared }, map[protocol.Path]bool{}, map[protocol.Path]string{}, zerolog.New(&log)
		w.Heed(t.Context())
		w.Heed(t.Context())
		want := 0
		if shared {
			want = 1
		}
		if said := strings.Count(log.String(), "is not withheld here yet"); said != want || len(w.Heeded) > 0 {
			t.Errorf("with a remote: %v: it was logged %d times, %d words were carried out", shared, said, len(w.Heeded))
		}
	}
}

func withholdWords(n *Node) (words []protocol.Path) {
	n.folded(func(s *fleet.State) {
		for it := range s.Ledger.Channel(n.system) {
			if it.Act == protocol.ActHostWithhold {
				words = append(words, it.Path)
			}
		}
	})
	return words
}
