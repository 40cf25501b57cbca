package inquiries

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/protocol"
)

// Call is something that is to be done now. Do is the act that says that it was done.
type Call struct {
	Do          protocol.Act
	By          protocol.Address // who does it: the coordinator, or a member
	Gate        string           // the gate, if one is to be asked
	Perspective string
	Attempt     int
	Tension     string
	Number      int // number of the message in a dialogue
}

// Next is what is to be done now. It depends neither on time, nor on the members' texts, nor on
// which hosts are reachable. While a member works, there is nothing to do but to wait for its
// signal. At a gate, there is nothing to do but to wait for a human; members go on.
func Next(v Inquiry) []Call {
	if v.Path.IsZero() || v.State.Over() || !v.Contested.IsZero() {
		return nil
	}
	if gate, perspective := v.Due(); gate != "" {
		return []Call{{Do: protocol.ActFrameGate, By: v.Coordinator, Gate: gate, Perspective: perspective}}
	}
	if v.Open() != nil && v.State != Await && v.State != Dialogue { // members that work go on working
		return nil
	}
	if act := v.State.call(); act != "" {
		return []Call{{Do: act, By: v.Coordinator}}
	}
	switch v.State {
	case Spawn, Await, Collect:
		return v.nextOfTeam()
	case Dialogue:
		calls := v.nextOfTeam() // members that speak elsewhere from now on
		for _, t := range v.now() {
			calls = append(calls, slices.DeleteFunc(v.nextOf(t), func(c Call) bool { return c.By != v.Coordinator && v.Member(c.Perspective).Given.IsZero() })...)
		}
		return calls
	case Shutdown:
		return []Call{{Do: v.End.next(), By: v.Coordinator}}
	}
	return nil
}

// call is the act that the coordinator does in a state that needs one act of it; "" in other
// states.
func (s State) call() protocol.Act {
	return map[State]protocol.Act{
		Opened: protocol.ActFrameBrief, Gather: protocol.ActFrameContext, Propose: protocol.ActFrameProposals, Established: protocol.ActFrameEstablished,
		Map: protocol.ActFrameMap, Preview: protocol.ActFramePreview, Detect: protocol.ActFrameDetection, Outcomes: protocol.ActFrameOutcomes,
		Synthesize: protocol.ActFrameSynthesis, Trace: protocol.ActFrameTrace,
	}[s]
}

// End is how far the end of an inquiry is: the team is told, it ends, and findings are kept.
type End struct {
	Preserve        []string // the categories that the human chose
	wraps           bool     // it is a wrap-up and no withdrawal
	Told, Disbanded bool     // the team was told to end; it has ended
	Findings        protocol.InquiryFindings
	At              time.Time // when the inquiry was over
	By              string    // the human who ended it at once
}

func (e End) next() protocol.Act {
	switch {
	case !e.Told:
		return protocol.ActFrameShutdown
	case !e.Disbanded:
		return protocol.ActFrameTeamEnd
	}
	return protocol.ActFrameFindings
}

// nextOfTeam is what is to be done for members, and by them.
func (v Inquiry) nextOfTeam() []Call {
	var calls []Call
	for _, m := range v.Standing() {
		c := Call{By: v.Coordinator, Perspective: m.Perspective, Attempt: m.Attempt}
		switch {
		case m.Given.IsZero():
			c.Do = protocol.ActFrameStart
		case !m.Tasked:
			c.Do = protocol.ActFrameTask
		case m.Signal == nil && v.State == Spawn:
			continue // all begin together, once each has its task
		case m.Signal == nil:
			c.Do, c.By = protocol.ActFrameSignal, m.Agent
		case v.State == Collect && m.Revealed.IsZero():
			c.Do, c.By = protocol.ActFrameReveal, m.Agent
		default:
			continue
		}
		calls = append(calls, c)
	}
	return calls
}

func (v Inquiry) nextOf(t *inquiry.Tension) []Call {
	by := func(act protocol.Act, perspective string) Call {
		c := Call{Do: act, By: v.Coordinator, Perspective: perspective, Tension: t.ID}
		if act != protocol.ActFrameTopic && act != protocol.ActFrameFollowUp {
			c.By = v.Member(perspective).Agent
		}
		return c
	}
	switch {
	case t.Topic.IsZero() && !v.ready(t):
		return nil
	case t.Topic.IsZero():
		return []Call{by(protocol.ActFrameTopic, "")}
	case !t.Talked():
		c := by(protocol.ActFrameExchange, t.Turn())
		c.Number = len(t.Messages) + 1
		return []Call{c}
	}
	var calls []Call
	for _, p := range t.Peers {
		switch {
		case !slices.ContainsFunc(t.Reports, func(r protocol.InquiryReport) bool { return r.Perspective == p }):
			calls = append(calls, by(protocol.ActFrameReport, p))
		case len(t.Reports) < 2 || !slices.Contains(t.Divergent(), p):
		case t.Question(p) == "":
			calls = append(calls, by(protocol.ActFrameFollowUp, p))
		case !slices.ContainsFunc(t.Answers, func(s inquiry.Said) bool { return s.Perspective == p }):
			calls = append(calls, by(protocol.ActFrameFollowAnswer, p))
		}
	}
	return calls
}
