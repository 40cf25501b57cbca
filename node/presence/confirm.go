package presence

import (
	"context"
	"fmt"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

// tolerated is how far the clock of another host may be from this one's before that is
// worth a warning.
const tolerated = time.Minute

// A presence letter is signed, but whoever heard it can send it again. For 36 hours its time is
// near enough for a letter. And a node that has just started does not know which letters that
// host has sent since. So it counts only while it is fresh: said within the last minute by the
// clock of its host. That clock is taken for ours, until the host has answered a ping with its
// time; the answer names the question, so that nobody can have recorded it. A presence that is
// not fresh is believed only after such an answer. That is right whatever the clocks say, and
// hosts whose clocks agree pay nothing for it; what can be said again is a minute old at most.

// believes reports whether a presence is fresh.
func (l *Live) believes(p bus.Presence) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh(p)
}

// fresh is believes for who holds mu.
func (l *Live) fresh(p bus.Presence) bool {
	return (p.Sent.Sub(p.Seen) - l.clocks[p.Host]).Abs() <= tolerated
}

// confirm asks the host of a presence that is not fresh for its time, every few seconds
// at most, and takes the presence in if it was the clock alone.
func (pr *Presence) confirm(p bus.Presence) {
	if !pr.o.Live.mayConfirm(p.Host) {
		return
	}
	pr.o.Asker.aside(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, AskWait)
		defer cancel()
		ping, err := pr.o.Asker.Ping(ctx, p.Host)
		if err != nil {
			pr.o.Log.Debug().Err(err).Stringer("host", p.Host).Time("said", p.Sent).Msg("an old presence was not confirmed")
			return
		}
		if pr.o.Live.setClock(p, ping.Clock.Duration()) {
			pr.takePresence(p)
		}
	})
}

// mayConfirm reports whether a host may be asked for its time, and notes that it is.
func (l *Live) mayConfirm(host protocol.Name) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if last, asked := l.confirming[host]; asked && now.Sub(last).Abs() < every {
		return false
	}
	l.confirming[host] = now
	return true
}

// setClock notes how far the clock of a host is from ours, and reports whether that
// makes a presence of it count: it is fresh then, and nothing came after it meanwhile.
func (l *Live) setClock(p bus.Presence, off time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clocks[p.Host] = off
	return l.fresh(p) && !l.presence[p.Host].Seen.After(p.Seen)
}

// ClockWarnings name the live hosts whose clocks differ much. Nothing depends on them,
// but times that people read look wrong. They are right to what is tolerated: how long
// the host's letter was under way is not known.
func (l *Live) ClockWarnings() (warnings []string) {
	for _, p := range l.Present() {
		switch off := p.Sent.Sub(p.Seen); {
		case off > tolerated:
			warnings = append(warnings, fmt.Sprintf("the clock of %s is %s ahead of this one", p.Host, span.Text(off.Round(tolerated))))
		case off < -tolerated:
			warnings = append(warnings, fmt.Sprintf("the clock of %s is %s behind this one", p.Host, span.Text((-off).Round(tolerated))))
		}
	}
	return warnings
}
