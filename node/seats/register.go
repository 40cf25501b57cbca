package seats

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Tell answers control.TellSession.
func (b *Book) Tell(ctx context.Context, by control.Caller, r control.SessionEventRequest) (none control.SessionAnswer, err error) {
	if by.Run != "" {
		return none, nil // a run is told what it needs by its prompt
	}
	if err := check(r); err != nil {
		return none, err
	}
	for {
		s, taken, err := b.seatFor(by, r)
		if s == nil || err != nil {
			return none, err
		}
		free := b.each.Lock(s.Name)
		if _, held := b.session(s); held || ctx.Err() != nil {
			if taken {
				defer b.Look()
			}
			defer free()
			return b.happened(ctx, s, by, r)
		}
		free() // it was given another name in the meantime
	}
}

// check refuses what no program says of its sessions: it is kept, and shown.
func check(r control.SessionEventRequest) error {
	const longest = 4096 // bytes of a path
	for _, word := range []string{r.Program, r.Session, string(r.Event), r.Source, r.Bell} {
		if !agentprogram.IsWord(word) {
			return control.Errorf(control.KindUsage, "", "cannot tell of a session: %.64q is no id", word)
		}
	}
	for _, path := range []string{r.Folder, r.Ring.Socket, r.Ring.Home} {
		if path != "" && !filepath.IsAbs(path) || len(path) > longest {
			return control.Errorf(control.KindUsage, "", "cannot tell of a session: %.64q is no whole path", path)
		}
	}
	return nil
}

// seatFor is the seat of the session that tells something. A session that is not known yet takes
// one, and then `taken` is true. It is nil for what is beneath a run or another session: that tells
// nothing of itself.
func (b *Book) seatFor(by control.Caller, r control.SessionEventRequest) (s *seat, taken bool, err error) {
	program, ok := b.Find(r.Program)
	if !ok {
		return nil, false, control.Errorf(control.KindUsage, "the programs are listed by: parley install", "cannot tell of a session: no agent program is called %q", r.Program)
	}
	s, taken, err = b.take(by, program, r, nil)
	if errors.Is(err, errUnlooked) {
		where := b.placeOf(r)
		s, taken, err = b.take(by, program, r, &where)
	}
	return s, taken, err
}

// errUnlooked says that it matters where a session works.
var errUnlooked = errors.New("nobody has looked where the session works")

// take is seatFor for a session that works at `where`; nil: nobody has looked.
func (b *Book) take(by control.Caller, program agentprogram.Program, r control.SessionEventRequest, where *place) (s *seat, taken bool, err error) {
	b.joins.Lock()
	defer b.joins.Unlock()
	holds, err := b.holderOf(by, program, r)
	if err != nil || holds == nil {
		return nil, false, err
	}
	b.mu.Lock()
	var own []*seat // of this process
	if holds.PID > 0 {
		own = b.seatsOf(holds.process())
	}
	mine := by.Kind == control.Operator || by.Name == b.Human
	for _, now := range own {
		mine = mine || by.Name == "" || by.Name == now.Name || slices.Contains(now.was, by.Name) // it was given another name since it called
		if now.id() == r.Session {
			s = now
		}
	}
	if mine && s != nil && !b.displaced(s) && (r.Event == control.SessionEnded || s.Holder.Ring == with(s.Holder.Ring, r.Ring)) {
		s.heard(r)
		b.mu.Unlock()
		return s, false, nil
	}
	b.mu.Unlock()
	switch s = nil; {
	case by.Kind == control.ByAgent && by.Name == "" && !mine:
		return nil, false, nil
	case where == nil:
		return nil, false, errUnlooked
	}
	if !b.shares(r.Program) {
		where.folder = cmp.Or(process.Folder(holds.PID), where.folder)
	}
	if by.Left { // it may be left of another agent's session, and takes the place of none that was added
		for _, a := range where.added {
			if a.Dir == where.folder {
				b.Log.Warn().Stringer("agent", a.Name).Str("program", r.Program).Msg("a session in the folder of an agent gets another name: " + by.How + "; start it in a terminal, or with the agent's token (parley agent token)")
			}
		}
		where.added = nil
	}
	for _, s := range b.held() { // a session that has ended since the last look keeps no name
		if b.ended(s) {
			if err := b.leave(s); err != nil {
				return nil, false, err
			}
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.seats = slices.DeleteFunc(b.seats, func(s *seat) bool {
		gone := b.displaced(s)
		if gone && s.Holder != nil {
			b.vacates(s)
		}
		if gone {
			b.past = append(b.past, s.Lived...)
		}
		return gone
	})
	known := false
	switch {
	case mine || by.Name == "":
		if s, known = b.seatOf(holds, r); s != nil && !s.Made && by.Left {
			s, known = nil, false
		}
	case by.Left:
		return nil, false, control.Errorf(control.KindRefused, "start the program in a terminal, or with the agent's token: parley agent token NAME; PARLEY_TOKEN takes it", "cannot tell of a session: %s", by.How)
	default:
		if s, known, err = b.seatGiven(by.Name, holds, r, where.folder); err != nil {
			return nil, false, err
		}
	}
	switch {
	case known && r.Event == control.SessionEnded:
		return s, false, nil
	case known && s.id() == r.Session && s.Holder.Ring == with(s.Holder.Ring, r.Ring):
		s.heard(r)
		return s, false, nil
	case r.Event == control.SessionEnded:
		return nil, false, nil
	case s == nil:
		if len(own) >= mostThreads {
			return nil, false, control.Errorf(control.KindRefused, "end some of them", "cannot tell of a session: its process has %d already", len(own))
		}
		if s, err = b.freeSeat(r, *where); err != nil {
			return nil, false, err
		}
	}
	if !b.shares(r.Program) {
		for _, other := range own { // the process goes on as another session
			if other != s && other.Holder != nil {
				b.vacates(other)
			}
		}
	}
	if !slices.Contains(s.Sessions, r.Session) && slices.ContainsFunc(b.here, func(other *seat) bool { return other != s && other.Program == r.Program && other.id() == r.Session }) {
		s.Borrowed = append(s.Borrowed, r.Session)
	}
	s.bind(r.Session)
	if holds.Told = r.Event != control.SessionStarted && r.Event != control.SessionThere; holds.Told {
		holds.Holds = r.Holds
	} else if s.Holder != nil && s.Holder.process() == holds.process() { // it goes on under another id
		holds.Holds, holds.Told, holds.Way = s.Holder.Holds, s.Holder.Told, s.Holder.Way
	}
	holds.Hooks = r.Event != control.SessionThere || s.Holder != nil && s.Holder.process() == holds.process() && s.Holder.Hooks
	if holds.Ring = r.Ring; known {
		holds.Ring = with(s.Holder.Ring, r.Ring)
	}
	b.sit(s, holds)
	if !slices.Contains(b.seats, s) {
		b.seats = append(b.seats, s)
		b.forget()
	}
	b.version.Add(1)
	if s.Made {
		b.seatInRoster(s)
	}
	s.wants = true // mail may have waited for it
	return s, true, b.save()
}

// heard notes what an event says of the session that has the seat.
func (s *seat) heard(r control.SessionEventRequest) {
	s.Holder.Hooks = s.Holder.Hooks || r.Event != control.SessionThere
	if r.Event != control.SessionStarted && r.Event != control.SessionThere && r.Event != control.SessionEnded { // these do not say it
		s.Holder.Holds, s.Holder.Told = r.Holds, true
	}
}

// with is what is known of a bell, and what is said of it now.
func with(known, said control.SessionBell) control.SessionBell {
	return control.SessionBell{Socket: cmp.Or(said.Socket, known.Socket), Home: cmp.Or(said.Home, known.Home)}
}

// holderOf is the process whose session tells something. It is nil if that process is beneath
// another session. Of a process with several sessions, it is no
// command of one of them that tells: hooks and servers of tools are started without a session's mark.
func (b *Book) holderOf(by control.Caller, program agentprogram.Program, r control.SessionEventRequest) (*holder, error) {
	refused := func(format string, args ...any) (*holder, error) {
		return nil, control.Errorf(control.KindRefused, "start the program as always, and let its own hook call", "cannot tell of a session: "+format, args...)
	}
	chain, err := process.Ancestry(by.Process.PID)
	if by.Process.PID == 0 || err != nil || chain[0] != by.Process {
		if by.Kind == control.ByAgent && b.Roster.Door(by.Name.String()) == configs.DoorInbox {
			return &holder{}, nil // in a container, with the agent's token
		}
		return refused("nobody can see beneath which program the call is made")
	}
	at := -1
	for i, p := range chain {
		if r.Process > 0 && p.PID != r.Process {
			continue
		}
		if program.Is(process.Executable(p.PID), process.Arguments(p.PID)) {
			at = i
			break
		}
	}
	if at < 0 {
		return refused("the call is not made beneath a process of %s", program.Name())
	}
	if !process.Own(chain[at].PID) {
		return refused("process %d belongs to another user", chain[at].PID)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, above := range chain[at+1:] {
		if len(b.seatsOf(above)) > 0 {
			return nil, nil
		}
	}
	if program.Shares() && at > 0 {
		beneath := chain[at-1]
		if marked(program, chain[at], beneath) != "" || r.Event == control.SessionThere && !process.Feeds(chain[at], beneath) {
			return refused("the call is made by a command within a session")
		}
	}
	return &holder{PID: chain[at].PID, Start: chain[at].Start, Boot: b.boot, At: process.Terminal(chain[at].PID)}, nil
}

// seatOf is the seat of a session. `known` is false if the session is not the one that holds it
// now. The caller holds mu.
func (b *Book) seatOf(h *holder, r control.SessionEventRequest) (s *seat, known bool) {
	bound := func(s *seat) bool { return s.Program == r.Program && slices.Contains(s.Sessions, r.Session) }
	var own *seat // of this process
	for _, s := range b.seatsOf(h.process()) {
		if s.Program != r.Program {
			continue
		}
		if s.id() == r.Session {
			return s, true
		}
		own = s
	}
	for _, s := range b.seats { // a session that goes on keeps its name
		if bound(s) && s.Holder == nil {
			return s, false
		}
	}
	if own != nil && r.Source != "fork" && !b.shares(r.Program) {
		return own, false // it was cleared: the process goes on under another id
	}
	return nil, false
}

// seatGiven is the seat of the agent as which a session was started: its token, or PARLEY_AGENT, says
// so. Such a session never has another seat, whatever else it says. `known` is as in seatOf. The
// caller holds mu.
func (b *Book) seatGiven(name protocol.Name, h *holder, r control.SessionEventRequest, folder string) (s *seat, known bool, err error) {
	refused := func(format string, args ...any) (*seat, bool, error) {
		return nil, false, control.Errorf(control.KindRefused, "start the program without PARLEY_TOKEN and PARLEY_AGENT", "cannot tell of a session: "+format, args...)
	}
	s = b.find(name)
	switch {
	case s == nil && b.Roster.Door(name.String()) != configs.DoorInbox:
		return refused("%s is no agent that asks for its mail itself", name)
	case s == nil, s.Holder == nil:
		return b.operators(name, folder, r), false, nil
	case s.Holder.process() == h.process() && s.id() == r.Session:
		return s, true, nil
	case s.Holder.process() == h.process():
		if h.PID == 0 { // nobody sees whether the one before has ended
			b.vacates(s)
		}
		return s, false, nil
	}
	return refused("another session is %s already", name)
}

// operators is the seat of an agent that the operator added, or of one that was made and is called
// for by its name. The caller holds mu.
func (b *Book) operators(name protocol.Name, folder string, r control.SessionEventRequest) *seat {
	s := b.find(name)
	if s == nil {
		return &seat{Name: name, Program: r.Program, Folder: folder, Declared: true, Added: b.Now().UTC()}
	}
	if s.Program = r.Program; !s.Made {
		s.Folder = folder
	}
	return s
}

// freeSeat makes a seat for a new session, or takes one that nobody has. The caller holds mu.
func (b *Book) freeSeat(r control.SessionEventRequest, where place) (*seat, error) {
	taken := func(name protocol.Name) bool { s := b.find(name); return s != nil && s.Holder != nil }
	for _, a := range where.added {
		if s := b.find(a.Name); (s == nil || !s.Made) && a.Dir == where.folder && !taken(a.Name) {
			return b.operators(a.Name, where.folder, r), nil
		}
	}
	for _, s := range b.seats {
		if s.Made && s.Program == r.Program && s.Folder == where.folder && s.Holder == nil && r.Source != "fork" {
			return s, nil
		}
	}
	name, err := b.name(where.folder)
	if err != nil {
		return nil, err
	}
	return &seat{Name: name, Program: r.Program, Folder: where.folder, Made: true, Added: b.Now().UTC()}, nil
}

// name makes a name for the sessions of a folder, which nobody has or had (R68). The caller holds
// joins and mu, and not the state.
func (b *Book) name(folder string) (protocol.Name, error) {
	base := homes.NameFrom(filepath.Base(folder), "session")
	const most, longest = 1000, 56
	base = strings.TrimRight(base[:min(len(base), longest)], "-_")
	found := ""
	b.mu.Unlock() // the state comes first
	b.Folded(func(s *fleet.State) {
		for n := 1; n <= most && found == ""; n++ {
			candidate := base
			if n > 1 {
				candidate += "-" + strconv.Itoa(n)
			}
			if !slices.Contains(b.Words, candidate) && b.free(s, candidate) {
				found = candidate
			}
		}
	})
	b.mu.Lock()
	if found == "" {
		return "", control.Errorf(control.KindRefused, "parley session name NEW", "cannot name the session: %s and its numbers are taken", base)
	}
	return protocol.Name(found), nil
}

// free reports whether a name is that of no seat, and of nobody and nothing in the fleet.
func (b *Book) free(s *fleet.State, name string) bool {
	b.mu.Lock()
	seat := b.find(protocol.Name(name))
	b.mu.Unlock()
	_, noChannel := s.Channels.Find(name)
	host := slices.ContainsFunc(s.Keys().AllHosts(), func(h *keys.Host) bool { return h.Alias.String() == name })
	return seat == nil && noChannel != nil && !host && !s.People.Known(name) && !b.Roster.Serves(name)
}

// place is where a session works: its folder, and the agents for sessions of its program that were
// added, each with the folder of its own.
type place struct {
	folder string
	added  []configs.Agent
}

// placeOf is where a session works, as it says. It looks at disks, so no lock is held.
func (b *Book) placeOf(r control.SessionEventRequest) place {
	p := place{added: slices.DeleteFunc(slices.Clone(b.Roster.All()), func(a configs.Agent) bool { return a.Session != r.Program || a.Dir == "" })}
	var looking sync.WaitGroup // all at once: the hook waits
	looking.Go(func() { p.folder = b.disks.real(r.Folder) })
	for i := range p.added {
		looking.Go(func() { p.added[i].Dir = b.disks.real(p.added[i].Dir) })
	}
	looking.Wait()
	return p
}

// shares reports whether one process of a program holds several sessions at the same time.
func (b *Book) shares(program string) bool {
	p, ok := b.Find(program)
	return ok && p.Shares()
}
