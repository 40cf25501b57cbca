package fleet

import (
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// verified are the lines that do not hold of the inquiry, by its deeds alone.
func (q *asking) verified() (lines []string) {
	q.Helper()
	v, faults := inquiries.Verify(testRecord, deeds{q.state, affair.ID{Kind: inquiries.KindName, Name: q.channel.String()}}.After(affair.Position{}))
	if v.State != q.value().State {
		q.Errorf("who verifies it finds it in %s, and it is in %s", v.State, q.value().State)
	}
	for _, f := range faults {
		lines = append(lines, f.Line)
		if f.Why == "" || f.At.IsZero() {
			q.Errorf("nobody knows why or where %s does not hold", f.Line)
		}
	}
	return lines
}

// plant writes a deed that no rule is asked about, as somebody who has the host's key can.
func (q *asking) plant(host protocol.Name, channel protocol.ChannelID, act protocol.Act, body string, to ...protocol.Address) protocol.Path {
	q.Helper()
	if len(to) == 0 {
		to = []protocol.Address{{Name: "nat", Host: "a"}}
	}
	v := q.value()
	return q.say(q.wide[host], Draft{Channel: channel, Message: protocol.Message{From: host.String(), To: to, Type: protocol.TypeText, Act: act, Body: protocol.NormalBody(body), Re: protocol.Refer(channel, v.Last)}})
}

// planted is the words of the coordinator in an epoch, changed.
func planted[W any, P inquiries.Words[W]](q *asking, act protocol.WordAct[W], w W, change func(w P)) func() {
	return func() {
		q.Helper()
		P(&w).Say(protocol.FormHead{From: "m", At: q.at}, q.value().Epoch)
		change(&w)
		q.plant("a", q.channel, act.Act, act.Format(w))
	}
}

// Frame F3, F5, F12, F16, F20, F30, F31, F32, F36, F37, F42, F44, F46, F47, F48, F49, F50, F51, F52, F54, F60, F61, F67,
// F71, F74, F78, F80, F83: each violation that is planted into the record is found by its deeds alone,
// and an inquiry without one has none.
func TestPlantedViolationsAreFound(t *testing.T) {
	clean := newAsking(t)
	clean.tensions, clean.divided = true, true
	clean.inquire()
	clean.waits(inquiries.GateRoute)
	clean.yes(inquiries.WrapUp)
	clean.until("")
	clean.yes(inquiries.KeepAssessment)
	clean.waits(inquiries.WrappedUp)
	if lines := clean.verified(); lines != nil {
		t.Errorf("a good inquiry breaks %q", lines)
	}
	for _, c := range []struct {
		line  string
		state inquiries.State // in which it is planted
		do    func(q *asking)
	}{
		{"F5", inquiries.GateBrief, func(q *asking) {
			planted(q, protocol.GatherContext, protocol.InquiryContext{Digest: protocol.Hash(nil)}, func(*protocol.InquiryContext) {})()
		}},
		{"F67", inquiries.BriefDraft, func(q *asking) {
			g := protocol.InquiryGate{Gate: protocol.GateBrief, Questions: q.value().Questions(protocol.GateBrief)}
			planted(q, protocol.AskInquiry, g, func(g *protocol.InquiryGate) {
				g.Set, g.Text = protocol.InquirySet(g.Gate, g.Questions), "Confirm, please."
			})()
		}},
		{"F71", inquiries.BriefDraft, func(q *asking) {
			g := protocol.InquiryGate{Gate: protocol.GateBrief, Questions: q.value().Questions(protocol.GateBrief)[:1]}
			planted(q, protocol.AskInquiry, g, func(g *protocol.InquiryGate) { g.Set = protocol.InquirySet(g.Gate, g.Questions) })()
		}},
		{"F3", inquiries.Opened, func(q *asking) {
			planted(q, protocol.DraftBrief, protocol.InquiryBrief{Intent: "x", Deliverable: "TBD", Scope: "y", Mode: protocol.ModeInquire, Why: "z"}, func(*protocol.InquiryBrief) {})()
		}},
		{"F12", inquiries.Gather, func(q *asking) {
			planted(q, protocol.ProposePerspectives, q.proposals(q.value()), func(*protocol.InquiryProposals) {})()
		}},
		{"F16", inquiries.Propose, func(q *asking) {
			planted(q, protocol.ProposePerspectives, q.proposals(q.value()), func(w *protocol.InquiryProposals) { w.Perspectives[0].Name = "All of them" })()
		}},
		{"F20", inquiries.Propose, func(q *asking) {
			planted(q, protocol.ProposePerspectives, q.proposals(q.value()), func(w *protocol.InquiryProposals) { w.Perspectives = w.Perspectives[:1] })()
		}},
		{"F36", inquiries.Map, func(q *asking) {
			planted(q, protocol.MapAgents, q.mapping(q.value()), func(w *protocol.InquiryMapping) { w.Fits[0].Candidates[0].Key = "m@a" })()
		}},
		{"F30", inquiries.Spawn, func(q *asking) {
			q.plantStart(func(w *protocol.InquiryStart) { w.Prompt = protocol.Hash([]byte("with context")) })
		}},
		{"F31", inquiries.Spawn, func(q *asking) {
			q.plantStart(func(w *protocol.InquiryStart) { w.Question = protocol.Hash([]byte("another")) })
		}},
		{"F32", inquiries.Spawn, func(q *asking) { q.plantStart(func(w *protocol.InquiryStart) { w.Orientation = []string{"README"} }) }},
		{"F37", inquiries.Await, func(q *asking) {
			v := q.value() // a gate that holds, but is told to a member
			g := protocol.InquiryGate{Gate: protocol.GateLost, Perspective: v.Members[1].Perspective, Questions: v.Questions(protocol.GateLost)}
			g.Say(protocol.FormHead{From: "m", At: q.at}, v.Epoch)
			g.Set = protocol.InquirySet(g.Gate, g.Questions)
			q.plant("a", q.channel, protocol.ActFrameGate, protocol.AskInquiry.Format(g), v.Members[1].Agent)
		}},
		{"F42", inquiries.Await, func(q *asking) {
			r := protocol.InquiryReveal{InquiryWords: protocol.InquiryWords{Text: q.resultOf("Operations", 1)}, Perspective: "Operations", Attempt: 1}
			q.plant("b", q.channel, protocol.ActFrameReveal, protocol.RevealResult.Format(r))
		}},
		{"F42", inquiries.Collect, func(q *asking) {
			r := protocol.InquiryReveal{InquiryWords: protocol.InquiryWords{Text: "a better one"}, Perspective: "Operations", Attempt: 1}
			q.plant("b", q.channel, protocol.ActFrameReveal, protocol.RevealResult.Format(r))
		}},
		{"F44", inquiries.Preview, func(q *asking) {
			planted(q, protocol.PreviewResults, protocol.InquiryPreview{}, func(*protocol.InquiryPreview) {})()
		}},
		{"F46", inquiries.Detect, func(q *asking) {
			planted(q, protocol.Synthesize, q.synthesis(q.value()), func(*protocol.InquirySynthesis) {})()
		}},
		{"F47", inquiries.Detect, func(q *asking) {
			planted(q, protocol.DetectTensions, q.detection(q.value()), func(w *protocol.InquiryDetection) { w.Triggers[0].Quotes[0].Words = "sells" })()
		}},
		{"F48", inquiries.Detect, func(q *asking) {
			planted(q, protocol.DetectTensions, protocol.InquiryDetection{}, func(w *protocol.InquiryDetection) { w.Text = "None." })()
		}},
		{"F49", inquiries.Dialogue, func(q *asking) {
			q.plantTopic(func(w *protocol.InquiryTopic) { w.Text = "There is a contradiction." })
		}},
		{"F50", inquiries.Dialogue, func(q *asking) { q.plantTopic(func(w *protocol.InquiryTopic) { w.Peers[0] = "the first" }) }},
		{"F51", inquiries.Dialogue, func(q *asking) { q.plantTopic(func(w *protocol.InquiryTopic) { w.Form = w.Form[:2] }) }},
		{"F54", inquiries.Dialogue, func(q *asking) {
			q.must("a", q.as(q.value().Coordinator).Topic(q.channel, "1.1"))
			q.plantTalk("a", 1)
		}},
		{"F52", inquiries.Dialogue, func(q *asking) {
			for range 4 { // the topic, and three messages
				v := q.value()
				c := inquiries.Next(v)[0]
				q.must(protocol.Name(c.By.Host), q.perform(v, c))
			}
			q.plantTalk("b", 3)
		}},
		{"F60", inquiries.Synthesize, func(q *asking) {
			planted(q, protocol.Synthesize, q.synthesis(q.value()), func(w *protocol.InquirySynthesis) { w.Text = "Keep it." })()
		}},
		{"F61", inquiries.Synthesize, func(q *asking) {
			planted(q, protocol.Synthesize, q.synthesis(q.value()), func(w *protocol.InquirySynthesis) { w.Basis[0].Sources[0].Words = "sells" })()
		}},
		{"F74", inquiries.Present, func(q *asking) {
			g := protocol.InquiryGate{Gate: protocol.GateRoute, Questions: q.value().Questions(protocol.GateRoute)}
			planted(q, protocol.AskInquiry, g, func(g *protocol.InquiryGate) { g.Set = protocol.InquirySet(g.Gate, g.Questions) })()
		}},
		{"F78", inquiries.Trace, func(q *asking) {
			planted(q, protocol.ShowTrace, traceOf(q.value()), func(w *protocol.InquiryTrace) { w.Rows = w.Rows[1:] })()
		}},
		{"F83", inquiries.Trace, func(q *asking) {
			planted(q, protocol.ShowTrace, traceOf(q.value()), func(w *protocol.InquiryTrace) { w.Gaps = nil })()
		}},
		{"F80", inquiries.Shutdown, func(q *asking) {
			planted(q, protocol.KeepFindings, protocol.InquiryFindings{}, func(*protocol.InquiryFindings) {})()
		}},
	} {
		q := newAsking(t)
		q.tensions = true
		q.reach(c.state)
		c.do(q)
		if lines := q.verified(); !slices.Contains(lines, c.line) || len(slices.Compact(lines)) > 2 {
			t.Errorf("planted in %s: %s is to be found, and %s is", c.state, c.line, strings.Join(lines, " "))
		}
	}
}

// reach brings an inquiry to a state, by a human who confirms, chooses two and wraps up.
func (q *asking) reach(state inquiries.State) {
	q.Helper()
	q.open(nil)
	answers := map[inquiries.State][]string{
		inquiries.GateBrief: {inquiries.Confirm, protocol.ModeInquire}, inquiries.GatePerspectives: {"Operations", "Cost accounting"},
		inquiries.GateRoute: {inquiries.WrapUp}, inquiries.GatePreserve: {inquiries.KeepDivergence},
	}
	for v := q.value(); v.State != state; v = q.value() {
		if calls := inquiries.Next(v); len(calls) == 0 {
			q.yes(answers[v.State]...)
		} else {
			q.must(protocol.Name(calls[0].By.Host), q.perform(v, calls[0]))
		}
	}
}

func (q *asking) plantStart(change func(w *protocol.InquiryStart)) {
	q.Helper()
	v := q.value()
	m := v.Members[0]
	w := protocol.InquiryStart{Perspective: m.Perspective, Attempt: 1, Member: m.Agent.String(), Orientation: []string{"stores/"}, Prompt: protocol.Hash([]byte(v.Prompt(m.Perspective, []string{"stores/"}))), Question: v.Opening.Hash}
	planted(q, protocol.StartMember, w, change)()
}

func (q *asking) plantTopic(change func(w *protocol.InquiryTopic)) {
	q.Helper()
	v := q.value()
	w := protocol.InquiryTopic{InquiryTalk: protocol.InquiryTalk{Inquiry: q.channel, Tension: "1.1"}, Form: protocol.ReportForm()}
	w.Peers = []string{v.Members[0].Agent.String(), v.Members[1].Agent.String()}
	w.Say(protocol.FormHead{From: "m", At: q.at}, v.Epoch)
	w.Text = inquiries.TopicText(v.Tensions[0])
	change(&w)
	q.plant("a", protocol.TensionChannel(testRecord, q.channel, "1.1"), protocol.ActFrameTopic, protocol.SignalTopic.Format(w))
}

func (q *asking) plantTalk(host protocol.Name, number int) {
	q.Helper()
	w := protocol.InquiryExchange{InquiryTalk: protocol.InquiryTalk{InquiryWords: protocol.InquiryWords{Text: "One more."}, Inquiry: q.channel, Tension: "1.1"}, Perspective: "Operations", Number: number}
	q.plant(host, protocol.TensionChannel(testRecord, q.channel, "1.1"), protocol.ActFrameExchange, protocol.ExchangeWords.Format(w))
}
