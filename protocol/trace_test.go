package protocol

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func tracedPath(n int) Path {
	return NewPath("adfe0356-0f71-49a9-80a0-fb76883cd974", time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC), uint32(n))
}

func aTrace() []Trace {
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	return []Trace{
		{tracedPath(1), []TraceStep{
			{Time: at, Step: "came", By: "bus"},
			{Time: at, Step: "ended", Agent: "mawjs", Retry: 1, Attempt: 2, Tier: "opus", Failure: "exit status", Exit: 3, Ran: time.Second, Bytes: 12, Next: at},
		}},
		{tracedPath(2), []TraceStep{}},
	}
}

func TestTracesOverTheBus(t *testing.T) {
	data, err := EncodeTraces(aTrace())
	if err != nil {
		t.Fatal(err)
	}
	got, err := DecodeTraces(data)
	if diff := cmp.Diff(aTrace(), got, cmp.Comparer(func(a, b Path) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	paths := []Path{tracedPath(1), tracedPath(2)}
	question, err := EncodeTraceQuestion(paths)
	if err != nil {
		t.Fatal(err)
	}
	if asked, err := DecodeTraceQuestion(question); err != nil || len(asked) != 2 || asked[1] != paths[1] {
		t.Errorf("asked for %v, %v", asked, err)
	}
}

// A host that asks for everything, or answers with everything, is bounded.
func TestTracesAreBounded(t *testing.T) {
	var paths []Path
	word := strings.Repeat("x", 2000)
	long := Trace{Path: tracedPath(0)}
	for n := range 100 {
		paths = append(paths, tracedPath(n))
		long.Steps = append(long.Steps, TraceStep{Step: word, By: word, Tier: word, Failure: word, Agent: Name(word), Attempt: n})
	}
	question, err := EncodeTraceQuestion(paths)
	if err != nil {
		t.Fatal(err)
	}
	if asked, err := DecodeTraceQuestion(question); err != nil || len(asked) != MaxTraced {
		t.Errorf("%d are asked for, %v", len(asked), err)
	}
	more := append([]byte(`{"paths":[`), bytes.Repeat([]byte(`"`+tracedPath(0).String()+`",`), MaxTraced)...)
	if _, err := DecodeTraceQuestion(append(more, []byte(`"`+tracedPath(1).String()+`"]}`)...)); err == nil {
		t.Error("more are asked for than may be, and that is taken")
	}
	var all []Trace
	for range 100 {
		all = append(all, long)
	}
	data, err := EncodeTraces(all)
	if err != nil || len(data) > 900<<10 {
		t.Fatalf("an answer of %d bytes, %v: the bus carries 1 MiB", len(data), err)
	}
	got, err := DecodeTraces(data)
	if err != nil || len(got) != MaxTraced || len(got[0].Steps) != MaxTraceSteps || got[0].Steps[MaxTraceSteps-1].Attempt != 99 {
		t.Errorf("%d traces, %v", len(got), err)
	}
	for _, bad := range []string{"", "{}", `[{"path":""}]`, `[{"path":"../x"}]`, `[{"steps":7}]`} {
		if got, err := DecodeTraces([]byte(bad)); err == nil {
			t.Errorf("%s is read as %+v", bad, got)
		}
	}
	for _, bad := range []string{"", "[]", `{"paths":[""]}`, `{"paths":7}`} {
		if got, err := DecodeTraceQuestion([]byte(bad)); err == nil {
			t.Errorf("%s asks for %v", bad, got)
		}
	}
}

func FuzzDecodeTraces(f *testing.F) {
	data, err := EncodeTraces(aTrace())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"paths":["` + tracedPath(1).String() + `"]}`))
	f.Add([]byte(`[{"steps":[{"step":"\u0000","ran":-1}]}]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if paths, err := DecodeTraceQuestion(data); err == nil && len(paths) > MaxTraced {
			t.Errorf("%d messages", len(paths))
		}
		traces, err := DecodeTraces(data)
		if err != nil {
			return
		}
		again, err := EncodeTraces(traces)
		if err != nil {
			return // such as a year that JSON cannot say
		}
		same, err := DecodeTraces(again)
		if err != nil || len(same) != len(traces) {
			t.Errorf("%q became %q: %v", data, again, err)
		}
	})
}
