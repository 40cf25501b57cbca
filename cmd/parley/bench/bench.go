// Package bench holds the commands that measure parley on this machine: parley bench.
// What they measure is in node/bench.
package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/bench"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewCommand is parley bench.
func NewCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "bench",
		Short:   "Measure parley on this machine, beside the bare disk, git and NATS",
		Example: `  parley bench record --quick`,
		Args:    cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.UsageErrorf(cmd, "%s needs record, bus, dispatch, sync, topics, party or frame", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newRecordCommand(p), newBusCommand(p), newDispatchCommand(p), newSyncCommand(p), newTopicsCommand(p), newPartyCommand(p), newFrameCommand(p))
	return cmd
}

// form is what the help of every bench says about its output.
const form = `Every figure stands beside its yardstick, which is taken in the same run on the
same disk; RATIO is the figure divided by it. AIM is what parley promises on a
quiet machine, MET whether this run keeps it; both are empty where nothing is
promised. --strict makes an aim that is missed exit code 1.

It works in a folder of its own that is removed afterwards, also after Ctrl-C,
and never touches your node. --dir chooses the disk: by default that of the
system's temporary files, or of your cache folder where those are kept in
memory.

--json prints an array of objects with the fields name, value, unit, yardstick,
ratio, aim, aim_on ("value" or "ratio"), better ("lower" or "higher"), ok, and
in words what, beside (what the yardstick is) and note. A number that does not
exist is null, a word ""; ok is null where there is no aim or the run cannot
tell.`

// request is what every bench can be told.
type request struct {
	options bench.Options
	strict  bool
}

// addFlags gives a bench its flags.
func addFlags(p *cli.Program, cmd *cobra.Command, r *request) {
	f := cmd.Flags()
	f.BoolVar(&r.options.Quick, "quick", false, "less of everything: a few seconds instead of minutes")
	f.BoolVar(&r.strict, "strict", false, "exit code 1 when an aim is missed")
	f.StringSliceVar(&r.options.Only, "only", nil, "only these figures or measures, `NAME,…`")
	f.StringVar(&r.options.Dir, "dir", "", "measure on the disk of this folder")
	p.JSONFlag(cmd, "print an array of figures as JSON")
}

func runBench(ctx context.Context, suite bench.Suite, r request, v cli.View) error {
	binary, err := os.Executable()
	if err != nil {
		return fmt.Errorf("cannot find parley itself: %w", err)
	}
	if err := suite.Check(r.options.Only); err != nil {
		return control.Errorf(control.KindUsage, "", "%v", err)
	}
	r.options.Command = []string{binary}
	dir := r.options.Dir
	if dir == "" {
		dir = bench.DefaultDir()
	}
	began, machine := time.Now(), bench.Machine(ctx, dir)
	progress := progress{v: v}
	r.options.Progress = progress.show
	figures, err := suite.Run(ctx, r.options)
	progress.end()
	if v.JSON {
		if err == nil {
			err = v.WriteJSON(figures)
		}
	} else if len(figures) > 0 {
		showTable(v, figures, append(machine, fmt.Sprintf("parley: %s, measured in %s", cli.Version, time.Since(began).Round(time.Second))))
	}
	if missed := bench.Missed(figures); err == nil && r.strict && len(missed) > 0 {
		err = fmt.Errorf("missed its aim: %s", strings.Join(missed, ", "))
	}
	return err
}

// progress tells what is being measured: at a terminal in one line that changes, else in one line
// for each measurement.
type progress struct {
	v    cli.View
	mu   sync.Mutex // guards what follows
	last time.Time
	open bool   // a line is shown that has not ended
	said string // the measurement that was named last
}

func (b *progress) show(measure, doing string, done, of int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	screen := b.v.Err
	if !screen.Terminal {
		if measure != b.said && !b.v.JSON {
			screen.Printf("measuring %s: %s\n", measure, doing)
		}
		b.said = measure
		return
	}
	if time.Since(b.last) < cli.ProgressEvery && measure == b.said {
		return
	}
	b.last, b.said, b.open = time.Now(), measure, true
	line := measure + ": " + doing
	if of > 0 {
		line += fmt.Sprintf(" %d of %d", done, of)
	}
	screen.Printf("\r\x1b[K%s", screen.Dim(term.Cut(line, screen.Width-1)))
}

func (b *progress) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open {
		b.v.Err.Printf("\r\x1b[K")
		b.open = false
	}
}

// showTable shows figures to a person: the numbers, what they are, what they are compared with, and
// on what machine they were measured.
func showTable(v cli.View, figures []bench.Figure, about []string) {
	numbers := term.Table{Heading: []string{"FIGURE", "VALUE", "YARDSTICK", "RATIO", "AIM", "MET"}}
	var words term.Table
	for _, f := range figures {
		numbers.Rows = append(numbers.Rows, []string{
			f.Name, quantity(f.Value, f.Unit), quantity(f.Yardstick, f.Unit), number(f.Ratio), aimOf(f), metOf(f)})
		words.Rows = append(words.Rows, []string{f.Name, f.What})
	}
	screen := v.Out
	screen.Width = 0 // figures and words that are cut would say nothing
	screen.Table(numbers)
	screen.Printf("\n")
	screen.Table(words)
	screen.Printf("\n")
	for _, line := range slices.Concat(
		groups("yardstick of ", figures, func(f bench.Figure) string { return f.Beside }),
		groups("", figures, func(f bench.Figure) string { return f.Note }), about) {
		screen.Printf("%s\n", term.Line(line))
	}
}

// groups returns lines that say a word once for all figures to which it applies.
func groups(before string, figures []bench.Figure, word func(bench.Figure) string) []string {
	var order []string
	names := map[string][]string{}
	for _, f := range figures {
		w := word(f)
		if w == "" {
			continue
		}
		if names[w] == nil {
			order = append(order, w)
		}
		names[w] = append(names[w], f.Name)
	}
	lines := make([]string, len(order))
	for i, w := range order {
		lines[i] = before + strings.Join(names[w], ", ") + ": " + w
	}
	return lines
}

func aimOf(f bench.Figure) string {
	if f.Aim == nil {
		return ""
	}
	sign := "≤"
	if f.Better == bench.Higher {
		sign = "≥"
	}
	if f.AimOn == bench.OnRatio {
		return "ratio " + sign + " " + number(f.Aim)
	}
	return sign + " " + quantity(f.Aim, f.Unit)
}

func metOf(f bench.Figure) string {
	switch {
	case f.Aim == nil:
		return ""
	case f.OK == nil:
		return "?"
	case *f.OK:
		return "yes"
	}
	return "NO"
}

func quantity(n *float64, unit string) string {
	if n == nil {
		return ""
	}
	return strings.TrimSpace(number(n) + " " + unit)
}

// number shows a number with three significant digits.
func number(n *float64) string {
	if n == nil {
		return ""
	}
	if *n == math.Trunc(*n) || math.Abs(*n) >= 100 {
		return fmt.Sprintf("%.0f", *n)
	}
	return fmt.Sprintf("%.3g", *n)
}
