package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Bounds of what is shown of the messages that were sent because of a message, if no number is
// given. If two agents go on writing to each other, a trace would have hundreds of lines.
const (
	shownSent  = 20 // messages
	shownDepth = 6  // levels of the tree
)

// tracedMessage is a message of a trace, with those that were sent because of it.
type tracedMessage struct {
	path  protocol.Path
	depth int
	steps []control.TraceStep
	sent  []*tracedMessage
	more  int // how many messages below this one are not in the trace
	shown bool
}

func treeOf(steps []control.TraceStep) *tracedMessage {
	root := &tracedMessage{}
	last, of := []*tracedMessage{root}, map[protocol.Path]*tracedMessage{} // last: by depth
	for _, s := range steps {
		m := of[s.Path]
		switch {
		case m != nil:
		case s.Depth == 0:
			m = root
			m.path = s.Path
		default:
			m = &tracedMessage{path: s.Path, depth: s.Depth}
			last = last[:min(len(last), s.Depth)]
			above := last[len(last)-1]
			above.sent, last = append(above.sent, m), append(last, m)
		}
		if of[s.Path] = m; s.Step != control.TraceMore {
			m.steps = append(m.steps, s)
		} else if n, err := strconv.Atoi(s.Text); err == nil {
			m.more += n
		}
	}
	return root
}

// each calls `visit` with the messages that were sent because of this one.
func (m *tracedMessage) each(visit func(*tracedMessage)) {
	for _, s := range m.sent {
		visit(s)
		s.each(visit)
	}
}

// showSent shows the messages that were sent because of this one: at most `most` of them, the
// nearest first, and not deeper than shownDepth. If `most` is 0, it shows all.
func (m *tracedMessage) showSent(lines *traceLines, most int) {
	var all []*tracedMessage
	m.each(func(s *tracedMessage) { all = append(all, s) })
	if len(all) == 0 && m.more == 0 {
		return
	}
	lines.show(control.TraceStep{}, "sent because of it:", false)
	slices.SortStableFunc(all, func(a, b *tracedMessage) int { return cmp.Compare(a.depth, b.depth) })
	for i, s := range all {
		s.shown = most == 0 || i < most && s.depth <= shownDepth
	}
	m.showBranch(lines)
}

func (m *tracedMessage) showBranch(lines *traceLines) {
	hidden := m.more
	for _, s := range m.sent {
		if !s.shown {
			hidden += 1 + s.more
			s.each(func(below *tracedMessage) { hidden += 1 + below.more })
			continue
		}
		first := s.steps[0]
		text, failed := s.standing(lines)
		lines.show(first, sentText(lines.v, first)+" · "+text, failed)
		s.showBranch(lines)
	}
	if hidden == 0 {
		return
	}
	see := "trace " + lines.v.ID(m.path)
	switch {
	case m.depth == 0 && hidden > m.more:
		see += " -n 0"
	case m.depth == 0: // the trace itself has no more of it
		see = "thread " + lines.v.ID(m.path)
	}
	lines.showCommand(m.depth+1, fmt.Sprintf("… %d more below: %s", hidden, lines.v.Command("parley "+see)))
}

func sentText(v cli.View, s control.TraceStep) string {
	if s.Step != control.TraceSent {
		return v.ID(s.Path)
	}
	text := fmt.Sprintf("%s %s → %s", v.ID(s.Path), s.From, strings.Join(s.To, ", "))
	if s.Act != protocol.ActHey {
		text += fmt.Sprintf(" [%s]", s.Act)
	}
	return text
}

// standing says what has become of a message with its addressees, and whether that is a failure.
func (m *tracedMessage) standing(lines *traceLines) (text string, failed bool) {
	var agents []string
	words, bad := map[string]string{}, map[string]bool{}
	for _, s := range m.steps {
		word := ""
		switch s.Step {
		case control.TraceAnswered:
			word = "answered by " + s.Agent
		case control.TraceFailed:
			word = "given up: " + s.Text
		case control.TraceRead:
			if word = words[s.Agent]; word == "" {
				word = "read by " + s.Agent
			}
		case control.TraceRetried, control.TraceDropped, protocol.TraceWaits, protocol.TraceAtWork, protocol.TraceStopped:
			word = StepText(lines.v, s)
		default:
			continue
		}
		if words[s.Agent] == "" {
			agents = append(agents, s.Agent)
		}
		words[s.Agent] = word
		bad[s.Agent] = s.Step == control.TraceFailed || bad[s.Agent] && s.Step == control.TraceRead
	}
	if len(agents) == 0 {
		return "not read yet", false
	}
	for i, agent := range agents {
		agents[i], failed = words[agent], failed || bad[agent]
	}
	return strings.Join(agents, ", "), failed
}
