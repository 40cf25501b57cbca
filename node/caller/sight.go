package caller

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/parleyfleet/parley/internal/keeper"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/protocol"
)

// sight is what is seen of a caller's process.
type sight struct {
	run   *Run          // the run to which the process belongs; nil if to none
	seat  protocol.Name // the agent of the session to which it belongs; "" if to none
	stray string        // why it is an agent's although nobody can tell whose; "" if it is not
	gone  string        // why nobody is there to be looked at; "" if somebody is
	blind string        // why nothing can be found out; "" if something could
	left  bool          // it may be left of a session, which nobody can tell
	how   string        // what was seen, for the log
}

// look finds out what can be known about a process. `thread` is the session for which it says that it
// asks.
func (b *Book) look(p *process.Peer, thread string) sight {
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
	version := b.version()
	if top, ok := p.Remembered(version); ok {
		return b.alone(p, top, false)
	}
	if !p.Here() {
		return b.ended(p)
	}
	s, top, orphan := b.trace(p, thread)
	if s.run == nil && s.seat == "" && b.otherUser(p) {
		return sight{stray: fmt.Sprintf("process %d of the user %d", p.PID, p.UID)}
	}
	if !p.Here() { // what was read may have been of another process
		return b.ended(p)
	}
	if s.nobodys() && !orphan {
		// A process that loses its parent comes beneath an ancestor of that parent. So no process
		// ever comes beneath a keeper later, and a command is in its group from its start.
		// Therefore the next request on this connection need not look again, unless a session was
		// registered or has ended since.
		p.Remember(top, version)
	}
	return s
}

// nobodys reports whether a process was seen, and belongs to no run and no session.
func (s sight) nobodys() bool {
	return s.run == nil && s.seat == "" && s.stray == "" && s.gone == "" && s.blind == ""
}

// ended is the result for a process that has ended. Somebody else holds its connection, and it may
// have been a child of an agent's command. A process that had a terminal, and was beneath nobody's
// run when it opened the connection, most likely was a person's.
func (b *Book) ended(p *process.Peer) sight {
	how := fmt.Sprintf("the process %d that opened this connection has ended", p.PID)
	if p.Terminal == 0 {
		return sight{gone: how}
	}
	if s, _, _ := b.climb(p, ""); !s.nobodys() {
		return sight{gone: how}
	}
	return sight{blind: how}
}

// otherUser reports whether a process belongs to a user who does not operate this host.
func (b *Book) otherUser(p *process.Peer) bool { return p.UID != os.Getuid() && p.UID != 0 }

// trace looks at the control group and the ancestors of a process. `top` is the last ancestor that
// was looked at, if all were. `orphan` says that the parent of that one has ended, or that the
// system has started it.
func (b *Book) trace(p *process.Peer, thread string) (s sight, top process.ID, orphan bool) {
	grouped := b.group(p.PID)
	s, top, orphan = b.climb(p, thread)
	switch {
	case grouped.run == nil && grouped.stray == "":
		return s, top, orphan
	case s.run == grouped.run || s.run == nil:
		return grouped, top, orphan
	}
	return sight{stray: fmt.Sprintf("process %d, by its control group of one run and by its ancestors of another", p.PID)}, top, orphan
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

// climb is what the ancestors of a process show. `top` and `orphan` are as those of trace.
func (b *Book) climb(p *process.Peer, thread string) (s sight, top process.ID, orphan bool) {
	chain, err := p.Ancestry()
	if errors.Is(err, process.ErrDeep) {
		return sight{stray: fmt.Sprintf("process %d, beneath more processes than are looked at", p.PID)}, top, false
	}
	if err != nil || chain[0] != p.ID {
		return sight{blind: fmt.Sprintf("its process %d cannot be seen", p.PID)}, top, false
	}
	top = chain[0]
	higher, program, terminal := false, "", p.Terminal // above the node; an agent program that holds no session
	beneath, carrier := process.ID{}, sight{}
	for _, at := range chain {
		if s, seated := b.seatedAt(p, at, beneath, thread); seated {
			return s, top, false
		}
		beneath = at
		argv := process.Arguments(at.PID)
		if terminal == 0 && !higher {
			terminal = process.Terminal(at.PID)
		}
		if program == "" && b.o.Program != nil {
			if name, ok := b.o.Program(process.Executable(at.PID), argv); ok {
				program = fmt.Sprintf("%s (process %d)", name, at.PID)
			}
		}
		if higher {
			continue // a session may have started the node itself
		}
		if carrier.seat == "" && b.o.Seats != nil {
			carrier = sight{seat: b.o.Seats.Carries(at), how: fmt.Sprintf("the environment of process %d", at.PID)}
		}
		if r := b.rootedAt(at); r != nil {
			return sight{run: r, how: fmt.Sprintf("the ancestors of process %d", p.PID)}, top, false
		}
		if at == b.self && at.PID == 1 { // in a container, a process that has lost its parent is a child of this one too
			return sight{blind: fmt.Sprintf("process %d, without a parent or started by this node", p.PID)}, top, false
		}
		if at == b.self {
			return sight{stray: fmt.Sprintf("process %d, which this node has started for something else", p.PID)}, top, false
		}
		if keeper.Asked(argv) {
			return sight{stray: fmt.Sprintf("process %d, beneath the keeper %d of a run that is not known here", p.PID, at.PID)}, top, false
		}
		if adopter := adopts(at, argv); adopter || b.above[at] {
			higher, orphan = true, adopter
			continue
		}
		top = at
	}
	if carrier.seat != "" { // what lost its parent, or an agent program that did, still is the session's
		return carrier, top, false
	}
	if program != "" {
		return sight{left: b.left(top, orphan, terminal), blind: fmt.Sprintf("process %d, beneath %s, which is no session known here; parley install makes its sessions agents, and parley up --unwatched has what it starts act as you", p.PID, program)}, top, false
	}
	return b.alone(p, top, orphan), top, orphan
}

// adopts reports whether a process takes in those that have lost their parent.
func adopts(at process.ID, argv []string) bool {
	return at.PID == 1 || len(argv) > 0 && filepath.Base(argv[0]) == "systemd"
}

// seatedAt is what is known of the peer because a process above it, or itself, holds sessions.
func (b *Book) seatedAt(p *process.Peer, at, beneath process.ID, thread string) (s sight, seated bool) {
	if b.o.Seats == nil {
		return s, false
	}
	agent, seated := b.o.Seats.At(at, beneath, thread)
	if seated && agent == "" {
		return sight{stray: fmt.Sprintf("process %d, beneath process %d, which holds several sessions, and nothing shows of which it is", p.PID, at.PID)}, true
	}
	return sight{seat: agent, how: fmt.Sprintf("the session of process %d", at.PID)}, seated
}

// version tells whether the sessions are those of before.
func (b *Book) version() uint64 {
	if b.o.Seats == nil {
		return 0
	}
	return b.o.Seats.Version()
}

// alone is the result for a process that is beneath nobody's run or session. It may be left over
// from one.
func (b *Book) alone(p *process.Peer, top process.ID, orphan bool) sight {
	if b.mayBeLeft(top.Start) {
		return sight{blind: fmt.Sprintf("process %d may be left of a run whose keeper was ended", p.PID)}
	}
	if b.left(top, orphan, p.Terminal) {
		return sight{left: true, blind: fmt.Sprintf("process %d may have been started by a session and have lost its parent", p.PID)}
	}
	return sight{how: fmt.Sprintf("process %d of this user, which no agent has started", p.PID)}
}

// left reports whether a process that has lost its parent may be left of a session: it began while one
// lived, and has no terminal but that of one, which it then has had from the start. (Numbers of terminals
// are used again, such as by a tmux that began meanwhile, which has none itself.)
func (b *Book) left(top process.ID, orphan bool, terminal int) bool {
	if b.o.Seats == nil || !orphan || terminal != 0 && process.Terminal(top.PID) != terminal {
		return false
	}
	return b.o.Seats.Lived(top.Start, terminal)
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
