package talk

import (
	"context"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// retries tells somebody who waits for an answer, on standard error, that an agent has failed on
// the message, and when it is tried again. It knows this only of agents of this host. Of sessions on
// any host it tells that they are woken, and what they wait for. Its goroutine runs from tellRetries
// until end.
type retries struct {
	message string // the message, as the person named it
	client  control.Service
	v       cli.View
	told    map[protocol.Name]int // the last attempt of each agent that was told
	moment  []string              // what was told last of sessions
	end     func()                // ends the goroutine: after that, nothing more is said
}

func tellRetries(message string, client control.Service, v cli.View) *retries {
	r := &retries{message: message, client: client, v: v, told: map[protocol.Name]int{}}
	r.end = wait.Background(func(ctx context.Context) {
		if !v.JSON {
			// If retries cannot be told, the wait goes on all the same.
			_ = control.Events.Ask(ctx, client, control.EventsRequest{Kinds: []control.EventKind{control.EventRun, control.EventSession}},
				func(e control.Event) error { r.happened(ctx, e); return nil })
		}
	})
	return r
}

func (r *retries) happened(ctx context.Context, e control.Event) {
	if e.Run == nil {
		r.look(ctx)
	}
	switch {
	case e.Kind == control.EventBegun: // an attempt may have failed before
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

// look tells what is new of the sessions to which the message is addressed.
func (r *retries) look(ctx context.Context) {
	m, err := control.Show.Ask(ctx, r.client, control.ShowRequest{Path: r.message})
	if err != nil {
		return
	}
	was := r.moment
	r.moment = moment(m, r.v)
	for _, line := range r.moment {
		if !slices.Contains(was, line) {
			r.v.Err.Printf("%s\n", r.v.Err.Dim(line))
		}
	}
}

// isMessage reports whether `p` is the path of the message. The person may have named the message
// by the end of its path.
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
