package cli

import (
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/spf13/pflag"
)

// durationValue is a flag that takes a length of time. In addition to what Go reads, it knows days,
// because some of our times are long.
type durationValue struct{ at *time.Duration }

// DurationFlag gives a command a flag for a length of time. Its default is the present value of
// `d`.
func DurationFlag(f *pflag.FlagSet, d *time.Duration, name, usage string) {
	f.Var(durationValue{d}, name, usage)
}

// String is the value as help shows it; "" for zero.
func (v durationValue) String() string {
	if v.at == nil || *v.at == 0 {
		return ""
	}
	return span.Exact(*v.at)
}

// Set reads "30s", "1h30m", "7d" and "1d12h".
func (v durationValue) Set(text string) error {
	d, err := span.Parse(text)
	if err == nil {
		*v.at = d
	}
	return err
}

// Type is the name of the value's type in help.
func (v durationValue) Type() string { return "duration" }
