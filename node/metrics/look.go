package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// value is a metric that is looked up in what the source says.
type value[T any] struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	of   func(T) (v float64, known bool)
}

func (v value[T]) tell(to chan<- prometheus.Metric, of T, labels ...string) {
	if figure, known := v.of(of); known {
		to <- prometheus.MustNewConstMetric(v.desc, v.kind, figure, labels...)
	}
}

func gauge[T any](name, help string, of func(T) float64, labels ...string) value[T] {
	return value[T]{prometheus.NewDesc(name, help, labels, nil), prometheus.GaugeValue, always(of)}
}

func count[T any](name, help string, of func(T) float64) value[T] {
	return value[T]{prometheus.NewDesc(name, help, nil, nil), prometheus.CounterValue, always(of)}
}

// moment is a gauge with a time. It is left out while the time is zero.
func moment(name, help string, of func(Snapshot) time.Time) value[Snapshot] {
	return value[Snapshot]{prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, func(s Snapshot) (float64, bool) {
		at := of(s)
		return float64(at.UnixMilli()) / 1000, !at.IsZero()
	}}
}

func always[T any](of func(T) float64) func(T) (float64, bool) {
	return func(t T) (float64, bool) { return of(t), true }
}

// where leaves a metric out unless `so` returns true.
func (v value[T]) where(so func(T) bool) value[T] {
	of := v.of
	v.of = func(t T) (float64, bool) {
		figure, known := of(t)
		return figure, known && so(t)
	}
	return v
}

func bit(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func ofNode() []value[Snapshot] {
	hasRemote := func(s Snapshot) bool { return s.Record.HasRemote }
	return []value[Snapshot]{
		gauge("parley_messages", "Messages and receipts of the record that are here.", func(s Snapshot) float64 { return float64(s.Messages) }),
		count("parley_messages_refused_total", "Files and messages that were refused: no messages, or wrongly signed.", func(s Snapshot) float64 { return float64(s.Refused) }),
		gauge("parley_warnings", "Warnings that parley status shows now.", func(s Snapshot) float64 { return float64(s.Warnings) }),
		gauge("parley_agents_halted", "1 while no agent is run; /healthz says why.", func(s Snapshot) float64 { return bit(s.Halted) }),

		gauge("parley_record_unrecorded_messages", "Messages that are stored in the journal and in no commit yet.", func(s Snapshot) float64 { return float64(s.Record.Unrecorded) }),
		gauge("parley_record_unpushed_messages", "Messages that are committed and that the remote lacks.", func(s Snapshot) float64 { return float64(s.Record.Unpushed) }),
		gauge("parley_record_lag_seconds", "Since when the oldest message waits to be committed or pushed; 0 where none does.", func(s Snapshot) float64 { return s.Record.Lag.Seconds() }),
		gauge("parley_record_store_failing", "1 while nothing new can be stored, such as on a full disk.", func(s Snapshot) float64 { return bit(s.Record.StoreFails) }),
		gauge("parley_record_commit_failing", "1 while what is stored cannot be committed and stays in the journal.", func(s Snapshot) float64 { return bit(s.Record.CommitFails) }),
		gauge("parley_record_remote_failing", "1 while the remote cannot be fetched from or pushed to; absent without a remote.", func(s Snapshot) float64 { return bit(s.Record.RemoteFails) }).where(hasRemote),
		count("parley_record_pushes_total", "Pushes that the remote took; absent without a remote.", func(s Snapshot) float64 { return float64(s.Record.Pushes) }).where(hasRemote),
		count("parley_record_pushes_rejected_total", "Pushes that came after another host's and were made anew; absent without a remote.", func(s Snapshot) float64 { return float64(s.Record.Rejected) }).where(hasRemote),
		moment("parley_record_last_fetch_timestamp_seconds", "When the remote was last fetched from; absent before the first time.", func(s Snapshot) time.Time { return s.Record.LastFetch }),
		moment("parley_record_last_push_timestamp_seconds", "When the remote last took a push; absent before the first time.", func(s Snapshot) time.Time { return s.Record.LastPush }),
		gauge("parley_record_journal_bytes", "Size of the journal.", func(s Snapshot) float64 { return float64(s.Record.JournalBytes) }),
		gauge("parley_record_packs", "Packs of record.git.", func(s Snapshot) float64 { return float64(s.Record.Packs) }),

		gauge("parley_commands_running", "Commands of agents that run now.", func(s Snapshot) float64 { return float64(s.Commands.Running) }),
		gauge("parley_commands_limit", "Commands of agents that may run at once: max_commands.", func(s Snapshot) float64 { return float64(s.Commands.Most) }),
		gauge("parley_commands_waiting_agents", "Agents with messages for which no more commands may run now.", func(s Snapshot) float64 { return float64(s.Commands.Waiting) }),

		gauge("parley_bus_links", "Links to other servers that are there or should be.", func(s Snapshot) float64 { return float64(s.Bus.Links) }),
		gauge("parley_bus_links_up", "Links to other servers that work.", func(s Snapshot) float64 { return float64(s.Bus.LinksUp) }),
		count("parley_bus_dropped_total", "Messages and letters that were lost because they came faster than they were handled; git brings the messages.", func(s Snapshot) float64 { return float64(s.Bus.Dropped) }),
		count("parley_bus_malformed_total", "What came on the subjects of the fleet and could not be read.", func(s Snapshot) float64 { return float64(s.Bus.Malformed) }),
		count("parley_bus_refused_total", "Letters, questions and answers whose signature or key does not prove their sender.", func(s Snapshot) float64 { return float64(s.Bus.Refused) }),
		gauge("parley_bus_held_messages", "Messages that wait for the key of their host.", func(s Snapshot) float64 { return float64(s.Bus.Held) }),
		count("parley_bus_held_dropped_total", "Messages without a known key that were too many to hold; git brings them.", func(s Snapshot) float64 { return float64(s.Bus.HeldDropped) }),
		gauge("parley_gaps", "Messages that are missing in the chains of hosts and were asked for in vain so far.", func(s Snapshot) float64 { return float64(s.Bus.Gaps) }),
		count("parley_gaps_closed_total", "Gaps in the chains of hosts that were closed.", func(s Snapshot) float64 { return float64(s.Bus.GapsClosed) }),
		count("parley_gaps_left_total", "Gaps that no live host could close, left to git.", func(s Snapshot) float64 { return float64(s.Bus.GapsLeft) }),
	}
}

func ofAgents() []value[Agent] {
	return []value[Agent]{
		gauge("parley_agent_queued_messages", "Messages that wait for the agent, 1000 at most where it asks for its mail itself.", func(a Agent) float64 { return float64(a.Queued) }, "agent"),
		gauge("parley_agent_oldest_queued_seconds", "Age of the first message that waits for the agent, by its date; 0 where none does.", func(a Agent) float64 { return a.Oldest.Seconds() }, "agent"),
		gauge("parley_agent_running_messages", "Messages that the agent handles now.", func(a Agent) float64 { return float64(a.Running) }, "agent"),
		gauge("parley_agent_paused", "1 while the agent is paused.", func(a Agent) float64 { return bit(a.Paused) }, "agent"),
	}
}

func ofHosts() []value[Host] {
	return []value[Host]{
		gauge("parley_host_live", "1 while another host of the fleet is heard on the bus.", func(h Host) float64 { return bit(h.Live) }, "host"),
		gauge("parley_host_linked", "1 while a link joins that host and this one without another one between them.", func(h Host) float64 { return bit(h.Linked) }, "host"),
		gauge("parley_host_round_trip_seconds", "Round trip of that link; absent while it is not known.", func(h Host) float64 { return h.RTT.Seconds() }, "host").
			where(func(h Host) bool { return h.RTT > 0 }),
	}
}

// look collects what the source says. It asks the source once for all metrics.
type look struct {
	metrics *Metrics
	node    []value[Snapshot]
	agents  []value[Agent]
	hosts   []value[Host]
}

// Describe implements prometheus.Collector.
func (l look) Describe(to chan<- *prometheus.Desc) {
	for _, v := range l.node {
		to <- v.desc
	}
	for _, v := range l.agents {
		to <- v.desc
	}
	for _, v := range l.hosts {
		to <- v.desc
	}
	for _, of := range l.metrics.ofEach() {
		of.Describe(to)
	}
}

// Collect implements prometheus.Collector.
func (l look) Collect(to chan<- prometheus.Metric) {
	s := l.metrics.source.Look()
	l.metrics.keepTo(s.Agents)
	for _, of := range l.metrics.ofEach() {
		of.Collect(to)
	}
	for _, v := range l.node {
		v.tell(to, s)
	}
	for _, a := range s.Agents {
		for _, v := range l.agents {
			v.tell(to, a, a.Name.String())
		}
	}
	for _, h := range s.Hosts {
		for _, v := range l.hosts {
			v.tell(to, h, h.Alias.String())
		}
	}
}
