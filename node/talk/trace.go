package talk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/hosts"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// mostTraced is for how many messages a trace tells the steps. So a host is asked about them in
	// four questions at most, one after the other.
	mostTraced = 4 * protocol.MaxTraced
	// mostCounted is how many further messages that were sent are counted: the state is held
	// meanwhile.
	mostCounted = 1000
)

// tracer tells which steps messages have taken: what the record says, what this host knows, and
// what other hosts answer when they are asked.
type tracer struct {
	*tools
}

// Trace answers control.Trace.
func (t *tracer) Trace(ctx context.Context, r control.TraceRequest) ([]control.TraceStep, error) {
	f, err := t.views.find(r.Path)
	if err != nil {
		return nil, err
	}
	return t.traced(ctx, f.item, r.Here).lines(), nil
}

// traced is a message with its steps, and with what was sent because of it. With `here`, other hosts
// are not asked.
func (t *tracer) traced(ctx context.Context, it *fleet.Item, here bool) *traced {
	tree := t.tree(it)
	of := map[protocol.Path]*traced{}
	paths := []protocol.Path{}
	tree.each(func(m *traced) {
		of[m.it.Path] = m
		paths = append(paths, m.it.Path)
	})
	tell := func(host protocol.Name, traces []protocol.Trace) {
		for _, trace := range traces {
			if m := of[trace.Path]; m != nil { // a host may answer about more messages than it was asked about
				m.add(host, trace.Steps)
			}
		}
	}
	tell(t.Config.Alias, t.known(paths))
	t.addPlace(tree)
	if !here {
		t.askAll(ctx, paths, tell, func(silent control.TraceStep) {
			silent.Path = tree.it.Path
			tree.steps = append(tree.steps, silent)
		})
	}
	return tree
}

// addPlace says how far the message has come in git here, if nobody noted when that happened.
func (t *tracer) addPlace(m *traced) {
	steps := map[gitsync.Place]string{gitsync.Recorded: protocol.TraceRecorded, gitsync.Pushed: protocol.TracePushed}
	step, some := steps[t.Record.Place(m.it.Path)]
	noted := slices.ContainsFunc(m.steps, func(s control.TraceStep) bool { return s.Host == t.Config.Alias && s.Step == step })
	if some && !noted {
		m.steps = append(m.steps, control.TraceStep{Host: t.Config.Alias, Path: m.it.Path, Step: step})
	}
}

// askAll asks all hosts of the fleet that are there what they know of messages. `tell` is called
// with what a host answers, and `silent` with the reason why a host did not answer.
func (t *tracer) askAll(ctx context.Context, paths []protocol.Path, tell func(protocol.Name, []protocol.Trace), silent func(control.TraceStep)) {
	ctx, cancel := context.WithTimeout(ctx, presence.AskWait)
	defer cancel()
	var mu sync.Mutex // held while tell or silent is called
	var all sync.WaitGroup
	for _, h := range t.Hosts.Known(false) {
		switch h.State {
		case control.HostHere:
		case control.HostLive:
			all.Go(func() { // ends with its answer, or ctx
				traces, err := t.ask(ctx, h.Alias, paths)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					silent(control.TraceStep{Host: h.Alias, Step: control.TraceNoAnswer, Text: control.AsError(writing.AsError(hosts.NoAnswer(h.Alias, presence.AskWait, err))).Message})
				}
				tell(h.Alias, traces)
			})
		default:
			mu.Lock()
			silent(control.TraceStep{Host: h.Alias, Step: control.TraceNotAsked, By: string(h.State)})
			mu.Unlock()
		}
	}
	all.Wait()
}

func (t *tracer) ask(ctx context.Context, host protocol.Name, paths []protocol.Path) (traces []protocol.Trace, err error) {
	for some := range slices.Chunk(paths, protocol.MaxTraced) {
		question, err := protocol.EncodeTraceQuestion(some)
		if err != nil {
			return traces, err
		}
		answer, _, err := t.Asker.AskAbout(ctx, host, protocol.AskTrace, question)
		if err != nil {
			return traces, err
		}
		more, err := protocol.DecodeTraces(answer)
		if err != nil {
			return traces, err
		}
		traces = append(traces, more...)
	}
	return traces, nil
}

// Answer answers the question of another host.
func (t *tracer) Answer(_ context.Context, _ protocol.Name, question []byte) ([]byte, error) {
	paths, err := protocol.DecodeTraceQuestion(question)
	if err != nil {
		return nil, err
	}
	return protocol.EncodeTraces(t.known(paths))
}

func (t *tracer) known(paths []protocol.Path) []protocol.Trace {
	traces := make([]protocol.Trace, len(paths))
	worked := t.Worked(paths)
	for i, p := range paths {
		traces[i] = protocol.Trace{Path: p, Steps: slices.Concat(t.Trail.Of(p), worked[i], t.waits(p), t.Hinders(p))}
	}
	return traces
}

// waits are steps of a message for which sessions of this host wait for something, and whether this
// host hides what it redacts.
func (t *tracer) waits(p protocol.Path) (steps []protocol.TraceStep) {
	var f facts
	t.Folded(func(s *fleet.State) {
		if it, there := s.Ledger.Item(p); there {
			f = factsOf(s, it)
			if hides(s, it) {
				steps = append(steps, protocol.TraceStep{Step: protocol.TraceHides})
			}
		}
	})
	for i, host := range f.at {
		if host != t.Config.Alias {
			continue
		}
		if w := t.views.waits(f.item, host, f.progress[i]); w != nil {
			steps = append(steps, protocol.TraceStep{Step: protocol.TraceWaits, Agent: protocol.Name(f.progress[i].Name), By: w.For, Next: w.Time})
		}
	}
	return steps
}

// traced is a message whose steps are told.
type traced struct {
	it    *fleet.Item
	depth int
	steps []control.TraceStep
	sent  []*traced // sent because of the message

	beyond []*fleet.Item // sent because of it, and not traced
	more   int           // how many those are, together with what was sent because of them
}

// each calls `visit` with the message and with all that were sent because of it.
func (m *traced) each(visit func(*traced)) {
	visit(m)
	for _, s := range m.sent {
		s.each(visit)
	}
}

// oursToTell are the steps that this node tells itself: they follow from the record, or from which
// host answers. They are ignored in the answers of other hosts.
var oursToTell = map[string]bool{
	control.TraceWritten: true, control.TraceSent: true, control.TraceBecause: true, control.TraceAnswers: true, control.TraceRead: true,
	control.TraceAnswered: true, control.TraceFailed: true, control.TraceRetried: true, control.TraceDropped: true, control.TraceMore: true,
	control.TraceNotAsked: true, control.TraceNoAnswer: true,
}

func (m *traced) add(host protocol.Name, steps []protocol.TraceStep) {
	for _, s := range steps {
		if oursToTell[s.Step] {
			continue
		}
		m.steps = append(m.steps, control.TraceStep{
			Time: s.Time, Host: host, Path: m.it.Path, Depth: m.depth, Step: s.Step, Agent: s.Agent.String(), By: s.By, Retry: s.Retry, Attempt: s.Attempt,
			Tier: s.Tier, Failure: s.Failure, Exit: s.Exit, Ran: control.Seconds(s.Ran), Bytes: s.Bytes, Next: s.Next, Text: s.Text,
		})
	}
}

// tree returns a message with the messages that were sent because of it, and with what the record
// says of each. If there are too many, it takes the nearest ones.
func (t *tracer) tree(it *fleet.Item) *traced {
	root := &traced{it: it}
	t.Folded(func(s *fleet.State) {
		seen := map[protocol.Path]bool{it.Path: true}
		for open := []*traced{root}; len(open) > 0; open = open[1:] {
			m := open[0]
			m.steps = m.recordedSteps(s)
			for _, sent := range s.Talk.Sent(m.it.Path) {
				switch {
				case seen[sent.Path]:
				case len(seen) == mostTraced:
					m.beyond = append(m.beyond, sent)
				default:
					seen[sent.Path] = true
					child := &traced{it: sent, depth: m.depth + 1}
					m.sent, open = append(m.sent, child), append(open, child)
				}
			}
		}
		root.each(func(m *traced) { m.more = countSent(s, m.beyond, seen) })
	})
	return root
}

// countSent is how many messages there are in `open`, together with those that were sent because of
// them. It does not count messages in `seen`, and stops at about mostCounted.
func countSent(s *fleet.State, open []*fleet.Item, seen map[protocol.Path]bool) (count int) {
	for ; len(open) > 0; open = open[1:] {
		p := open[0].Path
		if seen[p] || len(seen) >= mostTraced+mostCounted {
			continue
		}
		seen[p] = true
		count++
		open = append(open, s.Talk.Sent(p)...)
	}
	return count
}

// recordedSteps are the steps of a message that are in the record.
func (m *traced) recordedSteps(s *fleet.State) (steps []control.TraceStep) {
	add := func(it *fleet.Item, step control.TraceStep) {
		step.Path, step.Depth = m.it.Path, m.depth
		if it != nil {
			step.Time, step.Host = it.Timestamp, it.Host
		}
		steps = append(steps, step)
	}
	it := m.it
	written := control.TraceStep{Step: control.TraceWritten, From: it.From, To: it.Names(), Act: it.Act}
	asked, answers := it.AnsweredPath()
	if answers {
		add(nil, control.TraceStep{Step: control.TraceAnswers, With: asked.String()})
	}
	if m.depth > 0 {
		written.Step = control.TraceSent
	} else if cause, ok := it.CausePath(); ok && cause != asked {
		add(nil, control.TraceStep{Step: control.TraceBecause, With: cause.String()})
	}
	add(it, written)
	for _, r := range s.Talk.Receipts(it.Path) {
		add(r, control.TraceStep{Step: control.TraceRead, Agent: r.Author().Name, With: r.Path.String()})
	}
	failed := map[string]bool{}
	for _, a := range s.Talk.Answers(it.Path) {
		step := control.TraceStep{Step: control.TraceAnswered, Agent: a.Author().Name, With: a.Path.String()}
		if a.Act == protocol.ActFailed {
			step.Step = control.TraceFailed
			failed[step.Agent] = true
			f, err := protocol.Failed.Parse(a.Body)
			switch r, hidden := s.Redactions.Of(a); {
			case hidden:
				step.Attempt, step.Text = f.Attempts, r.String()
			case err == nil:
				step.Attempt, step.Text = f.Attempts, f.Problem
			default: // no dead letter: somebody canceled it
				first, _, _ := strings.Cut(a.Body, "\n")
				step.Text = strings.TrimPrefix(first, "FAILED | ")
			}
		}
		add(a, step)
	}
	for agent := range failed {
		run := s.Run(it.Path, agent)
		if w := run.Again; w != nil {
			said, _ := s.Ledger.Item(w.Path)
			add(said, control.TraceStep{Step: control.TraceRetried, Agent: agent, By: w.By, With: w.Path.String(), Retry: run.Retries, Text: w.Reason})
		}
		if w := run.Dropped; w != nil {
			said, _ := s.Ledger.Item(w.Path)
			add(said, control.TraceStep{Step: control.TraceDropped, Agent: agent, By: w.By, With: w.Path.String(), Text: w.Reason})
		}
	}
	return steps
}

// traceOrder is the order of steps that happened at the same moment.
var traceOrder = []string{
	control.TraceBecause, control.TraceAnswers, control.TraceWritten, control.TraceSent, protocol.TraceStored, protocol.TraceCame, protocol.TraceHeard,
	protocol.TraceRecorded, protocol.TracePushed, protocol.TraceQueued, protocol.TraceStopped, protocol.TraceWoken, control.TraceRetried, protocol.TraceStarted, protocol.TraceEnded,
	protocol.TraceAgain, control.TraceRead, control.TraceAnswered, control.TraceFailed, control.TraceDropped, protocol.TraceAtWork,
	protocol.TraceHides, protocol.TraceWaits, protocol.TraceHinders, control.TraceNotAsked, control.TraceNoAnswer,
}

// traceAt is the place of a step among the steps of its message. What led to the message comes
// first, then steps by their time, then steps without a time, and at last hosts that are silent.
// The record counts time in milliseconds. So what it says of a run comes after what was noted in
// the same millisecond.
func traceAt(s control.TraceStep) (rank int, at time.Time) {
	switch s.Step {
	case control.TraceBecause, control.TraceAnswers, control.TraceWritten, control.TraceSent:
		return 0, time.Time{}
	case control.TraceNotAsked, control.TraceNoAnswer:
		return 3, time.Time{}
	case control.TraceRead, control.TraceAnswered, control.TraceFailed:
		return 1, s.Time.Add(time.Millisecond - 1)
	}
	if s.Time.IsZero() {
		return 2, time.Time{}
	}
	return 1, s.Time
}

// lines are the steps of a message in their order, then those of the messages that were sent
// because of it, one message after the other.
func (m *traced) lines() []control.TraceStep {
	slices.SortStableFunc(m.steps, func(a, b control.TraceStep) int {
		rankA, atA := traceAt(a)
		rankB, atB := traceAt(b)
		return cmp.Or(cmp.Compare(rankA, rankB), atA.Compare(atB),
			cmp.Compare(slices.Index(traceOrder, a.Step), slices.Index(traceOrder, b.Step)), cmp.Compare(a.Host, b.Host))
	})
	lines := m.steps
	for _, sent := range m.sent {
		lines = append(lines, sent.lines()...)
	}
	if m.more > 0 {
		lines = append(lines, control.TraceStep{Path: m.it.Path, Depth: m.depth, Step: control.TraceMore, Text: fmt.Sprint(m.more)})
	}
	return lines
}
