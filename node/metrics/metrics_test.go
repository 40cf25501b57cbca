package metrics

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/parleyfleet/parley/protocol"
)

var update = flag.Bool("update", false, "rewrite the generated page")

// still is a source of one answer.
type still struct {
	snapshot Snapshot
	health   Health
}

func (s *still) Look() Snapshot { return s.snapshot }
func (s *still) Health() Health { return s.health }

// whole returns the metrics of a node that has something to tell for each of them.
func whole(t testing.TB) *Metrics {
	t.Helper()
	m := New("1.2.3", &still{snapshot: Snapshot{
		Messages: 1,
		Record:   Record{HasRemote: true, LastFetch: time.Unix(1, 0), LastPush: time.Unix(2, 500e6)},
		Agents:   []Agent{{Name: "mawjs", Queued: 3, Oldest: time.Minute}},
		Hosts:    []Host{{Alias: "white", Live: true, RTT: time.Millisecond}},
	}})
	paths := []protocol.Path{pathAt(t, 1), pathAt(t, 2)}
	m.Stored(paths, Own)
	m.Heard(paths, "white")
	m.Recorded(paths)
	m.Pushed(paths)
	m.Ran("mawjs", Answered, time.Second)
	m.Count("mawjs", Retried)
	m.Count("mawjs", GaveUp)
	m.Count("mawjs", Canceled)
	m.Count("mawjs", Stopped)
	m.Count("mawjs", Held, OfConversation)
	return m
}

func pathAt(t testing.TB, n int) protocol.Path {
	t.Helper()
	id, err := protocol.ParseChannelID("adfe0356-0f71-49a9-80a0-fb76883cd974")
	if err != nil {
		t.Fatal(err)
	}
	return protocol.NewPath(id, time.Unix(1, 0), uint32(n))
}

func TestNamesFollowTheConventions(t *testing.T) {
	found, err := testutil.GatherAndLint(whole(t).registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range found {
		t.Errorf("%s: %s", problem.Metric, problem.Text)
	}
}

// TestReference keeps docs/reference/metrics.md true.
func TestReference(t *testing.T) {
	const page = "../../docs/reference/metrics.md"
	want := reference(t)
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(string(got), "\n")); diff != "" {
		t.Errorf("run: go test ./node/metrics -update\n%s", diff)
	}
}

func reference(t *testing.T) string {
	t.Helper()
	families, err := whole(t).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	page.WriteString("# Metrics\n\nGenerated from the program by `go test ./node/metrics -update`.\n\n" +
		"What a node tells Prometheus at `/metrics` where `metrics` in `config.yaml` is set: see [Watch a node](../how-to/watch-a-node.md).\n" +
		"Counters begin with the start of the node. Besides these there are the `go_` and `process_` metrics that every Go program has.\n\n" +
		"| metric | type | labels | meaning |\n|---|---|---|---|\n")
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "parley_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, "`"+l.GetName()+"`")
		}
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s |\n", f.GetName(), strings.ToLower(f.GetType().String()), strings.Join(labels, ", "), f.GetHelp())
	}
	return page.String()
}

func TestTimesOfStages(t *testing.T) {
	first, later := pathAt(t, 1), pathAt(t, 2)
	at := time.Unix(100, 0)
	in := newTimed()
	in.begin([]protocol.Path{first}, at)
	in.begin([]protocol.Path{later}, at.Add(time.Second))
	for _, step := range []struct {
		what  string
		paths []protocol.Path
		stage stage
		after time.Duration
		want  []time.Duration
	}{
		{"the first to hear it counts", []protocol.Path{first}, heard, time.Second, []time.Duration{time.Second}},
		{"who hears it later does not", []protocol.Path{first}, heard, 2 * time.Second, nil},
		{"several", []protocol.Path{first, later}, recorded, 3 * time.Second, []time.Duration{3 * time.Second, 2 * time.Second}},
		{"those of others are not timed", []protocol.Path{pathAt(t, 3)}, pushed, time.Second, nil},
		{"the end", []protocol.Path{first}, pushed, 4 * time.Second, []time.Duration{4 * time.Second}},
		{"after it", []protocol.Path{first}, heard, 5 * time.Second, nil},
		{"the remote has it before another host says so", []protocol.Path{later}, pushed, 5 * time.Second, []time.Duration{4 * time.Second}},
		{"who says so then", []protocol.Path{later}, heard, 6 * time.Second, []time.Duration{5 * time.Second}},
	} {
		if diff := cmp.Diff(step.want, in.reached(step.paths, step.stage, at.Add(step.after))); diff != "" {
			t.Errorf("%s: %s", step.what, diff)
		}
	}
}

// TestTimesAreBounded prevents: without a remote nothing is ever pushed, and every message of a
// year is kept.
func TestTimesAreBounded(t *testing.T) {
	in := newTimed()
	var paths []protocol.Path
	for n := range maxTimed + 5 {
		paths = append(paths, pathAt(t, n))
	}
	in.begin(paths, time.Unix(1, 0))
	if len(in.all) != maxTimed {
		t.Errorf("%d messages are timed, want %d", len(in.all), maxTimed)
	}
	if took := in.reached(paths[:5], recorded, time.Unix(2, 0)); took != nil {
		t.Errorf("the oldest are timed still: %v", took)
	}
}

// It prevents: the first dead letter of an agent wakes nobody, because a series that begins at 1 has
// not increased.
func TestCountsOfAnAgentBeginAtZero(t *testing.T) {
	m := New("test", &still{snapshot: Snapshot{Agents: []Agent{{Name: "fresh"}}}}, "timed-out")
	want := `
# HELP parley_agent_dead_letters_total Messages that agents were given up for, their sender told: dead letters.
# TYPE parley_agent_dead_letters_total counter
parley_agent_dead_letters_total{agent="fresh"} 0
# HELP parley_agent_runs_total Commands of agents that ended, by outcome: answered, or why there was no answer.
# TYPE parley_agent_runs_total counter
parley_agent_runs_total{agent="fresh",outcome="answered"} 0
parley_agent_runs_total{agent="fresh",outcome="timed-out"} 0
`
	if err := testutil.GatherAndCompare(m.registry, strings.NewReader(want), "parley_agent_dead_letters_total", "parley_agent_runs_total"); err != nil {
		t.Error(err)
	}
}

// TestAgentsThatAreGone prevents: the counts of each agent that was ever served stay.
func TestAgentsThatAreGone(t *testing.T) {
	s := &still{snapshot: Snapshot{Agents: []Agent{{Name: "stays"}, {Name: "goes"}}}}
	m := New("test", s)
	for _, agent := range []protocol.Name{"stays", "goes"} {
		m.Ran(agent, Answered, time.Second)
		m.Ran(agent, "timed-out", time.Second)
		m.Count(agent, Retried)
		m.Count(agent, GaveUp)
		m.Count(agent, Canceled)
		m.Count(agent, Stopped)
		m.Count(agent, Held, OfAgent)
	}
	if got := agentsIn(t, m); !slices.Equal(got, []string{"goes", "stays"}) {
		t.Fatalf("agents %v", got)
	}
	s.snapshot.Agents = s.snapshot.Agents[:1]
	if got := agentsIn(t, m); !slices.Equal(got, []string{"stays"}) {
		t.Errorf("agents %v", got)
	}
}

// agentsIn returns the agents that any metric names.
func agentsIn(t *testing.T, m *Metrics) (all []string) {
	t.Helper()
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, one := range f.GetMetric() {
			for _, l := range one.GetLabel() {
				if l.GetName() == "agent" {
					all = append(all, l.GetValue())
				}
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// TestOff checks that a node without metrics counts nothing.
func TestOff(t *testing.T) {
	var m *Metrics
	m.Stored([]protocol.Path{pathAt(t, 1)}, Own)
	m.Heard(nil, "white")
	m.Recorded(nil)
	m.Pushed(nil)
	m.Ran("mawjs", Answered, time.Second)
	m.Count("mawjs", Retried)
	m.Count("mawjs", GaveUp)
	m.Count("mawjs", Canceled)
	m.Count("mawjs", Stopped)
	m.Count("mawjs", Held, OfAgent)
}
