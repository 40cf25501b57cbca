// Package runs is the affair of an agent's work on one message, as far as other hosts must know of
// it. They must know that the work has failed for good (a dead letter), that somebody has the
// message tried again or puts it away, and which of several hosts has claimed it. That the work is
// under way concerns only the agent's host. That the message was answered stands in the answer.
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
	Dead    *DeadLetter // how it has failed; nil if it may still be answered
	Dropped *Decision   // who has put the dead letter away; nil if nobody has
	Again   *Decision   // the last time that somebody had the message tried again
	Retries int         // how often somebody had it tried again: the epoch of claims
	Claim   *Claim      // which host has claimed it, since it was last tried again; nil if none has
	// Attempts is how often the agent's command was started, as far as its failures say so.
	Attempts int
}

// DeadLetter is a dead letter: a message that an agent will not answer.
type DeadLetter struct {
	affair.Position // of the message that says so
	Time            time.Time
	Host            protocol.Name // where it was tried; empty if that message was not signed
	Failure         protocol.Failure
}

// Decision is what somebody said about the run.
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

// Name is the name of the affair of an agent's work on a message.
func Name(p protocol.Path, agent string) string { return agent + nameEnd + p.String() }

// nameEnd ends the agent's name. No name contains it, whoever has written the name.
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
	w, err := protocol.RunRetry.Parse(m.Body) // all other acts begin with the same form
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
