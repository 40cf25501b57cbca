package seats

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

// List answers control.Sessions. Only the operator is told the programs' ids: by one of them, a
// command could pass for another session (docs/explanation/security.md).
func (b *Book) List(_ context.Context, by control.Caller) ([]control.Session, error) {
	b.mu.Lock()
	all := slices.Clone(b.seats)
	b.mu.Unlock()
	list := []control.Session{}
	for _, s := range all {
		v := b.view(s)
		if by.Kind != control.Operator {
			v.ID = ""
		}
		list = append(list, v)
	}
	slices.SortFunc(list, func(x, y control.Session) int { return cmp.Compare(x.Agent, y.Agent) })
	return list, nil
}

func (b *Book) view(s *seat) control.Session {
	waits := 0
	b.Folded(func(state *fleet.State) {
		for range state.Talk.Inbox(fleet.Who{Name: s.Name.String(), Host: b.Host}, false) {
			waits++
		}
	})
	b.mu.Lock()
	defer b.mu.Unlock()
	v := control.Session{
		Agent: s.Name, Program: s.Program, Folder: s.Folder, ID: s.id(), Process: s.Holder.process().PID, State: control.AgentAway, Ways: []control.SessionWay{}, Waiting: waits,
		Turns: s.turnsSince(b.Now().Add(-time.Hour)), Declared: s.Declared,
	}
	if s.Holder != nil {
		v.State, v.Since = b.Sessions.At(s.Name, time.Time{})
		r, _ := b.ringer(s)
		v.Ways = append(v.Ways, s.hears(r, b.Now())...)
	}
	if s.Rung != nil && s.Rung.Taken {
		v.Woken = s.Rung.At
	}
	if s.Muted.After(b.Now()) {
		v.Muted = s.Muted
	}
	v.Handed += each.Count(s.Handed, func(h handed) bool { return !h.At.IsZero() && !h.Shown })
	return v
}

// seatNamed is the seat of the one who acts.
func (b *Book) seatNamed(by control.Caller, as string) (*seat, error) {
	name := protocol.Name(cmp.Or(as, by.Name.String()))
	b.mu.Lock()
	defer b.mu.Unlock()
	if s := b.find(name); s != nil {
		return s, nil
	}
	return nil, control.Errorf(control.KindNotFound, "name it with --as; see: parley session list", "%q is no session of an agent program", name)
}

// mostMuted is for how long a session can be muted at once.
const mostMuted = 7 * 24 * time.Hour

// Mute answers control.MuteSession.
func (b *Book) Mute(_ context.Context, by control.Caller, r control.MuteSessionRequest) (v control.Session, err error) {
	s, err := b.seatNamed(by, r.As)
	if err != nil {
		return v, err
	}
	if r.For < 0 || r.For > mostMuted {
		return v, control.Errorf(control.KindUsage, "", "cannot mute a session for %s: give a time of up to %s", span.Text(r.For), span.Text(mostMuted))
	}
	err = b.change(func() {
		if s.Muted = (time.Time{}); r.For > 0 {
			s.Muted = b.Now().Add(r.For).UTC()
		}
	})
	b.Look()
	b.Announce()
	if err != nil {
		return v, err
	}
	return b.view(s), nil
}

// Rename answers control.NameSession.
func (b *Book) Rename(_ context.Context, by control.Caller, r control.NameSessionRequest) (v control.Session, err error) {
	s, err := b.seatNamed(by, r.As)
	if err != nil {
		return v, err
	}
	refused := func(hint, format string, args ...any) (control.Session, error) {
		return v, control.Errorf(control.KindRefused, hint, "cannot call the session so: "+format, args...)
	}
	name, err := protocol.ParseName(r.Name)
	switch {
	case err != nil:
		return v, control.Errorf(control.KindUsage, "", "cannot call the session so: %v", err)
	case protocol.CheckFileName(r.Name) != nil || slices.Contains(b.Words, r.Name):
		return refused("choose another name", "%q is a word of parley's", r.Name)
	case !s.Made:
		return refused("", "%s is an agent that the operator added", s.Name)
	}
	defer b.each.Lock(s.Name)()
	b.joins.Lock() // one name at a time
	defer b.joins.Unlock()
	taken := false
	b.Folded(func(state *fleet.State) { taken = !b.free(state, r.Name) })
	b.mu.Lock()
	moved := !slices.Contains(b.seats, s)
	b.mu.Unlock()
	switch {
	case taken:
		return refused("choose another name", "%q is taken", r.Name)
	case moved:
		return refused("see: parley session list", "nobody is %s any more", s.Name)
	}
	b.nothingWaits(s.Name)
	if by.Name == s.Name && !by.Because.IsZero() { // what it writes in this turn
		b.Gave(name, by.Because)
	}
	n := &seat{Name: name, Made: true, Added: b.Now().UTC()}
	err = b.change(func() {
		n.Program, n.Folder, n.Sessions, n.Muted, n.cause, n.wants = s.Program, s.Folder, s.Sessions, s.Muted, s.cause, true
		n.Turns, n.Had, n.Anew = slices.Clone(s.Turns), slices.Clone(s.Had), slices.Clone(s.Anew)
		n.Borrowed, n.was, s.Sessions, s.Borrowed = s.Borrowed, append(s.was, s.Name), nil, nil
		if s.Holder != nil {
			b.passOn(s, n)
		} else if !s.Declared {
			n.Handed = s.Handed // only of what was written to all
		}
		if b.seats = append(b.seats, n); !s.Declared { // else its old name stays its own, and what was written to it
			n.Lived = s.Lived
			b.seats = slices.DeleteFunc(b.seats, func(other *seat) bool { return other == s })
		}
	})
	b.version.Add(1)
	b.Announce()
	if err != nil {
		return v, err
	}
	return b.view(n), nil
}

// passOn has the session of a seat go on at another one. What its model was handed of the mail of the old
// name is read under that name, or waits there again. The caller holds mu.
func (b *Book) passOn(s, n *seat) {
	s.Handed = slices.DeleteFunc(s.Handed, func(h handed) bool {
		if h.At.IsZero() && !h.ToAll {
			return false
		}
		if !h.ToAll {
			h.As = cmp.Or(h.As, s.Name)
		}
		n.Handed = append(n.Handed, h)
		return true
	})
	h := s.Holder
	state, _ := b.Sessions.At(s.Name, time.Time{})
	b.vacates(s)
	b.sit(n, h)
	b.Sessions.Say(n.Name, n.session(), state)
	claim(b.Sessions, n)
	b.seatInRoster(n)
}

// claim keeps for a session what it was handed, also under the name that it had before.
func claim(book *sessions.Book, s *seat) {
	for _, h := range s.Handed {
		if !h.At.IsZero() {
			book.Take(s.mailbox(h), h.Path, sessions.Claim{By: s.session(), Until: h.At.Add(claimLasts)})
		}
	}
}
