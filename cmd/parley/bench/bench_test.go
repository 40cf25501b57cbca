package bench

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPercentile(t *testing.T) {
	var times []time.Duration
	for i := 100; i > 0; i-- {
		times = append(times, time.Duration(i))
	}
	for p, want := range map[int]time.Duration{1: 1, 50: 50, 99: 99, 100: 100} {
		if got := percentile(times, p); got != want {
			t.Errorf("percentile %d of 1 to 100 is %d", p, got)
		}
	}
	if got := percentile(times[:3], 50); got != 2 {
		t.Errorf("the median of three is %d", got)
	}
	if got := percentile(nil, 50); got != 0 {
		t.Errorf("the median of nothing is %d", got)
	}
}

func TestFiguresAreJudged(t *testing.T) {
	for _, c := range []struct {
		name, met string
		figure    Figure
		got       reading
	}{
		{"no aim", "", Figure{Better: Lower}, reading{value: 1}},
		{"low enough", "yes", Figure{Better: Lower, Aim: new(1.0), AimOn: OnValue}, reading{value: 1}},
		{"too high", "NO", Figure{Better: Lower, Aim: new(1.0), AimOn: OnValue}, reading{value: 2}},
		{"high enough", "yes", Figure{Better: Higher, Aim: new(1.0), AimOn: OnValue}, reading{value: 2}},
		{"too low", "NO", Figure{Better: Higher, Aim: new(3.0), AimOn: OnValue}, reading{value: 2}},
		{"a good ratio", "yes", Figure{Better: Lower, Aim: new(3.0), AimOn: OnRatio}, reading{value: 30, yardstick: 10}},
		{"a bad ratio", "NO", Figure{Better: Higher, Aim: new(100.0), AimOn: OnRatio}, reading{value: 990, yardstick: 10}},
		{"no yardstick", "?", Figure{Better: Higher, Aim: new(100.0), AimOn: OnRatio}, reading{value: 990}},
		{"an aim of nothing", "yes", Figure{Better: Lower, Aim: new(0.0), AimOn: OnValue}, reading{value: 0}},
	} {
		if row := c.figure.with(c.got).row(); row[5] != c.met {
			t.Errorf("%s: %q", c.name, row)
		}
	}
}

func TestFiguresInATable(t *testing.T) {
	for _, c := range []struct {
		figure Figure
		got    reading
		want   []string
	}{
		{Figure{Name: "a", Unit: "ms", Better: Lower, Aim: new(30.0), AimOn: OnValue}, reading{value: 12.345, yardstick: 0.5}, []string{"a", "12.3 ms", "0.5 ms", "24.7", "≤ 30 ms", "yes"}},
		{Figure{Name: "b", Unit: "/s", Better: Higher, Aim: new(100.0), AimOn: OnRatio}, reading{value: 123456, yardstick: 1000}, []string{"b", "123000 /s", "1000 /s", "123", "ratio ≥ 100", "yes"}},
		{Figure{Name: "c", Better: Lower}, reading{value: 3}, []string{"c", "3", "", "", "", ""}},
	} {
		if diff := cmp.Diff(c.want, c.figure.with(c.got).row()); diff != "" {
			t.Error(diff)
		}
	}
}

// It prevents: after a measure that failed, nodes go on running.
func TestAMeasureEndsWhatItBegan(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		err  error
		note string
	}{{nil, ""}, {broken, ""}, {&exec.Error{Name: "git", Err: exec.ErrNotFound}, `exec: "git": executable file not found in $PATH`}} {
		var ended []int
		m := measure{name: "kit", figures: []Figure{{Name: "a"}}, take: func(_ context.Context, s *stand) (readings, error) {
			for i := range 2 {
				s.ends = append(s.ends, func() error { ended = append(ended, i); return nil })
			}
			return readings{"a": {value: 1}}, c.err
		}}
		figures, err := m.run(t.Context(), t.TempDir()+"/kit", true, m.wanted(nil))
		if !cmp.Equal(ended, []int{1, 0}) {
			t.Errorf("%v: it ended %v", c.err, ended)
		}
		if errors.Is(err, broken) != (c.err == broken) || err == nil && (figures[0].Note != c.note || (figures[0].Value == nil) != (c.note != "")) {
			t.Errorf("%v: %+v, %v", c.err, figures, err)
		}
	}
}

func TestOnlySomeFigures(t *testing.T) {
	m := measure{name: "m", figures: []Figure{{Name: "a"}, {Name: "b"}}}
	for only, want := range map[string]int{"m": 2, "b": 1, "c": 0} {
		if got := m.wanted([]string{only}); len(got) != want {
			t.Errorf("only %q: %v", only, got)
		}
	}
	if got := m.wanted(nil); len(got) != 2 {
		t.Errorf("all: %v", got)
	}
}
