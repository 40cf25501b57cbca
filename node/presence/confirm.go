package presence

import (
	"context"
	"fmt"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

// tolerated is by how much the clock of another host may differ from this one's without a warning.
const tolerated = time.Minute

// A presence letter is signed, but anybody who heard it can send it again. For 36 hours, its time
// is recent enough for a letter. And a node that has just started does not know which letters that
// host has sent since. So a presence counts only while it is fresh: sent within the last minute by
// the clock of its host. That clock is taken to be equal to ours, until the host has answered a
// ping with its time. The answer names the question, so that nobody can have recorded it. A
// presence that is not fresh is believed only after such an answer. This is right whatever the
// clocks say. Hosts whose clocks agree pay nothing for it, and a letter that somebody sends again
// is a minute old at most.

func (l *Live) believes(p bus.Presence) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.fresh(p)
}

// fresh is believes for a caller that holds mu.
func (l *Live) fresh(p bus.Presence) bool {
	return (p.Sent.Sub(p.Seen) - l.clocks[p.Host]).Abs() <= tolerated
}

// confirm asks the host of a presence that is not fresh for its time, every few seconds at most. It
// takes the presence in if only the clock was the reason.
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

// mayConfirm reports whether a host may be asked for its time, and notes that it is asked.
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

// setClock notes how far the clock of a host is from ours, and reports whether a presence of that
// host counts then: it is fresh, and no later one came in the meantime.
func (l *Live) setClock(p bus.Presence, off time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clocks[p.Host] = off
	return l.fresh(p) && !l.presence[p.Host].Seen.After(p.Seen)
}

// ClockWarnings name the live hosts whose clocks differ much. Nothing depends on clocks, but times
// that people read look wrong. The differences are rounded to a minute, because it is not known how
// long a host's letter was under way.
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
