package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/parleyfleet/parley/protocol"
)

// Way is how a message came to be stored on this host.
type Way string

// The ways of messages.
const (
	Own     Way = "own"   // it was written here
	ByBus   Way = "bus"   // another host said it on the bus
	ByGit   Way = "git"   // a fetch brought it
	ByIssue Way = "issue" // it was read in a comment on an issue
)

// Answered is the outcome of a run that gave an answer. Each other outcome is one word that says
// why there is no answer.
const Answered = "answered"

// Metrics are the counts of one node. Its methods may be called concurrently. They call no other
// part, and do nothing on a nil *Metrics.
type Metrics struct {
	source   Source
	registry *prometheus.Registry
	timed    *timed
	outcomes []string // of runs

	stored   *prometheus.CounterVec
	heard    *prometheus.CounterVec
	recorded prometheus.Counter
	pushed   prometheus.Counter
	took     *prometheus.HistogramVec
	runs     *prometheus.CounterVec
	runTook  *prometheus.HistogramVec
	fates    map[Fate]*prometheus.CounterVec

	mu     sync.Mutex             // guards what follows
	agents map[protocol.Name]bool // agents that have counts
}

// New makes the metrics of a node whose program has the given version. `failures` are the words that
// say why a run has no answer.
func New(version string, s Source, failures ...string) *Metrics {
	m := &Metrics{
		source: s, outcomes: append([]string{Answered}, failures...), registry: prometheus.NewPedanticRegistry(), timed: newTimed(), agents: map[protocol.Name]bool{},
		stored: counters("parley_messages_stored_total", "Messages and receipts that were stored here, by the way that they came: own, bus, git or issue.", "way"),
		heard:  counters("parley_messages_heard_total", "Messages and receipts that another host said it has stored, by that host.", "host"),
		recorded: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parley_messages_recorded_total", Help: "Messages and receipts that were committed here."}),
		pushed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parley_messages_pushed_total", Help: "Messages and receipts of which this host learned that the remote has them."}),
		took: times("parley_message_stage_seconds", "Time from storing a message of this host until it was heard by another host, recorded, pushed.", "stage",
			.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800),
		runs: counters("parley_agent_runs_total", "Commands of agents that ended, by outcome: answered, or why there was no answer.", "agent", "outcome"),
		runTook: times("parley_agent_run_seconds", "How long commands of agents took.", "agent",
			.01, .05, .1, .5, 1, 5, 15, 60, 300, 900, 3600),
		fates: map[Fate]*prometheus.CounterVec{
			Retried:  counters("parley_agent_retries_total", "Attempts of agents' commands that failed and after which another one is due.", "agent"),
			GaveUp:   counters("parley_agent_dead_letters_total", "Messages that agents were given up for, their sender told: dead letters.", "agent"),
			Canceled: counters("parley_agent_canceled_messages_total", "Messages for which an agent's work was canceled, waiting or running.", "agent"),
			Stopped:  counters("parley_agent_conversations_stopped_total", "Messages for which no command was run because agents had answered each other max_hops times.", "agent"),
			Held:     counters("parley_agent_messages_held_total", "Times that a message had to wait because agents had caused too many runs, by the budget: agent (max_runs) or conversation (max_conversation_runs).", "agent", "budget"),
		},
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "parley_build_info", Help: "Always 1; the label is the version of the program.", ConstLabels: prometheus.Labels{"version": version}})
	info.Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.stored, m.heard, m.recorded, m.pushed, m.took, look{m, ofNode(), ofAgents(), ofHosts()})
	return m
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func times(name, help, label string, buckets ...float64) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, []string{label})
}

// Stored counts messages that were stored here.
func (m *Metrics) Stored(paths []protocol.Path, by Way) {
	if m == nil {
		return
	}
	m.stored.WithLabelValues(string(by)).Add(float64(len(paths)))
	if by == Own {
		m.timed.begin(paths, time.Now())
	}
}

// Heard counts messages that another host says it has stored.
func (m *Metrics) Heard(paths []protocol.Path, host protocol.Name) {
	if m == nil {
		return
	}
	m.heard.WithLabelValues(host.String()).Add(float64(len(paths)))
	m.observe(paths, heard)
}

// Recorded counts messages that were committed.
func (m *Metrics) Recorded(paths []protocol.Path) {
	if m == nil {
		return
	}
	m.recorded.Add(float64(len(paths)))
	m.observe(paths, recorded)
}

// Pushed counts messages that the remote has.
func (m *Metrics) Pushed(paths []protocol.Path) {
	if m == nil {
		return
	}
	m.pushed.Add(float64(len(paths)))
	m.observe(paths, pushed)
}

func (m *Metrics) observe(paths []protocol.Path, s stage) {
	to := m.took.WithLabelValues(s.String())
	for _, took := range m.timed.reached(paths, s, time.Now()) {
		to.Observe(took.Seconds())
	}
}

// Ran counts a command of an agent that ended. `outcome` is Answered, or a word that says why there
// is no answer.
func (m *Metrics) Ran(agent protocol.Name, outcome string, took time.Duration) {
	if m == nil {
		return
	}
	m.counts(agent)
	m.runs.WithLabelValues(agent.String(), outcome).Inc()
	m.runTook.WithLabelValues(agent.String()).Observe(took.Seconds())
}

// Fate is what becomes of a message that an agent does not answer now.
type Fate string

// The fates.
const (
	Retried  Fate = "retried"  // an attempt failed, and another one follows
	GaveUp   Fate = "gave up"  // the agent will not answer it: a dead letter
	Canceled Fate = "canceled" // somebody wants no more work on it
	Stopped  Fate = "stopped"  // the agent was not run, because agents had answered each other too often
	Held     Fate = "held"     // it has to wait because agents have caused too many runs; the label is the bound
)

// The bounds on the runs that agents cause: the label of Held.
const (
	OfAgent        = "agent"        // the runs of one agent within an hour
	OfConversation = "conversation" // the runs in one conversation since a human spoke in it
)

// Count counts a message by its fate.
func (m *Metrics) Count(agent protocol.Name, fate Fate, labels ...string) {
	if m == nil {
		return
	}
	m.counts(agent)
	m.fates[fate].WithLabelValues(append([]string{agent.String()}, labels...)...).Inc()
}

func (m *Metrics) counts(agent protocol.Name) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.agents[agent] = true
}

func (m *Metrics) ofEach() []agentsCounts {
	all := []agentsCounts{m.runs, m.runTook}
	for _, of := range m.fates {
		all = append(all, of)
	}
	return all
}

type agentsCounts interface {
	prometheus.Collector
	DeletePartialMatch(prometheus.Labels) int
}

// keepTo begins the counts of each agent that is served at 0. A count that begins at 1 has not
// increased, as Prometheus sees it: the first dead letter of an agent would alarm nobody. It drops
// the counts of agents that are no longer served.
func (m *Metrics) keepTo(served []Agent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	is := make(map[protocol.Name]bool, len(served))
	for _, a := range served {
		is[a.Name], m.agents[a.Name] = true, true
		for _, outcome := range m.outcomes {
			m.runs.WithLabelValues(a.Name.String(), outcome)
		}
		for fate, of := range m.fates {
			if fate != Held {
				of.WithLabelValues(a.Name.String())
			}
		}
		for _, by := range []string{OfAgent, OfConversation} {
			m.fates[Held].WithLabelValues(a.Name.String(), by)
		}
	}
	for agent := range m.agents {
		if is[agent] {
			continue
		}
		delete(m.agents, agent)
		for _, of := range m.ofEach() {
			of.DeletePartialMatch(prometheus.Labels{"agent": agent.String()})
		}
	}
}
