package statecache

import (
	"fmt"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/control"
)

const (
	// longStart is from how many messages on a start is long enough to be told of.
	longStart = 5000
	// readingSay is the time between two lines in the log about a long start.
	readingSay = 10 * time.Second
)

// Reading tells how far a start that reads the whole record has come.
type Reading struct {
	Socket   string // the control socket, where anybody who asks meanwhile is told
	Version  string
	Progress func(done, total int) // nil: nobody is told
	Log      zerolog.Logger

	done, total atomic.Int64
	say         time.Time // when the log gets its next line
}

// String says how far the start has come.
func (r *Reading) String() string {
	total := max(1, r.total.Load())
	return fmt.Sprintf("reading the record: %d%%", 100*min(r.done.Load(), total)/total)
}

// begin notes that about `total` messages are going to be read. If they are many, everybody who
// asks at the control socket is told how far the start has come, until `end` is called.
func (r *Reading) begin(total int) (end func()) {
	r.total.Store(int64(total))
	r.say = time.Now().Add(readingSay)
	if total < longStart {
		return func() {}
	}
	end, err := control.ServeBusy(r.Socket, r.Version, log.New(r.Log, "", 0), func() error {
		return control.Errorf(control.KindUnavailable, fmt.Sprintf("wait, or end process %d", os.Getpid()), "the node is starting: %s", r)
	})
	if err != nil {
		r.Log.Warn().Err(err).Msg("nobody can be told how far the start has come")
	}
	return end
}

// reached tells now and then that `done` messages have been read. It tells nothing if begin was not
// called, because there is little to read.
func (r *Reading) reached(done int) {
	total := int(r.total.Load())
	if total == 0 {
		return
	}
	done = min(done, total)
	r.done.Store(int64(done))
	if r.Progress != nil {
		r.Progress(done, total)
	}
	if now := time.Now(); now.After(r.say) {
		r.say = now.Add(readingSay)
		r.Log.Info().Int("of", total).Int("messages", done).Msgf("reading the record: %d%%", 100*done/total)
	}
}
