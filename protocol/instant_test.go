package protocol

import "testing"

// A moment that JSON cannot have is none: one in the words of a stranger made the list of
// all of an agent's topics fail.
func TestInstantsThatCannotBeWritten(t *testing.T) {
	for _, text := range []string{"9999-12-31T23:59:59-05:00", "0000-01-01T00:00+01:00", "0000-01-01"} {
		if at, err := ParseInstant(text); err == nil {
			t.Errorf("%s is %s", text, at)
		}
	}
	for _, text := range []string{"9999-12-31T23:59:59Z", "0001-01-01T00:00:01Z", "2026-04-20"} {
		if _, err := ParseInstant(text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}
