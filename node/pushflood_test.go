package node

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// A stranger's push that is too large to be taken in kept the mail of all hosts from each other, where
// git alone carries it. What a known host has signed still comes, and starts agents.
func TestAPushThatIsTooLargeHoldsUpNoMailOfKnownHosts(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	remote := bareRemote(t)
	home := initHome(t, func(o *homes.Options) { o.Remote = remote })
	fastFetch(t, home)
	n, stop := runNode(t, home)
	addExec(t, n, "echo", "cat")
	pushed := func(n *Node) {
		t.Helper()
		eventually(t, "all is pushed", func() bool { s := n.record.Status(); return s.Unrecorded+s.Unpushed == 0 && s.Tip == s.RemoteTip })
	}
	pushed(n)
	other := initHome(t, func(o *homes.Options) { o.Remote, o.Alias = remote, "black" })
	black, stopBlack := runNode(t, other)
	pushed(black)
	eventually(t, "black is known", func() bool {
		n.mu.Lock()
		defer n.mu.Unlock()
		_, joined := n.state.Keys().Host("black")
		return joined
	})
	stop()
	asked, err := protocol.ParsePath(say(t, black, "echo@oracle-world", "hello").Path.String())
	if err != nil {
		t.Fatal(err)
	}
	pushed(black)
	stopBlack()
	clone := cloneOf(t, remote)
	for i := range 5001 {
		if err := os.WriteFile(filepath.Join(clone, fmt.Sprintf("%d.md", i)), fmt.Append(nil, i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	strange := plainMail(t, clone, "aaaaaaaa-0000-4000-8000-000000000001", "20260523T190100000", "alice", "nat", "unsigned")
	push(t, clone)
	n, _ = runNode(t, home)
	answerTo(t, n, awaitHas(t, n, asked))
	s, err := control.ShowStatus.Ask(t.Context(), n)
	if err != nil || s.Record.Trouble == nil || s.Record.Trouble.Kind != "huge" || has(n, strange) {
		t.Errorf("status %+v, %v; the unsigned message is there: %t", s.Record.Trouble, err, has(n, strange))
	}
}
