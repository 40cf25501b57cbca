package seats

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/control"
)

// ringer is what a session is rung with.
type ringer struct {
	disks   *disks
	program agentprogram.Program
	session process.ID
	bell    agentprogram.Bell
	monitor chan<- string // nil: there is none
}

// ringer is what a session is rung with; false if it cannot be. The caller holds mu.
func (b *Book) ringer(s *seat) (r ringer, ok bool) {
	if r.program, ok = b.Find(s.Program); !ok || s.Holder.process().PID == 0 {
		return ringer{}, false
	}
	r.disks, r.session = &b.disks, s.Holder.process()
	r.bell = agentprogram.Bell{Socket: s.Holder.Ring.Socket, Home: s.Holder.Ring.Home, Thread: s.id()}
	r.monitor = b.monitors.of(r.session)
	if r.program.Shares() { // the node runs the program itself: that of the operator, not what a session names
		r.bell.Path, r.bell.Home = b.Installed(s.Program)
	}
	return r, true
}

// ways are those by which a session can be rung, in their order. The way by which it has heard last
// comes first.
func (r ringer) ways(h *holder) (all []control.SessionWay) {
	switch {
	case r.program == nil:
		return nil
	case r.program.Shares():
		if r.bell.Path != "" && !r.program.Once(process.Arguments(h.PID)) {
			all = append(all, control.ByQueue)
		}
		return all
	}
	if r.bell.Socket != "" && !h.Holds {
		all = append(all, control.BySocket)
	}
	if r.monitor != nil {
		all = append(all, control.ByMonitor)
		if !h.Told { // its human may be asked about what comes by the socket
			slices.Reverse(all)
		}
	}
	if i := slices.Index(all, h.Way); i > 0 {
		all = slices.Concat(all[i:], all[:i])
	}
	return all
}

// idle reports whether the session has nothing to do: its program says so, or else its hooks.
func (r ringer) idle(hooks control.AgentState) bool {
	if says, err := r.disks.state(r.program, r.bell.Home, r.session); err == nil && says.Status != agentprogram.Unknown {
		return says.Status == agentprogram.Idle
	}
	return hooks == control.AgentIdle
}

// ring rings by one way. It returns an error if the program did not take it.
func (r ringer) ring(ctx context.Context, way control.SessionWay, sentence string) error {
	ctx, done := context.WithTimeout(ctx, ringWithin)
	defer done()
	if way != control.ByMonitor {
		return r.program.Ring(ctx, r.session, r.bell, sentence)
	}
	select {
	case r.monitor <- sentence:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hears are the ways by which the session may hear now. The caller holds the mu of the book.
func (s *seat) hears(r ringer, now time.Time) []control.SessionWay {
	if s.Rung != nil && now.Sub(s.Rung.At) < ringAgain { // it may still come of that
		return r.ways(s.Holder)
	}
	return s.next(r.ways(s.Holder))
}

// next are the ways by which the session is rung now, the first one first; nil if it is not. The bell
// before, of which nothing has come, went by another way. What the program keeps until the session
// takes it is not said twice. The caller holds the mu of the book.
func (s *seat) next(ways []control.SessionWay) []control.SessionWay {
	if len(ways) == 0 || s.Rung == nil {
		return ways
	}
	if s.Rung.Taken && s.Rung.Way == control.ByQueue || s.Rung.Tries >= mostTries {
		return nil
	}
	i := (slices.Index(ways, s.Rung.Way) + 1) % len(ways)
	return slices.Concat(ways[i:], ways[:i])
}

// monitors are the processes beneath sessions that have the bells told, by the session's process.
type monitors struct {
	mu  sync.Mutex                   // guards all; held by nobody who waits
	all map[process.ID][]chan string // the latest last
}

// of is where the bells of a session are to be told; nil if nobody hears them.
func (m *monitors) of(session process.ID) chan string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if hear := m.all[session]; len(hear) > 0 {
		return hear[len(hear)-1]
	}
	return nil
}

// put notes that somebody hears the bells of a session, until `end` is called.
func (m *monitors) put(session process.ID, hears chan string) (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[process.ID][]chan string{}
	}
	m.all[session] = append(m.all[session], hears)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.all[session] = slices.DeleteFunc(m.all[session], func(other chan string) bool { return other == hears })
		if len(m.all[session]) == 0 {
			delete(m.all, session)
		}
	}
}

// Bells answers control.SessionBells. It says nothing within a run or another session. A session
// that is not known yet is known from then on: its hooks may have called while no node ran.
func (b *Book) Bells(ctx context.Context, by control.Caller, r control.SessionEventRequest, tell func(control.SessionRing) error) error {
	program, ok := b.Find(r.Program)
	if !ok {
		return control.Errorf(control.KindUsage, "the programs are listed by: parley install", "cannot hear bells: no agent program is called %q", r.Program)
	}
	var holds *holder
	err := check(r)
	if by.Run == "" && err == nil {
		holds, err = b.holderOf(by, program, r)
	}
	if err != nil {
		return err
	}
	if holds == nil || holds.PID == 0 {
		<-ctx.Done()
		return nil
	}
	of := holds.process()
	bells := make(chan string)
	defer b.monitors.put(of, bells)() // before it is known: whoever knows it may ring it at once
	if _, seated := b.At(of, process.ID{}, ""); !seated {
		r.Event = control.SessionThere
		if _, err := b.Tell(ctx, by, r); err != nil {
			b.Log.Debug().Err(err).Msg("a session whose bells are heard is not known")
		}
	}
	b.Look()
	for {
		select {
		case sentence := <-bells:
			if err := tell(control.SessionRing{Sentence: sentence}); err != nil {
				return err
			}
		case <-ctx.Done():
			return nil
		}
	}
}
