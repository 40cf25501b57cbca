// Package runs is the affair of what other hosts must know of an agent's work on one message.
// They must know that it has failed for good (a dead letter), that somebody has it tried again or
// puts it away, and which of several hosts has claimed it. That it is under way is for the
// agent's host alone, and that it was answered stands in the answer.
package runs

import (
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/protocol"
)

// Run is an agent's work on one message. It does not change.
type Run struct {
	Message protocol.Path
	Agent   string
	Dead    *DeadLetter // how it has failed; nil while it may still be answered
	Dropped *Decision   // by whom the dead letter was put away; nil where it was not
	Again   *Decision   // the last time that somebody had it tried again
	Retries int         // how often somebody had: the epoch of claims
	Claim   *Claim      // which host has claimed it, since it was tried again last; nil: none
	// Attempts is how often the agent's command was started, as far as its failures say.
	Attempts int
}

// DeadLetter is a dead letter: a message that an agent will not answer.
type DeadLetter struct {
	affair.Position // of what says so
	Time            time.Time
	Host            protocol.Name // where it was tried; empty if that was not signed
	Failure         protocol.Failure
}

// Decision is what somebody said about it.
type Decision struct {
	affair.Position
	Time   time.Time
	By     string
	Reason string
}

// KindName is the name of the kind.
const KindName = "run"

// Kind is the kind of affair that runs are.
func Kind() *affair.Kind[Run] {
	return &affair.Kind[Run]{
		Name:  KindName,
		Acts:  []protocol.ActSpec{protocol.Failed.ActSpec, protocol.RunRetry.ActSpec, protocol.RunDrop.ActSpec, protocol.RunClaim.ActSpec},
		Of:    of,
		Begin: begin,
		Step:  step,
	}
}

// Name is that of the affair of an agent's work on a message.
func Name(p protocol.Path, agent string) string { return agent + nameEnd + p.String() }

// nameEnd is in no name, whoever has written it.
const nameEnd = "\x00"

func begin(name string) Run {
	agent, path, _ := strings.Cut(name, nameEnd)
	p, err := protocol.ParsePath(path)
	if err != nil {
		return Run{Agent: agent}
	}
	return Run{Message: p, Agent: agent}
}

func of(m *protocol.Message) (string, bool) {
	if m.Act == protocol.ActFailed {
		p, ok := m.AnsweredPath()
		return Name(p, m.Author().Name), ok
	}
	w, err := protocol.RunRetry.Parse(m.Body) // all other acts begin with one form
	return Name(w.Of, w.Agent), err == nil
}

func step(r Run, d affair.Deed) (Run, error) {
	switch d.Act {
	case protocol.ActFailed:
		return r.fail(d)
	case protocol.ActRunRetry:
		return r.retry(d)
	case protocol.ActRunClaim:
		return r.claim(d)
	}
	return r.drop(d)
}

func (r Run) fail(d affair.Deed) (Run, error) {
	f, err := protocol.Failed.Parse(d.Body)
	if err != nil {
		return r, err
	}
	r.Dead = &DeadLetter{Position: d.Position, Time: d.Timestamp, Host: d.Host, Failure: f}
	r.Dropped = nil
	r.Attempts += f.Attempts
	return r, nil
}
