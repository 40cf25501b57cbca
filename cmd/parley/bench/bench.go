// Package bench is parley bench: it measures what parley promises in figures, on the user's machine.
// Each figure stands beside a yardstick: what the bare disk, bare NATS or a bare command needs for
// the same work, in the same run. So it means something even on an unknown machine, and shows if a
// slow disk and not parley is to blame. The benchmarks of this package take many more figures.
package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
)

type options struct {
	quick, strict bool
	only          []string
	dir           string
}

// NewCommand is parley bench.
func NewCommand(p *cli.Program) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure parley on this machine, beside the bare disk and NATS",
		Long: `Measure how soon a message is sent (send), heard by another host (hop) and
answered by an agent there (answer): whole nodes in one process, linked over
loopback. It takes a minute or two, with --quick some seconds.

Each figure stands beside its yardstick, taken in the same run on the same disk;
AIM is what parley promises on a quiet machine. It works in a folder of its own,
which it removes at its end, on the disk of your home folder or of --dir. In
memory fsync does nothing, so the figures are too good.`,
		Example: `  parley bench --quick
  parley bench --only hop,send_p50
  parley bench --dir /srv --strict --json`,
		Args: func(cmd *cobra.Command, args []string) error { return known(cmd, args, nil) },
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := known(cmd, o.only, measures()); err != nil {
				return err
			}
			return o.run(cmd.Context(), p.View())
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.quick, "quick", false, "less of everything: a few seconds instead of minutes")
	f.BoolVar(&o.strict, "strict", false, "exit code 1 when an aim is missed")
	f.StringSliceVar(&o.only, "only", nil, "only these figures or measures, `NAME,…`")
	f.StringVar(&o.dir, "dir", "", "measure on the disk of this folder")
	p.JSONFlag(cmd, "print an array of figures as JSON")
	return cmd
}

func known(cmd *cobra.Command, names []string, all []measure) error {
	for _, name := range names {
		if !slices.ContainsFunc(all, func(m measure) bool { return len(m.wanted([]string{name})) > 0 }) {
			return cli.UsageErrorf(cmd, "cannot measure %q: parley bench has send, hop and answer; "+
				"all other figures are benchmarks in parley's source: go test ./cmd/parley/bench -run - -bench . -benchtime 1x", name)
		}
	}
	return nil
}

func (o options) run(ctx context.Context, v cli.View) error {
	if o.dir == "" {
		o.dir, _ = os.UserHomeDir() // without one, the folder for temporary files is taken
	}
	began := time.Now()
	dir, err := os.MkdirTemp(o.dir, "parley-bench-")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return fmt.Errorf("cannot make a folder to measure in: %w", err)
	}
	var figures []Figure
	var missed []string
	for _, m := range measures() {
		if wanted := m.wanted(o.only); len(wanted) > 0 && err == nil {
			if !v.JSON {
				v.Err.Printf("measuring %s: %s\n", m.name, m.what)
			}
			wanted, err = m.run(ctx, filepath.Join(dir, m.name), o.quick, wanted)
			figures = append(figures, wanted...)
		}
	}
	for _, f := range figures {
		if f.OK != nil && !*f.OK {
			missed = append(missed, f.Name)
		}
	}
	switch err = errors.Join(err, os.RemoveAll(dir)); {
	case v.JSON && err == nil:
		err = v.WriteJSON(figures)
	case !v.JSON && len(figures) > 0:
		showTable(v.Out, figures)
		v.Out.Printf("machine: %s/%s, %d processors; disk of %s\nparley: %s, measured in %s\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(),
			term.Line(filepath.Dir(dir)), cli.Version, time.Since(began).Round(time.Second))
	}
	if o.strict && err == nil && len(missed) > 0 {
		err = fmt.Errorf("missed its aim: %s", strings.Join(missed, ", "))
	}
	return err
}

// showTable shows figures to a person: the numbers, and what they and their yardsticks are.
func showTable(screen term.Screen, figures []Figure) {
	numbers := term.Table{Heading: []string{"FIGURE", "VALUE", "YARDSTICK", "RATIO", "AIM", "MET"}}
	for _, f := range figures {
		numbers.Rows = append(numbers.Rows, f.row())
	}
	screen.Width = 0 // figures and words that are cut would say nothing
	screen.Table(numbers)
	for _, f := range figures {
		screen.Printf("\n%s: %s\n", f.Name, term.Line(f.What))
		if f.Beside != "" {
			screen.Printf("  yardstick: %s\n", term.Line(f.Beside))
		}
		if f.Note != "" {
			screen.Printf("  %s\n", term.Line(f.Note))
		}
	}
	screen.Printf("\n")
}

// To which number of a figure its aim applies, and which way a figure should go.
const (
	OnValue = "value"
	OnRatio = "ratio"
	Lower   = "lower"
	Higher  = "higher"
)

// Figure is one measured value beside its yardstick. In JSON a value that is not there is null or "".
type Figure struct {
	Name      string   `json:"name"`      // a stable word
	Value     *float64 `json:"value"`     // null if it could not be measured; then Note says why
	Unit      string   `json:"unit"`      // unit of value, yardstick and, if aim_on is value, aim
	Yardstick *float64 `json:"yardstick"` // in the same unit
	Ratio     *float64 `json:"ratio"`     // value divided by yardstick
	Aim       *float64 `json:"aim"`       // what it should be
	AimOn     string   `json:"aim_on"`    // to which number the aim applies
	Better    string   `json:"better"`    // which way it should go
	OK        *bool    `json:"ok"`        // whether the aim is met; null if there is no aim, or if this run cannot tell
	What      string   `json:"what"`      // what was measured
	Beside    string   `json:"beside"`    // what the yardstick is
	Note      string   `json:"note"`      // what a reader must know of this run
}

// reading is what was measured for a figure. A yardstick of 0 is none.
type reading struct {
	value, yardstick float64
	note             string
}

type readings map[string]reading // by the name of their figure

func (f Figure) with(r reading) Figure {
	f.Value, f.Note = &r.value, r.note
	if r.yardstick != 0 {
		f.Yardstick, f.Ratio = &r.yardstick, new(r.value/r.yardstick)
	}
	got := f.Value
	if f.AimOn == OnRatio {
		got = f.Ratio
	}
	if f.Aim != nil && got != nil {
		f.OK = new(*got == *f.Aim || *got < *f.Aim == (f.Better == Lower))
	}
	return f
}

func (f Figure) row() []string {
	aimed, met := "", ""
	if f.Aim != nil {
		aimed, met = map[string]string{Lower: "≤ ", Higher: "≥ "}[f.Better]+number(f.Aim, f.Unit), "?"
		if f.AimOn == OnRatio {
			aimed = "ratio " + strings.TrimSuffix(aimed, " "+f.Unit)
		}
	}
	if f.OK != nil {
		met = map[bool]string{true: "yes", false: "NO"}[*f.OK]
	}
	return []string{f.Name, number(f.Value, f.Unit), number(f.Yardstick, f.Unit), number(f.Ratio, ""), aimed, met}
}

// number shows a number with three significant digits.
func number(n *float64, unit string) string {
	if n == nil {
		return ""
	}
	rounded, _ := strconv.ParseFloat(fmt.Sprintf("%.3g", *n), 64) // it was a number
	return strings.TrimSpace(fmt.Sprint(rounded, " ", unit))
}
