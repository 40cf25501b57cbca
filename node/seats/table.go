package seats

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

// table is the seats of a host in memory. What its mutex guards is held while neither the state nor the
// record is asked.
type table struct {
	boot    string // as boot returns it
	version atomic.Uint64

	mu    sync.Mutex // guards what follows
	seats []*seat
	here  []*seat // those that sessions have
	past  []lived // of seats that are no more

	unwritten bool // the seats could not be written down
}

// find is the seat of that name; nil for none. The caller holds mu.
func (t *table) find(name protocol.Name) *seat {
	if i := slices.IndexFunc(t.seats, func(s *seat) bool { return s.Name == name }); i >= 0 {
		return t.seats[i]
	}
	return nil
}

// seatsOf are the seats that a process holds. The caller holds mu.
func (t *table) seatsOf(p process.ID) []*seat {
	return slices.DeleteFunc(slices.Clone(t.here), func(s *seat) bool { return s.Holder.process() != p })
}

// held are the seats that sessions have.
func (t *table) held() []*seat {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.here)
}

// ended reports whether the process that holds a seat has ended.
func (t *table) ended(s *seat) bool {
	t.mu.Lock()
	p := s.Holder.process()
	t.mu.Unlock()
	return p.PID > 0 && !p.Alive()
}

// session is how claims and presence know the session that has the seat now, if one does.
func (t *table) session(s *seat) (now sessions.Session, held bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Holder == nil {
		return now, false
	}
	return s.session(), true
}

// sit gives a seat to a process. The caller holds mu.
func (t *table) sit(s *seat, h *holder) {
	s.Holder, s.Left = h, time.Time{}
	if !slices.Contains(t.here, s) {
		t.here = append(t.here, s)
	}
}

// vacate takes a seat from its session. What it was handed, and nothing proves, waits again. The
// caller holds mu, or nobody else runs yet.
func (t *table) vacate(s *seat, now time.Time) {
	s.ends()
	s.Left = now.UTC()
	s.Sessions = slices.DeleteFunc(s.Sessions, func(id string) bool { return slices.Contains(s.Borrowed, id) })
	s.Holder, s.Rung, s.was, s.cause, s.Borrowed = nil, nil, nil, protocol.Path{}, nil
	t.here = slices.DeleteFunc(t.here, func(other *seat) bool { return other == s })
	for i := range s.Handed {
		s.Handed[i].back(true)
	}
	t.sortOut(s)
}

// sortOut gives mail that waits again to the seat for which it was written. The caller holds mu.
func (t *table) sortOut(s *seat) {
	s.Handed = slices.DeleteFunc(s.Handed, func(h handed) bool {
		if h.As == "" || !h.At.IsZero() {
			return false
		}
		if old := t.find(h.As); old != nil {
			h.As = ""
			old.Handed = append(old.Handed, h)
			old.wants = true
		}
		return true
	})
}

// Lived implements caller.Seats.
func (t *table) Lived(start uint64, terminal int) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	within := func(l lived) bool {
		return l.Boot == t.boot && l.From <= start && start <= l.To && (terminal == 0 || terminal == l.At)
	}
	return slices.ContainsFunc(t.past, within) || slices.ContainsFunc(t.seats, func(s *seat) bool {
		return s.Holder != nil && s.Holder.PID > 0 && within(lived{t.boot, s.Holder.Start, start, s.Holder.At}) || slices.ContainsFunc(s.Lived, within)
	})
}

// Version implements caller.Seats.
func (t *table) Version() uint64 { return t.version.Load() }

// rang reports whether a turn begins because of the bell, and notes it.
func (t *table) rang(s *seat, word string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	rang := s.Rung != nil && word == s.Rung.Word
	if rang && s.Rung.Tries > 1 && s.Holder != nil { // what was tried before is in vain here
		s.Holder.Way = s.Rung.Way
	}
	s.Rung = nil
	return rang
}
