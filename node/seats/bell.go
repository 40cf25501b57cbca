package seats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// ringAgain is how long nothing may come of a bell before it is rung again. Each further pause is
	// twice as long.
	ringAgain = 30 * time.Second
	// mostTries is how often the bell is rung for the same mail.
	mostTries = 5
	// ringWithin bounds one ring.
	ringWithin = 10 * time.Second
	// watchEvery is how often it is looked whether sessions have ended, or are idle by now.
	watchEvery = time.Second
)

// Start rings sessions that are idle, and notices which have ended, until stop is called.
func (b *Book) Start() (stop func()) {
	b.joins.Lock()
	b.mu.Lock()
	b.forget()
	b.mu.Unlock()
	b.joins.Unlock()
	b.work.Go(func() { b.watch(b.ctx) })
	return func() {
		b.mu.Lock()
		b.cancel()
		b.mu.Unlock()
		b.work.Wait()
		if err := b.change(func() {}); err != nil { // what hooks have printed
			b.Log.Error().Err(err).Msg("the sessions are not written down at the stop")
		}
	}
}

// Look has it checked who has to be rung.
func (b *Book) Look() { wait.Nudge(b.news) }

func (b *Book) watch(ctx context.Context) {
	came := b.Messages.Follow(feed.MaxMessages, nil)
	defer came.End()
	news := true
	for {
		held := b.held()
		for _, s := range held {
			b.lookAt(ctx, s, news)
		}
		var again <-chan time.Time
		if len(held) > 0 {
			again = time.After(watchEvery)
		}
		select {
		case <-came.Wake():
			paths, missed := came.Drain()
			held := b.held()
			b.Folded(func(state *fleet.State) { news = missed > 0 || mine(state, b.Host, held, paths) })
		case <-b.news:
			news = true
		case <-again:
			news = false
		case <-ctx.Done():
			return
		}
	}
}

// mine reports whether something of what came may be for one of these sessions.
func mine(state *fleet.State, host protocol.Name, held []*seat, paths []protocol.Path) bool {
	return slices.ContainsFunc(paths, func(p protocol.Path) bool {
		it, there := state.Ledger.Item(p)
		return !there || slices.ContainsFunc(held, func(s *seat) bool { return state.Talk.Reaches(it, fleet.Who{Name: s.Name.String(), Host: host}) })
	})
}

// lookAt notices that a session has ended, or rings it if there is reason to. Without news, only a
// session for which mail waits is looked at.
func (b *Book) lookAt(ctx context.Context, s *seat, news bool) {
	defer b.each.Lock(s.Name)()
	b.mu.Lock()
	err := b.takeBack(s)
	s.wants = s.wants || news
	wants := s.wants && s.Holder != nil
	b.mu.Unlock()
	b.asksNoMore(s)
	if err != nil {
		b.Log.Error().Err(err).Stringer("agent", s.Name).Msg("what a session was handed in vain waits again, and that is not written down")
	}
	switch {
	case b.ended(s):
		if err := b.leave(s); err != nil {
			b.Log.Error().Err(err).Stringer("agent", s.Name).Msg("the end of a session is not written down")
		}
	case wants:
		mail := b.mail(s)
		if slices.ContainsFunc(mail, func(w waiting) bool { return w.named }) {
			if err := b.Declare(ctx, s.Name.String()); err != nil {
				b.Log.Warn().Err(err).Stringer("agent", s.Name).Msg("cannot tell the fleet of a session that was written to")
			}
		}
		b.tellSpent(ctx, s, mail)
		b.tellAsks(s, mail)
		rings := slices.ContainsFunc(mail, func(w waiting) bool { return w.rings && w.lost <= mostLost })
		b.mu.Lock()
		s.wants = rings
		b.mu.Unlock()
		if rings {
			b.ring(ctx, s, mail)
		}
	}
}

// ring rings a session for which mail waits, if it is idle. That it is rung is written down before.
func (b *Book) ring(ctx context.Context, s *seat, mail []waiting) {
	now, count := b.Now(), 0
	for _, w := range mail { // what may not ring begins no new tries
		if w.rings && w.lost <= mostLost {
			count++
		}
	}
	b.mu.Lock()
	r, ok := b.ringer(s)
	ok = ok && !s.ringing
	tries, word := 0, random.Hex(4)
	if s.Rung != nil && s.Rung.Tries >= mostTries && s.Rung.Count < count {
		s.Rung = nil
	}
	if s.Rung != nil {
		tries, word = s.Rung.Tries, s.Rung.Word
		ok = ok && now.Sub(s.Rung.At) >= ringAgain<<(tries-1)
	}
	ways := s.next(r.ways(s.Holder))
	ok = ok && len(ways) > 0 && now.After(s.Muted)
	b.mu.Unlock()
	if state, _ := b.Sessions.At(s.Name, time.Time{}); !ok || !r.idle(state) || !b.mayTurn(s) {
		return
	}
	err := b.change(func() {
		s.Rung, s.ringing = &rung{Word: word, Count: count, At: now.UTC(), Tries: tries + 1, Way: ways[0]}, true
		if tries == 0 {
			s.Turns = append(s.Turns, now.UTC())
		}
	})
	b.work.Go(func() { // a program that does not answer holds up neither its own hooks nor other sessions
		defer func() {
			b.mu.Lock()
			defer b.mu.Unlock()
			s.ringing = false
		}()
		if err != nil {
			return
		}
		for i, way := range ways {
			if b.rangOut(s, mail, way, r.ring(ctx, way, prompt.Bell(word, len(mail)))) {
				b.mu.Lock()
				if i > 0 && s.Holder != nil { // the one before was in vain
					s.Holder.Way = way
				}
				b.mu.Unlock()
				return
			}
		}
	})
}

// rangOut notes what became of a bell, and tells for which messages the program took it.
func (b *Book) rangOut(s *seat, mail []waiting, way control.SessionWay, err error) (taken bool) {
	b.mu.Lock()
	if s.Rung != nil { // nothing has come of it yet
		s.Rung.Way, s.Rung.Taken = way, err == nil
	}
	b.mu.Unlock()
	if err != nil {
		b.Log.Warn().Err(err).Stringer("agent", s.Name).Str("by", string(way)).Msg("cannot ring a session")
		return false
	}
	b.Log.Debug().Stringer("agent", s.Name).Str("by", string(way)).Int("messages", len(mail)).Msg("session rung")
	var paths []protocol.Path
	for _, w := range mail {
		if w.named {
			paths = append(paths, w.Path)
		}
	}
	b.Woken(s.Name, paths)
	return true
}

// tellAsks notifies the human of the host if the program of a session asks them something, and mail
// waits for that.
func (b *Book) tellAsks(s *seat, mail []waiting) {
	state, since := b.Sessions.At(s.Name, time.Time{})
	b.mu.Lock()
	waits, program := !s.cause.IsZero(), s.Program
	b.mu.Unlock()
	if state == control.AgentWaiting && (waits || slices.ContainsFunc(mail, func(w waiting) bool { return w.named })) {
		b.Notify(fmt.Sprintf("session %s %d", s.Name, since.UnixNano()), fmt.Sprintf("parley: %s asks you something where it runs (%s), and mail waits for that", s.Name, program))
	}
}

// asksNoMore notes that the program of a session no longer asks its human anything: where the human
// ends the turn instead of an answer, no hook says so.
func (b *Book) asksNoMore(s *seat) {
	b.mu.Lock()
	holder, name := s.Holder, s.Program
	b.mu.Unlock()
	state, _ := b.Sessions.At(s.Name, time.Time{})
	program, ok := b.Find(name)
	if !ok || holder == nil || state != control.AgentWaiting {
		return
	}
	if says, err := b.disks.state(program, holder.Ring.Home, holder.process()); err == nil && says.Status == agentprogram.Idle {
		if now, held := b.session(s); held {
			b.Sessions.Say(s.Name, now, control.AgentIdle)
			b.Announce()
		}
	}
}

// mayTurn reports whether parley may cause another turn of a session now. If not, the human of the
// host is told.
func (b *Book) mayTurn(s *seat) bool {
	b.mu.Lock()
	may := s.turnsSince(b.Now().Add(-time.Hour)) < b.MaxTurns
	b.mu.Unlock()
	about := turnsOf(s.Name)
	if may {
		b.Wrong(about, "")
		return true
	}
	b.Wrong(about, fmt.Sprintf("mail has made %s work %d times within an hour (max_turns): what is more waits until it is prompted, or that time has passed", s.Name, b.MaxTurns))
	return false
}

// Waits is why sessions here do not take up their mail, beside their humans: mail has begun as many
// turns of them as it may within an hour, or they are idle, and nothing wakes them.
func (b *Book) Waits() map[string]protocol.Waits {
	b.mu.Lock()
	defer b.mu.Unlock()
	waits, now := map[string]protocol.Waits{}, b.Now()
	for _, s := range b.here {
		r, _ := b.ringer(s)
		state, since := b.Sessions.At(s.Name, time.Time{})
		switch {
		case s.turnsSince(now.Add(-time.Hour)) >= b.MaxTurns:
			waits[s.Name.String()] = protocol.Waits{For: protocol.WaitsForTurns, Time: s.Turns[len(s.Turns)-b.MaxTurns].Add(time.Hour)}
		case state == control.AgentIdle && (s.Muted.After(now) || len(s.hears(r, now)) == 0):
			waits[s.Name.String()] = protocol.Waits{For: protocol.WaitsForTurn, Time: since.UTC()}
		}
	}
	return waits
}

// Hinders is what keeps a session from hearing its mail, beside what it waits for; "" for nothing.
// The time is until when it is muted, or when the last session ended.
func (b *Book) Hinders(agent protocol.Name) (id causes.ID, at time.Time, program string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch s := b.find(agent); {
	case s == nil:
		return "", at, ""
	case s.Holder == nil:
		return causes.Gone, s.Left, s.Program
	case !s.Holder.Hooks && !s.Holder.Told:
		return causes.NoHooks, at, s.Program
	case s.Muted.After(b.Now()):
		return causes.Muted, s.Muted, s.Program
	}
	return "", at, ""
}

// turnsOf is about what status warns if mail has caused too many turns.
func turnsOf(name protocol.Name) string { return "turns of " + name.String() }

// Declare tells the fleet the name of a session, when it first speaks or is spoken to (R68).
func (b *Book) Declare(ctx context.Context, name string) error {
	b.mu.Lock()
	s := b.find(protocol.Name(name))
	news := s != nil && s.Made && !s.Declared
	b.mu.Unlock()
	if !news {
		return nil
	}
	if err := b.change(func() {
		s.Declared = true
		b.seatInRoster(s)
	}); err != nil {
		return err
	}
	err := b.Publish(context.WithoutCancel(ctx))
	if err != nil { // the next one tells it
		err = errors.Join(err, b.change(func() {
			s.Declared = false
			b.seatInRoster(s)
		}))
	}
	return err
}
