package configs

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/internal/each"
)

// QuietHours are spans of the day in which an agent is left alone, by the local time of its host.
type QuietHours []QuietSpan

// QuietSpan is a part of a day, or of two days if it goes over midnight. Both times are minutes
// since midnight, as a clock shows them. From belongs to the span, To does not.
type QuietSpan struct{ From, To int }

const (
	minutesOfDay = 24 * 60
	maxQuiet     = 24 // number of spans of an agent
)

// ParseQuiet reads a span such as 22:00-07:00.
func ParseQuiet(text string) (QuietSpan, error) {
	wrong := fmt.Errorf("%q is no span of quiet hours: write one such as 22:00-07:00", text)
	from, to, ok := strings.Cut(text, "-")
	if !ok {
		return QuietSpan{}, wrong
	}
	var s QuietSpan
	for at, part := range map[*int]string{&s.From: from, &s.To: to} {
		hour, minute, ok := strings.Cut(strings.TrimSpace(part), ":")
		h, errHour := strconv.ParseUint(hour, 10, 8)
		m, errMinute := strconv.ParseUint(minute, 10, 8)
		if !ok || errHour != nil || errMinute != nil || len(hour) > 2 || len(minute) != 2 || m >= 60 || h*60+m > minutesOfDay {
			return QuietSpan{}, wrong
		}
		*at = int(h*60 + m)
	}
	switch {
	case s.From == minutesOfDay:
		return QuietSpan{}, wrong
	case s.From == s.To:
		return QuietSpan{}, fmt.Errorf("%q has no length: write 00:00-24:00 for the whole day", text)
	}
	return s, nil
}

// String is the span in the form that ParseQuiet reads.
func (s QuietSpan) String() string {
	return fmt.Sprintf("%02d:%02d-%02d:%02d", s.From/60, s.From%60, s.To/60, s.To%60)
}

// MarshalText is String. JSON uses it.
func (s QuietSpan) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

func (s QuietSpan) holds(minute int) bool {
	if s.From < s.To {
		return s.From <= minute && minute < s.To
	}
	return minute >= s.From || minute < s.To // the span goes over midnight
}

// Texts are the spans in the form that ParseQuiet reads.
func (q QuietHours) Texts() []string {
	if len(q) == 0 {
		return nil
	}
	return each.Of(q, QuietSpan.String)
}

// Hold reports whether a moment is in quiet hours, by the clock of its location.
func (q QuietHours) Hold(at time.Time) bool {
	minute := at.Hour()*60 + at.Minute()
	return slices.ContainsFunc(q, func(s QuietSpan) bool { return s.holds(minute) })
}

// Until is when the quiet hours end that contain the moment `at`. It is zero if none contains it.
// If they never end, it is two days later. It looks at what the clock shows, minute by minute,
// because a night in which clocks are changed has an hour more or less.
func (q QuietHours) Until(at time.Time) time.Time {
	if !q.Hold(at) {
		return time.Time{}
	}
	end := at.Truncate(time.Minute)
	for range 2 * minutesOfDay {
		if end = end.Add(time.Minute); !q.Hold(end) {
			break
		}
	}
	return end
}

// quietSetting are quiet hours. One span alone stands for a list of it.
func quietSetting(key string, at *QuietHours) Setting {
	s := listSetting(key, at, ParseQuiet, QuietSpan.String).checked(func() error {
		return wrongIf(len(*at) > maxQuiet, "%d spans are more than %d", len(*at), maxQuiet)
	})
	read := s.read
	s.read = func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode {
			return s.take([]string{n.Value})
		}
		return read(n)
	}
	return s
}
