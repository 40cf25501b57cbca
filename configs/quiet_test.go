package configs

import (
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // so that every machine knows the places of the table, whose clocks are changed
)

func quiet(t *testing.T, texts ...string) QuietHours {
	t.Helper()
	var q QuietHours
	err := quietSetting("quiet", &q).Take(texts)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Quiet hours go by the clock on the wall. There may be several a day, also across midnight, and in
// the nights in which clocks are changed.
func TestQuietHours(t *testing.T) {
	night, two := quiet(t, "22:00-07:00"), quiet(t, "12:00-13:00", "22:00-24:00")
	for _, test := range []struct {
		name  string
		hours QuietHours
		zone  string
		at    string // as the clock shows it
		until string // "": not quiet
	}{
		{"none", nil, "UTC", "2026-05-23T03:00:00Z", ""},
		{"before", night, "UTC", "2026-05-23T21:59:59Z", ""},
		{"the first minute", night, "UTC", "2026-05-23T22:00:00Z", "2026-05-24T07:00:00Z"},
		{"before midnight", night, "UTC", "2026-05-23T23:59:59.5Z", "2026-05-24T07:00:00Z"},
		{"after midnight", night, "UTC", "2026-05-24T00:00:00Z", "2026-05-24T07:00:00Z"},
		{"the last second", night, "UTC", "2026-05-24T06:59:59.9Z", "2026-05-24T07:00:00Z"},
		{"the end belongs to the day", night, "UTC", "2026-05-24T07:00:00Z", ""},
		{"by the clock of the place", night, "Asia/Bangkok", "2026-05-23T16:00:00Z", "2026-05-24T00:00:00Z"},
		{"one of several", two, "UTC", "2026-05-23T12:30:00Z", "2026-05-23T13:00:00Z"},
		{"between them", two, "UTC", "2026-05-23T15:00:00Z", ""},
		{"until midnight", two, "UTC", "2026-05-23T22:30:00Z", "2026-05-24T00:00:00Z"},
		{"spans that touch", quiet(t, "20:00-22:00", "22:00-23:00"), "UTC", "2026-05-23T21:00:00Z", "2026-05-23T23:00:00Z"},
		{"a night of 8 hours", night, "Europe/Berlin", "2026-03-28T22:00:00+01:00", "2026-03-29T07:00:00+02:00"},
		{"a night of 10 hours", night, "Europe/Berlin", "2026-10-24T22:00:00+02:00", "2026-10-25T07:00:00+01:00"},
		{"an end that the clock skips", quiet(t, "01:00-02:30"), "Europe/Berlin", "2026-03-29T01:30:00+01:00", "2026-03-29T03:00:00+02:00"},
		{"an end that comes twice", quiet(t, "01:00-02:30"), "Europe/Berlin", "2026-10-25T02:10:00+02:00", "2026-10-25T02:30:00+02:00"},
		{"an hour that comes twice is quiet twice", quiet(t, "01:00-02:30"), "Europe/Berlin", "2026-10-25T02:10:00+01:00", "2026-10-25T02:30:00+01:00"},
		{"for ever", quiet(t, "00:00-24:00"), "UTC", "2026-05-23T12:00:00Z", "2026-05-25T12:00:00Z"},
	} {
		t.Run(test.name, func(t *testing.T) {
			zone, err := time.LoadLocation(test.zone)
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(time.RFC3339, test.at)
			if err != nil {
				t.Fatal(err)
			}
			got := test.hours.Until(at.In(zone))
			if test.until == "" {
				if !got.IsZero() {
					t.Errorf("at %s it is quiet until %s", test.at, got)
				}
				return
			}
			want, err := time.Parse(time.RFC3339, test.until)
			if err != nil {
				t.Fatal(err)
			}
			if !got.Equal(want) {
				t.Errorf("at %s it is quiet until %s, want %s", test.at, got, want)
			}
		})
	}
}

func TestQuietIsNoSpan(t *testing.T) {
	for _, text := range []string{"", "22:00", "22-07", "22:00-25:00", "24:00-01:00", "22:60-07:00", "22:00-22:00", "22:0-07:00", "-1:00-07:00", "22:00-24:01", "a:bc-d:ef"} {
		if s, err := ParseQuiet(text); err == nil {
			t.Errorf("%q is taken for %s", text, s)
		} else if text != "" && !strings.Contains(err.Error(), text) {
			t.Errorf("%q: the error %q does not name it", text, err)
		}
	}
}

// A quiet span that was read is written in such a way that it is read as the same span.
func FuzzQuiet(f *testing.F) {
	for _, seed := range []string{"22:00-07:00", "0:00-24:00", " 9:15 - 10:00 ", "22:00-22:00", "++:00-07:00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseQuiet(text)
		if err != nil {
			return
		}
		if again, err := ParseQuiet(s.String()); err != nil || again != s {
			t.Errorf("%q is %s, which is read as %s, %v", text, s, again, err)
		}
		start := time.Date(2026, 5, 23, 0, s.From, 0, 0, time.UTC)
		if q := (QuietHours{s}); !q.Hold(start) || q.Until(start).IsZero() {
			t.Errorf("%s does not hold its own beginning", s)
		}
	})
}
