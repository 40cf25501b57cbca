package node

import (
	"context"
	"fmt"
	"log"
	"os"
	"sync/atomic"

	"github.com/parleyfleet/parley/node/control"
)

// reading is how far a start that reads the whole record has come.
type reading struct{ done, total atomic.Int64 }

func (r *reading) String() string {
	total := max(1, r.total.Load())
	return fmt.Sprintf("reading the record: %d%%", 100*min(r.done.Load(), total)/total)
}

// longStart is how many messages make a start long enough to tell of it.
const longStart = 5000

// answerMeanwhile tells whoever asks at the control socket how far a long start has
// come, until done is called.
func (n *Node) answerMeanwhile(total int) (done func()) {
	if total < longStart {
		return func() {}
	}
	n.sofar.total.Store(int64(total))
	listener, err := control.Listen(n.home.Socket())
	if err != nil {
		n.log.Warn().Err(err).Msg("nobody can be told how far the start has come")
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { // ends with ctx
		ended <- control.Serve(ctx, listener, n.verbs, control.Info{
			Version: n.version, API: control.API, Errors: log.New(n.log, "", 0),
			Busy: func() error {
				return control.Errorf(control.KindUnavailable, fmt.Sprintf("wait, or end process %d", os.Getpid()), "the node is starting: %s", &n.sofar)
			}})
	}()
	return func() {
		cancel()
		if err := <-ended; err != nil {
			n.log.Warn().Err(err).Msg("the control socket of the start did not close cleanly")
		}
	}
}
