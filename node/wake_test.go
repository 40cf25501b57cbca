package node

import (
	"testing"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: wake says that messages came from the remote that this host itself has written, such
// as an answer of an agent that was woken.
func TestWakeCountsOnlyWhatCame(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	n, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote = remote }))
	clone := cloneOf(t, remote)
	channel := protocol.DeriveChannel(n.record.ID(), "alice", "nat").String()
	plainMail(t, clone, channel, "20260523T190100000", "alice", "nat", "one")
	plainMail(t, clone, channel, "20260523T190200000", "alice", "nat", "two")
	push(t, clone)
	stop := make(chan struct{})
	written := make(chan int, 1)
	go func() { // ends with stop
		count := 0
		defer func() { written <- count }()
		for {
			select {
			case <-stop:
				return
			default:
				if _, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{"nat@oracle-world"}, Body: "meanwhile"}); err == nil {
					count++
				}
			}
		}
	}()
	woken, err := control.Wake.Ask(t.Context(), n, control.WakeRequest{})
	close(stop)
	if awaited(t, "the end of the writing", written) == 0 {
		t.Log("nothing was written meanwhile")
	}
	if err != nil || woken.Arrived > 2 {
		t.Errorf("%d messages came, %v; want those two that did", woken.Arrived, err)
	}
	eventually(t, "both are here", func() bool { return n.brought.Load() == 2 })
}
