package node

import (
	"testing"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/protocol"
)

// An agent is named as its host. It prevents: the human is told that it stopped a conversation when
// it failed.
func TestStoppedOrFailed(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	as := fleet.Who{Name: n.cfg.Alias.String(), Host: n.cfg.Alias}
	addInbox(t, n, as.Name)
	failed, stopped := say(t, n, as.Name, "one").Path, say(t, n, as.Name, "two").Path
	failure := protocol.Failed.Format(protocol.Failure{Problem: "the command ended with exit code 1", Attempts: 3})
	for at, c := range map[protocol.Path]fleet.Command{
		failed:  fleet.Answer{As: as, To: failed, Body: failure, Act: protocol.ActFailed, ByAgent: true},
		stopped: fleet.Stop{As: as, At: stopped, Human: n.cfg.Human, Body: "FAILED | the conversation was stopped: 9 answers."},
	} {
		if _, err := n.decider.Act(t.Context(), c, at); err != nil {
			t.Fatal(err)
		}
		answer := answerTo(t, n, at)
		var it *fleet.Item
		n.folded(func(s *fleet.State) { it, _ = s.Ledger.Item(answer.Path) })
		if answer.From != as.Name || n.stops(it) != (at == stopped) {
			t.Errorf("%q from %s stops a conversation: %v", answer.Body, answer.From, n.stops(it))
		}
	}
}
