package control

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Seconds is a length of time that stands in JSON as a number of seconds, so that every program can
// read it: 0.25, and never 250ms or 250000000.
type Seconds time.Duration

// Duration returns the seconds as a time.Duration.
func (s Seconds) Duration() time.Duration { return time.Duration(s) }

// String returns the seconds as a text for people.
func (s Seconds) String() string { return time.Duration(s).String() }

// MarshalJSON writes the seconds, without an exponent.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, time.Duration(s).Seconds(), 'f', -1, 64), nil
}

// UnmarshalJSON reads a number of seconds, exact to the nanosecond.
func (s *Seconds) UnmarshalJSON(data []byte) error {
	var seconds float64
	if err := json.Unmarshal(data, &seconds); err != nil {
		return fmt.Errorf("cannot read a length of time: %w", err)
	}
	nanoseconds := math.Round(seconds * float64(time.Second))
	if math.Abs(nanoseconds) >= math.MaxInt64 {
		return fmt.Errorf("cannot read a length of time: %g seconds are too many", seconds)
	}
	*s = Seconds(nanoseconds)
	return nil
}
