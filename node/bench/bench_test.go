package bench

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// BenchmarkRecord takes each measure of "parley bench record", with the counts of
// a quick run. Once is enough: go test ./node/bench -bench Record -benchtime 1x
func BenchmarkRecord(b *testing.B) { benchmark(b, Record(0)) }

// BenchmarkBus does the same for "parley bench bus".
func BenchmarkBus(b *testing.B) { benchmark(b, Bus()) }

// BenchmarkDispatch does the same for "parley bench dispatch".
func BenchmarkDispatch(b *testing.B) { benchmark(b, Dispatch()) }

// BenchmarkSync takes the figures of parley bench sync.
func BenchmarkSync(b *testing.B) { benchmark(b, Sync()) }

// BenchmarkTopics takes the figures of parley bench topics.
func BenchmarkTopics(b *testing.B) { benchmark(b, Topics()) }

// BenchmarkParty takes the figures of parley bench party.
func BenchmarkParty(b *testing.B) { benchmark(b, Party()) }

// BenchmarkFrame takes the figures of parley bench frame.
func BenchmarkFrame(b *testing.B) { benchmark(b, Frame()) }

func benchmark(b *testing.B, suite Suite) {
	b.Setenv(playNode, "1")
	for _, m := range suite.Measures {
		b.Run(m.Name, func(b *testing.B) {
			for b.Loop() {
				figures, err := suite.Run(b.Context(), Options{Dir: b.TempDir(), Quick: true, Only: []string{m.Name}, Command: os.Args[:1]})
				if err != nil {
					b.Fatal(err)
				}
				for _, f := range figures {
					if f.Value != nil {
						b.ReportMetric(*f.Value, f.Name+"_"+unitWord(f.Unit))
					}
				}
			}
		})
	}
}

// unitWord returns a unit in the form of go test.
func unitWord(unit string) string {
	switch unit {
	case "":
		return "count"
	case "/s":
		return "per_s"
	case "%":
		return "percent"
	}
	return unit
}

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
	yes, no := true, false
	for _, c := range []struct {
		name string
		spec Spec
		got  reading
		full bool
		want *bool
	}{
		{"no aim", Spec{Better: Lower}, reading{value: 1}, true, nil},
		{"low enough", Spec{Better: Lower, Aim: 1, AimOn: OnValue}, reading{value: 1}, true, &yes},
		{"too high", Spec{Better: Lower, Aim: 1, AimOn: OnValue}, reading{value: 2}, true, &no},
		{"high enough", Spec{Better: Higher, Aim: 1, AimOn: OnValue}, reading{value: 2}, true, &yes},
		{"too low", Spec{Better: Higher, Aim: 3, AimOn: OnValue}, reading{value: 2}, true, &no},
		{"a good ratio", Spec{Better: Lower, Aim: 3, AimOn: OnRatio}, reading{value: 30, yardstick: 10}, true, &yes},
		{"a bad ratio", Spec{Better: Higher, Aim: 100, AimOn: OnRatio}, reading{value: 990, yardstick: 10}, true, &no},
		{"no yardstick", Spec{Better: Higher, Aim: 100, AimOn: OnRatio}, reading{value: 990}, true, nil},
		{"a quick run of what needs a full one", Spec{Better: Lower, Aim: 3, AimOn: OnValue, Full: true}, reading{value: 30}, false, nil},
		{"a quick run of what does not", Spec{Better: Lower, Aim: 3, AimOn: OnValue}, reading{value: 30}, false, &no},
		{"an aim of nothing", Spec{Better: Lower, Aim: 0, AimOn: OnValue}, reading{value: 0}, true, &yes},
	} {
		f := c.spec.figure(c.got, c.full)
		if diff := cmp.Diff(c.want, f.OK); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		if (len(Missed([]Figure{f})) > 0) != (c.want == &no) {
			t.Errorf("%s: Missed is wrong", c.name)
		}
	}
}

// kitSuite has two measures. One reads, and the other does what the test says.
func kitSuite(second func(context.Context, *stand) (readings, error)) Suite {
	return Suite{Name: "kit", Measures: []Measure{
		{Name: "first", Figures: []Spec{{Name: "a"}, {Name: "b"}}, take: func(context.Context, *stand) (readings, error) {
			return readings{"a": {value: 1}, "b": {value: 2}}, nil
		}},
		{Name: "second", Figures: []Spec{{Name: "c"}}, take: second},
	}}
}

func namesOf(figures []Figure) (names []string) {
	for _, f := range figures {
		names = append(names, f.Name)
	}
	return names
}

func TestOnlySomeFigures(t *testing.T) {
	suite := kitSuite(func(context.Context, *stand) (readings, error) { return readings{"c": {value: 3}}, nil })
	for only, want := range map[string][]string{"first": {"a", "b"}, "b": {"b"}, "c": {"c"}, "": {"a", "b", "c"}} {
		o := Options{Dir: t.TempDir()}
		if only != "" {
			o.Only = []string{only}
		}
		figures, err := suite.Run(t.Context(), o)
		if diff := cmp.Diff(want, namesOf(figures)); err != nil || diff != "" {
			t.Errorf("only %q: %v %s", only, err, diff)
		}
	}
	if _, err := suite.Run(t.Context(), Options{Only: []string{"d"}}); err == nil || err.Error() != `cannot measure "d": bench kit has first, second, and the figures of its table` {
		t.Errorf("a figure that does not exist: %v", err)
	}
}

func TestWhatCannotBeMeasuredSaysWhy(t *testing.T) {
	suite := kitSuite(func(context.Context, *stand) (readings, error) { return nil, skipped("there is none") })
	figures, err := suite.Run(t.Context(), Options{Dir: t.TempDir()})
	if err != nil || len(figures) != 3 || figures[2].Value != nil || figures[2].Note != "there is none" {
		t.Errorf("%+v, %v", figures, err)
	}
}

// It prevents: after Ctrl-C, folders of gigabytes stay in the temporary folder.
func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	suite := kitSuite(func(ctx context.Context, s *stand) (readings, error) {
		if err := os.WriteFile(s.path("file"), []byte("much"), 0o600); err != nil {
			return nil, err
		}
		cancel()
		return nil, context.Cause(ctx)
	})
	figures, err := suite.Run(ctx, Options{Dir: dir})
	if err == nil || len(figures) != 2 {
		t.Errorf("a bench that was ended: %d figures, %v", len(figures), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
