package talk

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// retries tells whoever waits for an answer, on standard error, that an agent has failed on
// the message and when it is tried again. Of agents of other hosts this node does not know
// it. Its goroutine runs from tellRetries until end.
type retries struct {
	message string // as the person calls it
	client  control.Service
	v       cli.View
	told    map[protocol.Name]int // the last attempt that was told of, by agent
	stop    context.CancelFunc
	done    chan struct{}
}

func tellRetries(ctx context.Context, message string, client control.Service, v cli.View) *retries {
	ctx, stop := context.WithCancel(ctx)
	r := &retries{message: message, client: client, v: v, told: map[protocol.Name]int{}, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		if !v.JSON {
			// Who cannot be told of retries waits all the same.
			_ = control.Events.Ask(ctx, client, control.EventsRequest{Kinds: []control.EventKind{control.EventRun}},
				func(e control.Event) error { r.happened(ctx, e); return nil })
		}
	}()
	return r
}

// end ends it: nothing is said any more when it returns.
func (r *retries) end() {
	r.stop()
	<-r.done
}

func (r *retries) happened(ctx context.Context, e control.Event) {
	switch {
	case e.Kind == control.EventBegun: // by then an attempt may have failed
		jobs, err := control.Queue.Ask(ctx, r.client, control.QueueRequest{Message: r.message})
		for _, j := range jobs {
			if err == nil && j.Why == control.WhyRetry {
				r.tell(retry{j.Agent, j.Attempt, j.Of, j.Problem, j.Next})
			}
		}
	case e.Run != nil && e.Run.Change == control.RunAgain && r.isMessage(e.Run.Path):
		r.tell(retryOf(*e.Run))
	}
}

// isMessage reports whether that is the path of the message, which the person may have
// called by its end.
func (r *retries) isMessage(p protocol.Path) bool {
	return strings.HasSuffix(strings.TrimSuffix(p.String(), ".md"), strings.TrimSuffix(r.message, ".md"))
}

func (r *retries) tell(failed retry) {
	if r.told[failed.agent] >= failed.attempt {
		return
	}
	r.told[failed.agent] = failed.attempt
	r.v.Err.Printf("%s\n", r.v.Err.Dim(term.Line(failed.text(r.v, r.v.Err))))
}
