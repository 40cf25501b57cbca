package cli

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/spf13/pflag"
)

// durationValue is a flag that takes a length of time. Besides what Go reads it
// knows days, because some of ours are long.
type durationValue struct{ at *time.Duration }

// DurationFlag gives a command a flag for a length of time, whose default is what
// d holds.
func DurationFlag(f *pflag.FlagSet, d *time.Duration, name, usage string) {
	f.Var(durationValue{d}, name, usage)
}

// String is the value as help shows it, "" for none.
func (v durationValue) String() string {
	if v.at == nil || *v.at == 0 {
		return ""
	}
	return span.Exact(*v.at)
}

// Set reads "30s", "1h30m", "7d" and "1d12h".
func (v durationValue) Set(text string) error {
	d, err := parseDuration(text)
	if err == nil {
		*v.at = d
	}
	return err
}

// Type is how help calls the value.
func (v durationValue) Type() string { return "duration" }

const maxDays = 100_000 // what time.Duration can hold is a little more

func parseDuration(text string) (time.Duration, error) {
	wrong := fmt.Errorf("%q is not a length of time: write it with its unit, such as 30s, 5m, 2h or 7d", text)
	var days uint64
	rest := text
	if before, after, found := strings.Cut(text, "d"); found {
		n, err := strconv.ParseUint(before, 10, 64)
		if err != nil || n > maxDays {
			return 0, wrong
		}
		days, rest = n, after
		if rest == "" {
			rest = "0s"
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || days > 0 && d < 0 {
		return 0, wrong
	}
	return time.Duration(days)*24*time.Hour + d, nil
}
