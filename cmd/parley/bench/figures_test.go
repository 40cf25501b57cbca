package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/term"
)

// trial is a measure that only whoever works on parley takes.
type trial struct {
	measure
	take func(*rig) readings
}

// trials are all measures, by what they are about.
func trials() map[string][]trial {
	own := map[string]trial{}
	for _, m := range measures() {
		own[m.name] = trial{m, func(r *rig) readings { return must(m.take(r.Context(), r.stand))(r) }}
	}
	burst := burstTrial()
	return map[string][]trial{
		"record": {
			storedTrial(), own["send"], sendRateTrial(), throughputTrial(), lagTrial(), diskTrial(),
			pushTrial("bus", 3), pushTrial("git", 15), pushesTrial(), startTrial(),
		},
		"bus":      {entryTrial(), own["hop"], own["answer"], burst, fanoutTrial(), idleTrial()},
		"dispatch": {replyTrial(), acrossTrial(), oldTrial(), rateTrial(), claimsTrial(), socketTrial(), burst},
		"sync":     {examinedTrial(), manyTrial(), chatterTrial(), silentTrial()},
		"topics":   {yearTrial()},
		"party":    {crowdTrial(), tellTrial()},
		"frame":    {passTrial(), startsTrial()},
	}
}

// rig takes one trial, for a test or a benchmark, which it ends if something fails.
type rig struct {
	testing.TB
	*stand
}

// newRig works in a new folder. Its name is short, because the path of a socket must be.
func newRig(tb testing.TB, quick bool) *rig {
	tb.Helper()
	dir, err := os.MkdirTemp("", "bench")
	r := &rig{tb, &stand{dir: dir, quick: quick}}
	r.check(err)
	tb.Cleanup(func() {
		for _, end := range slices.Backward(r.ends) {
			err = errors.Join(err, end())
		}
		if err := errors.Join(err, os.RemoveAll(dir)); err != nil {
			tb.Error(err)
		}
	})
	return r
}

// Context outlives the test's own, because what is ended in a cleanup needs it.
func (r *rig) Context() context.Context { return context.WithoutCancel(r.TB.Context()) }

// check ends the trial if there is an error. A program that this machine does not have is none.
func (r *rig) check(err error) {
	r.Helper()
	if errors.Is(err, exec.ErrNotFound) {
		r.Skip(err)
	}
	if err != nil {
		r.Fatal(err)
	}
}

func must[T any](value T, err error) func(*rig) T {
	return func(r *rig) T {
		r.Helper()
		r.check(err)
		return value
	}
}

// long are the figures whose aim only a full run can judge.
var long = []string{
	"recorded_rate", "disk_per_message", "packs_most", "push_slowest_bus", "push_slowest_git", "start_cached", "memory_cached",
	"burst_rate", "back_all", "idle_cpu", "old_p50", "socket_rate", "year_first", "year_rested", "year_list", "year_relation", "year_fleet",
	"crowd_who", "crowd_mesh", "crowd_team", "accept_p50", "frame_starts",
}

func (x trial) run(tb testing.TB, quick bool) (figures []Figure) {
	r := newRig(tb, quick)
	taken := x.take(r)
	for _, f := range x.figures {
		if reading, ok := taken[f.Name]; ok {
			f = f.with(reading)
			if quick && slices.Contains(long, f.Name) {
				f.OK, f.Note = nil, strings.Trim("a quick run cannot tell; "+f.Note, "; ")
			}
		} else {
			f.Note = "this machine or a quick run cannot tell"
		}
		figures = append(figures, f)
	}
	return figures
}

// BenchmarkFigures takes all figures, with -short less of everything. Once is enough. For example:
//
//	go test ./cmd/parley/bench -run - -bench /record/stored -benchtime 1x
func BenchmarkFigures(b *testing.B) {
	for name, all := range trials() {
		b.Run(name, func(b *testing.B) {
			for _, x := range all {
				b.Run(x.name, func(b *testing.B) {
					var figures []Figure
					for b.Loop() {
						figures = x.run(b, testing.Short())
					}
					numbers := term.Table{Heading: []string{"FIGURE", "VALUE", "YARDSTICK", "RATIO", "AIM", "MET", "NOTE"}}
					for _, f := range figures {
						if numbers.Rows = append(numbers.Rows, append(f.row(), f.Note)); f.Value != nil {
							b.ReportMetric(*f.Value, f.Name+"_"+unitWord(f.Unit))
						}
					}
					var table bytes.Buffer
					term.Screen{Writer: &table}.Table(numbers)
					b.Log("\n" + table.String())
				})
			}
		})
	}
}

// unitWord returns a unit in the form of go test.
func unitWord(unit string) string {
	if word, ok := map[string]string{"": "count", "/s": "per_s", "%": "percent"}[unit]; ok {
		return word
	}
	return unit
}

// TestFigures takes all figures, less of everything. It prevents: a figure that can no longer be
// taken, and hosts that lose or double what they say.
func TestFigures(t *testing.T) {
	short := []string{"send", "hop", "answer", "fanout"}
	for name, all := range trials() {
		for _, x := range all {
			t.Run(name+"/"+x.name, func(t *testing.T) {
				if x.name == "burst" && name == "dispatch" {
					t.Skip("bus has taken it")
				}
				if os.Getenv("PARLEY_LONG_TESTS") == "" && !slices.Contains(short, x.name) {
					t.Skip("takes long: set PARLEY_LONG_TESTS=1")
				}
				for _, f := range x.run(t, true) {
					if f.Value == nil && f.Note == "" {
						t.Errorf("%s was not taken", f.Name)
					}
					if f.Aim != nil && *f.Aim == 0 && (f.OK == nil || !*f.OK) {
						t.Errorf("%s: %+v", f.Name, f)
					}
				}
			})
		}
	}
}

// The page about measuring names each measure and each figure. "start_…" there stands for all that
// begin so. It prevents: a figure that was added is forgotten there.
func TestPageNamesEachFigure(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "how-to", "measure.md"))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, m := range regexp.MustCompile("`([a-z0-9_]+…?)`").FindAllStringSubmatch(string(page), -1) {
		words = append(words, m[1])
	}
	named := func(name string) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			begin, more := strings.CutSuffix(word, "…")
			return word == name || more && strings.HasPrefix(name, begin)
		})
	}
	for of, all := range trials() {
		for _, x := range all {
			if !named(x.name) {
				t.Errorf("the page does not name %s, a measure of %s", x.name, of)
			}
			for _, f := range x.figures {
				if !named(f.Name) {
					t.Errorf("the page does not name %s, a figure of %s", f.Name, of)
				}
			}
		}
	}
}
