package standing

import (
	"fmt"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// Host says how a host can be reached, in words for people.
func Host(s control.HostState) string {
	switch s {
	case control.HostGit:
		return "by git"
	case control.HostOther:
		return "other program"
	}
	return string(s)
}

// Work says in a few words what an agent does. For an agent of this host, it also says what it
// has to do.
func Work(v cli.View, one control.Participant) (words []string) {
	switch {
	case one.Waits != nil:
		text, _ := v.Waits(*one.Waits)
		words = append(words, text)
	case one.Running > 0:
		words = append(words, fmt.Sprintf("%d running", one.Running))
	case one.Presence != "" && one.Queued == 0:
		words = append(words, term.Line(string(one.Presence)))
	}
	if one.Queued > 0 {
		words = append(words, fmt.Sprintf("%d waiting", one.Queued))
	}
	if one.Unread > 0 {
		words = append(words, fmt.Sprintf("%d unread", one.Unread))
	}
	if one.Gates > 0 {
		words = append(words, cli.Count(one.Gates, "gate")+" to decide")
	}
	if hindered := Hindered(one.AgentWork); hindered != "" {
		words = append(words, hindered)
	}
	return words
}

// LastSeen is when a host was last heard, if it is away. It is "" for a host that is heard now.
func LastSeen(v cli.View, state control.HostState, at time.Time) string {
	if state == control.HostHere || state == control.HostLive {
		return ""
	}
	return v.StampOrEmpty(at)
}

// RoundTrip shows a duration as exactly as it matters.
func RoundTrip(d time.Duration) string {
	if d < time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}

// RoundTripOrEmpty is a round trip as a cell of a table; "" if none is known.
func RoundTripOrEmpty(d time.Duration) string {
	if d <= 0 {
		return ""
	}
	return RoundTrip(d)
}

// ClockDifference says how far a host's clock is from this one's, with `before` in front of it; ""
// if that is a second or less.
func ClockDifference(d time.Duration, before string) string {
	switch {
	case d > time.Second:
		return before + "its clock is " + span.Text(d.Round(time.Second)) + " ahead"
	case d < -time.Second:
		return before + "its clock is " + span.Text((-d).Round(time.Second)) + " behind"
	}
	return ""
}
