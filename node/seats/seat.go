package seats

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

// seat is one agent as which sessions of an agent program speak, one after the other.
type seat struct {
	Name     protocol.Name   `json:"name"`
	Program  string          `json:"program"`
	Folder   string          `json:"folder,omitempty"`   // for which the name was made
	Made     bool            `json:"made,omitempty"`     // parley made the name; else the operator did, in agents/NAME.yaml
	Sessions []string        `json:"sessions,omitempty"` // ids of sessions to which the name is bound, the latest last
	Borrowed []string        `json:"borrowed,omitempty"` // ids of these that were another seat's when they were bound: they go with the holder
	Declared bool            `json:"declared,omitempty"` // the fleet was told of the name
	Added    time.Time       `json:"added"`
	Muted    time.Time       `json:"muted,omitzero"` // until when it is not rung
	Holder   *holder         `json:"holder,omitempty"`
	Handed   []handed        `json:"handed,omitempty"`
	Had      []protocol.Path `json:"had,omitempty"`   // what its session was handed, the latest last
	Rung     *rung           `json:"rung,omitempty"`  // the last bell of which nothing has come
	Turns    []time.Time     `json:"turns,omitempty"` // turns of the last hour that parley has caused
	Anew     []anew          `json:"anew,omitempty"`
	Lived    []lived         `json:"lived,omitempty"` // when processes held it that have ended since, of this start of the machine
	Left     time.Time       `json:"left,omitzero"`   // when the last session ended; zero if one has it

	mark    fleet.MailMark  // as of which `unread` is what was unread; guarded by the lock of the seat, as unread is
	unread  []protocol.Path // what may still be
	shorter bool            // its context was shortened, and its model was not told since what it owes
	cause   protocol.Path   // the message because of which it works; zero for none
	wants   bool            // mail may wait that may begin a turn
	ringing bool            // its program is being rung
	was     []protocol.Name // what its session was called before
}

// holder is the process whose session has the seat.
type holder struct {
	PID   int                 `json:"pid,omitempty"` // 0: it is in a container or on another machine
	Start uint64              `json:"start,omitempty"`
	Boot  string              `json:"boot,omitempty"` // the start of the machine since which PID and Start count
	At    int                 `json:"at,omitempty"`   // the number of its terminal; 0: none
	Ring  control.SessionBell `json:"ring,omitzero"`
	Holds bool                `json:"holds,omitempty"` // the program would ask its human about each bell in its inbox
	Told  bool                `json:"told,omitempty"`  // Holds is known: an event has said it
	Hooks bool                `json:"hooks,omitempty"` // a hook of the program has told something: it runs them
	Way   control.SessionWay  `json:"way,omitempty"`   // by which it has heard the bell last
}

// lived is a time in which a process held a seat, in the unit of process.ID.
type lived struct {
	Boot string `json:"boot,omitempty"`
	From uint64 `json:"from"`
	To   uint64 `json:"to"`
	At   int    `json:"at,omitempty"` // the number of its terminal; 0: none
}

// handed is a message that was handed to the model of a session, of which nothing proves yet that
// the model was shown it.
type handed struct {
	Path  protocol.Path `json:"path"`
	At    time.Time     `json:"at,omitzero"`     // zero: it waits again
	Nonce string        `json:"nonce,omitempty"` // of the hand-over
	// Given is when the hook had printed it, in the unit of process.ID; 0: it has not said so.
	Given uint64        `json:"printed,omitempty"`
	Shown bool          `json:"shown,omitempty"` // a later event has proved that the model was shown it
	ToAll bool          `json:"to_all,omitempty"`
	To    string        `json:"to,omitempty"`   // the program's id of the session
	Lost  int           `json:"lost,omitempty"` // how often it was handed over, and nobody knows whether it was shown
	Mute  int           `json:"mute,omitempty"` // how often a hook was given it, and did not say that it has printed it
	As    protocol.Name `json:"as,omitempty"`   // to whom it was written, if its session was given another name since
}

// rung is a bell that was rung.
type rung struct {
	Word  string    `json:"word"`
	Count int       `json:"count"` // messages that waited then
	At    time.Time `json:"at"`
	Tries int       `json:"tries"`
	Taken bool      `json:"taken"` // the program took it

	Way control.SessionWay `json:"way,omitempty"` // by which it was rung last
}

const (
	// mostSessions is how many ids of sessions a seat keeps, the latest ones.
	mostSessions = 32
	// mostThreads is how many sessions of one process have names at the same time.
	mostThreads = 64
	// mostLost is how often a message is handed over again after a session has ended in between.
	// After that it waits to be read by its name.
	mostLost = 1
	// mostMute is how often it is given to a hook again that has not said that it printed it.
	mostMute = 3
	// mostLived bounds how many times in which a seat was held are kept apart.
	mostLived = 16
	// mostHad is how many of the messages that a session was handed are kept apart.
	mostHad = 12
	// keptFor is how long a name stays with its folder of which the fleet was never told, after its
	// last session has ended.
	keptFor = 14 * 24 * time.Hour
	// mostGone is how many seats are kept that nobody has: those of which the last session ended last.
	// Seats for which mail waits are kept beside.
	mostGone = 1000
)

func (h *holder) process() process.ID {
	if h == nil {
		return process.ID{}
	}
	return process.ID{PID: h.PID, Start: h.Start}
}

// session is how claims and presence know the session that has the seat. The caller holds the mu of
// the book.
func (s *seat) session() sessions.Session {
	if p := s.Holder.process(); p.PID > 0 {
		return sessions.Session{Process: p}
	}
	return sessions.Session{Name: s.id()}
}

// id is the program's id of the latest session.
func (s *seat) id() string {
	if len(s.Sessions) == 0 {
		return ""
	}
	return s.Sessions[len(s.Sessions)-1]
}

// bind makes a session the latest one of the seat.
func (s *seat) bind(id string) {
	if id == "" {
		return
	}
	if id != s.id() {
		s.Had = nil
	}
	s.Sessions = append(slices.DeleteFunc(s.Sessions, func(other string) bool { return other == id }), id)
	if over := len(s.Sessions) - mostSessions; over > 0 {
		s.Sessions = slices.Delete(s.Sessions, 0, over)
	}
	s.Borrowed = s.Borrowed[max(0, len(s.Borrowed)-mostSessions):]
}

// handover is what is known of a message that was handed over; nil if it was not.
func (s *seat) handover(p protocol.Path) *handed {
	if i := slices.IndexFunc(s.Handed, func(h handed) bool { return h.Path == p }); i >= 0 {
		return &s.Handed[i]
	}
	return nil
}

// turnsSince forgets the turns before a time, and returns how many are left.
func (s *seat) turnsSince(since time.Time) int {
	s.Turns = slices.DeleteFunc(s.Turns, func(at time.Time) bool { return at.Before(since) })
	return len(s.Turns)
}

// back has it wait again. `lost` says that the model may have been shown it.
func (h *handed) back(lost bool) {
	if h.At.IsZero() || h.Shown {
		return
	}
	given := h.Given > 0
	h.At, h.Nonce, h.Given, h.To = time.Time{}, "", 0, ""
	switch {
	case !lost:
	case given:
		h.Lost++
	default: // most likely the hook was too slow
		if h.Mute, h.Lost = h.Mute+1, max(h.Lost, 1); h.Mute > mostMute {
			h.Lost = mostLost + 1
		}
	}
}

// ends notes that the process that holds the seat has ended by now.
func (s *seat) ends() {
	if s.Holder == nil || s.Holder.PID == 0 {
		return
	}
	s.Lived = slices.DeleteFunc(s.Lived, func(l lived) bool { return l.Boot != s.Holder.Boot })
	s.Lived = append(s.Lived, lived{s.Holder.Boot, s.Holder.Start, process.Now(), s.Holder.At})
	if len(s.Lived) > mostLived {
		s.Lived[1].From = s.Lived[0].From
		s.Lived = s.Lived[1:]
	}
}
