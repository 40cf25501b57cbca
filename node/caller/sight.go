package caller

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/process"
)

// sight is what is seen of a caller's process.
type sight struct {
	run   *Run   // the run to which the process belongs; nil if to none
	stray string // why it is an agent's although nobody can tell whose; "" if it is not
	gone  string // why nobody is there to be looked at; "" if somebody is
	blind string // why nothing can be found out; "" if something could
	how   string // what was seen, for the log
}

// look finds out what can be known about a process.
func (b *Book) look(p *process.Peer) sight {
	switch {
	case p == nil:
		return sight{blind: "the system does not say who is at the other end"}
	case p.Hidden:
		return sight{how: "a process of this user"}
	case p.PID == os.Getpid():
		return sight{how: "this program"}
	case p.PID == 0 && b.otherUser(p):
		return sight{stray: fmt.Sprintf("a process of the user %d", p.UID)}
	case p.Ended:
		return sight{gone: "the process that opened this connection has ended"}
	case p.PID == 0:
		return sight{blind: "its process cannot be seen, or is in a container of its own"}
	}
	if top, ok := p.Remembered(); ok {
		return b.alone(p, top)
	}
	if !p.Here() {
		return b.ended(p)
	}
	s, top := b.trace(p)
	if s.run == nil && b.otherUser(p) {
		return sight{stray: fmt.Sprintf("process %d of the user %d", p.PID, p.UID)}
	}
	if !p.Here() { // what was read may have been of another process
		return b.ended(p)
	}
	if s.nobodys() {
		// A process that loses its parent comes beneath an ancestor of that parent. So no process
		// ever comes beneath a keeper later, and a command is in its group from its start.
		// Therefore the next request on this connection need not look again.
		p.Remember(top)
	}
	return s
}

// nobodys reports whether a process was seen, and belongs to no run.
func (s sight) nobodys() bool { return s.run == nil && s.stray == "" && s.gone == "" && s.blind == "" }

// ended is the result for a process that has ended. Somebody else holds its connection, and it may
// have been a child of an agent's command. A process that had a terminal, and was beneath nobody's
// run when it opened the connection, most likely was a person's.
func (b *Book) ended(p *process.Peer) sight {
	how := fmt.Sprintf("the process %d that opened this connection has ended", p.PID)
	if !p.Terminal {
		return sight{gone: how}
	}
	if s, _ := b.climb(p); !s.nobodys() {
		return sight{gone: how}
	}
	return sight{blind: how}
}

// otherUser reports whether a process belongs to a user who does not operate this host.
func (b *Book) otherUser(p *process.Peer) bool { return p.UID != os.Getuid() && p.UID != 0 }

// trace looks at the control group and the ancestors of a process. `top` is the last ancestor that
// was looked at, if all were.
func (b *Book) trace(p *process.Peer) (s sight, top process.ID) {
	grouped := b.group(p.PID)
	s, top = b.climb(p)
	switch {
	case grouped.run == nil && grouped.stray == "":
		return s, top
	case s.run == grouped.run || s.run == nil:
		return grouped, top
	}
	return sight{stray: fmt.Sprintf("process %d, by its control group of one run and by its ancestors of another", p.PID)}, top
}

// group is what the process's control group shows.
func (b *Book) group(pid int) sight {
	id := keeper.RunOf(strconv.Itoa(pid))
	if id == "" {
		return sight{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if r := b.runs[id]; r != nil {
		return sight{run: r, how: fmt.Sprintf("the control group of process %d", pid)}
	}
	return sight{stray: fmt.Sprintf("process %d, in the control group of a run that is not known here", pid)}
}

// climb is what the ancestors of a process show. `top` is the last one that was looked at.
func (b *Book) climb(p *process.Peer) (s sight, top process.ID) {
	chain, err := p.Ancestry()
	if errors.Is(err, process.ErrDeep) {
		return sight{stray: fmt.Sprintf("process %d, beneath more processes than are looked at", p.PID)}, top
	}
	if err != nil || chain[0] != p.ID {
		return sight{blind: fmt.Sprintf("its process %d cannot be seen", p.PID)}, top
	}
	top = chain[0]
	for _, at := range chain {
		if r := b.rootedAt(at); r != nil {
			return sight{run: r, how: fmt.Sprintf("the ancestors of process %d", p.PID)}, top
		}
		if at == b.self && at.PID == 1 { // in a container, a process that has lost its parent is a child of this one too
			return sight{blind: fmt.Sprintf("process %d, without a parent or started by this node", p.PID)}, top
		}
		if at == b.self {
			return sight{stray: fmt.Sprintf("process %d, which this node has started for something else", p.PID)}, top
		}
		if b.above[at] {
			break
		}
		if keeper.Asked(process.Arguments(at.PID)) {
			return sight{stray: fmt.Sprintf("process %d, beneath the keeper %d of a run that is not known here", p.PID, at.PID)}, top
		}
		top = at
	}
	return b.alone(p, top), top
}

// alone is the result for a process that is beneath nobody's run. It may be left over from one.
func (b *Book) alone(p *process.Peer, top process.ID) sight {
	if b.mayBeLeft(top.Start) {
		return sight{blind: fmt.Sprintf("process %d may be left of a run whose keeper was ended", p.PID)}
	}
	return sight{how: fmt.Sprintf("process %d of this user, which no run has started", p.PID)}
}

// rootedAt is the run under way to which everything beneath a process belongs.
func (b *Book) rootedAt(at process.ID) *Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.root == at && r.ended.IsZero() {
			return r
		}
	}
	return nil
}

// mayBeLeft reports whether a process of which only the start is known may be left over from a run:
// a run that began before it, and whose keeper somebody has ended.
func (b *Book) mayBeLeft(start uint64) bool {
	patience := time.NewTimer(endsWithin)
	defer patience.Stop()
	for _, r := range b.headless(start) {
		select {
		case <-r.over: // in most cases the keeper had nothing left to do
		case <-patience.C:
			return true
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.loose > 0 && b.loose <= start
}

// endsWithin is how long it may take until a run is noted as over after its keeper has ended:
// processes that it has left may hold its outputs.
const endsWithin = 5 * time.Second

// headless are the runs under way that began before `start`, and beneath whose first process
// nothing can run any more.
func (b *Book) headless(start uint64) []*Run {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*Run
	for _, r := range b.runs {
		if r.ended.IsZero() && r.root.PID > 0 && r.root.Start <= start && !r.root.Alive() {
			all = append(all, r)
		}
	}
	return all
}
