package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// verified are the lines that do not hold of the inquiry, by its deeds and by what was written beside
// them. What breaks it without a line is "".
func (q *asking) verified(mail ...inquiries.Mail) (lines []string) {
	q.Helper()
	proof := inquiries.Verify(testRecord, deeds{q.state, affair.ID{Kind: inquiries.KindName, Name: q.channel.String()}}.After(affair.Position{}), mail)
	if proof.Inquiry.State != q.value().State {
		q.Errorf("who verifies it finds it in %s, and it is in %s", proof.Inquiry.State, q.value().State)
	}
	for _, f := range proof.Faults {
		if f.Why == "" || f.At.IsZero() {
			q.Errorf("nobody knows why or where %s does not hold", f.Line)
		}
		if f.Breaks && !slices.Contains(lines, f.Line) {
			lines = append(lines, f.Line)
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
func planted[W any, P inquiries.Words[W]](q *asking, act protocol.WordAct[W], w W, change func(w P), to ...protocol.Address) {
	q.Helper()
	P(&w).Say(protocol.FormHead{From: "a", At: q.at}, q.value().Epoch)
	if change != nil {
		change(&w)
	}
	q.plant("a", q.channel, act.Act, act.Format(w), to...)
}

// mended is the next call of the coordinator, with its body changed after all rules were asked.
func (q *asking) mended(change func(body string) string) {
	q.Helper()
	v := q.value()
	drafts, err := q.state.Decide(Do{q.perform(v, inquiries.Next(v)[0])}, q.at)
	if err != nil {
		q.Fatal(err)
	}
	d := drafts[0]
	if d.Message.Body = change(d.Message.Body); d.Message.Body == "" {
		q.Fatal("nothing is left of it")
	}
	q.say(q.wide[protocol.Name(inquiries.Next(v)[0].By.Host)], d)
}

// behind is a field that nobody reads, and ahead a text where there is none.
func behind(body string) string {
	return strings.Replace(body, "```json\n{", "```json\n{\n  \"hint\": \"sell the second\",", 1)
}

func ahead(body string) string {
	head, rest, _ := strings.Cut(body, "\n")
	return head + "\n\nSell the second." + "\n" + rest
}

// step does the next call.
func (q *asking) step() {
	q.Helper()
	v := q.value()
	c := inquiries.Next(v)[0]
	q.must(protocol.Name(c.By.Host), q.perform(v, c))
}

// gate is the gate that is due, or another one, changed.
func (q *asking) plantGate(gate string, change func(g *protocol.InquiryGate)) {
	q.Helper()
	g := protocol.InquiryGate{Gate: gate, Questions: q.value().Questions(gate)}
	planted(q, protocol.AskInquiry, g, func(g *protocol.InquiryGate) {
		if change != nil {
			change(g)
		}
		g.Set = protocol.InquirySet(g.Gate, g.Questions)
	})
}

// unsigned is an answer to the open gate without the human's signature.
func (q *asking) unsigned(options ...string) {
	q.Helper()
	g := q.value().Open()
	w := protocol.InquiryAnswer{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "nat", At: q.at}}, Gate: g.Gate, Set: g.Set}
	for _, ask := range g.Questions {
		for _, o := range ask.Options {
			if slices.Contains(options, o.Key) {
				w.Chosen = append(w.Chosen, protocol.InquiryChoice{Question: ask.ID, Options: []string{o.Key}})
			}
		}
	}
	q.say(q.wide["a"], Draft{Channel: q.channel, Message: protocol.Message{
		From: "nat", Human: "nat", To: []protocol.Address{{Name: "m", Host: "a"}}, Type: protocol.TypeText, Act: protocol.ActFrameAnswer,
		Body: protocol.AnswerInquiry.Format(w), Re: protocol.Refer(q.channel, g.Path),
	}})
}

// beside is a message that is no deed, written now.
func (q *asking) beside(from, host string, body string, to ...protocol.Address) inquiries.Mail {
	p := protocol.NewPath(protocol.DeriveChannel(testRecord, from, host), q.at, 0xbe)
	q.at = q.at.Add(time.Second)
	return inquiries.Mail{Message: &protocol.Message{Path: p, From: from, Host: protocol.Name(host), To: to, Type: protocol.TypeText, Act: "hey", Body: body}, Position: affair.Position{Place: p.Time(), Path: p}}
}

// A good inquiry breaks nothing, however it goes.
func TestGoodInquiriesHold(t *testing.T) {
	for name, run := range map[string]func(q *asking){
		"with a dialogue": func(q *asking) { q.tensions, q.divided = true, true; q.inquire() },
		"without one":     func(q *asking) { q.inquire() },
		"of agents that fit": func(q *asking) {
			q.agents = []string{"k@b", "l@b"}
			q.open(nil)
			q.waits(inquiries.GateBrief)
			q.yes(inquiries.Confirm, protocol.ModeInquire)
			q.waits(inquiries.GatePerspectives)
			q.yes("Operations", "Cost accounting")
			q.waits(inquiries.GateMap)
			q.yes("k@b")
		},
	} {
		q := newAsking(t)
		run(q)
		q.waits(inquiries.GateRoute)
		if _, err := q.decide("nat", "a", "The second has a licence of its own.", inquiries.AddInput); err != nil {
			t.Fatal(err)
		}
		q.waits(inquiries.GateRoute)
		q.yes(inquiries.WrapUp)
		q.until("")
		q.yes(inquiries.KeepAssessment)
		q.waits(inquiries.WrappedUp)
		if lines := q.verified(); lines != nil {
			t.Errorf("a good inquiry %s breaks %q", name, lines)
		}
	}
}

// violation is what somebody plants who has the hosts' keys, in a state that an inquiry has reached.
type violation struct {
	lines string // those that it breaks, among others that hang on them
	state inquiries.State
	do    func(q *asking)
}

// Frame F3, F31, F67 and all other lines that are checked: each violation that is planted is found, with its line. It
// prevents: a line that is said to hold, and that nothing could show to be broken.
func TestPlantedViolationsAreFound(t *testing.T) {
	t.Parallel()
	found := map[string]bool{"F2": true, "F10": true, "F17": true, "F19": true, "F25": true} // by the tests below
	for _, c := range violations() {
		q := newAsking(t)
		q.tensions = true
		q.reach(c.state)
		c.do(q)
		lines := q.verified()
		for _, line := range strings.Fields(c.lines) {
			if found[line] = true; !slices.Contains(lines, line) {
				t.Errorf("planted in %s: %s is to be found, and %q are", c.state, c.lines, lines)
			}
		}
	}
	for _, c := range besides() {
		q := newAsking(t)
		q.tensions = true
		q.reach(c.state)
		mail := c.do(q)
		lines := q.verified(mail...)
		for _, line := range strings.Fields(c.lines) {
			if found[line] = true; !slices.Contains(lines, line) {
				t.Errorf("written beside it in %s: %s is to be found, and %q are", c.state, c.lines, lines)
			}
		}
	}
	for _, l := range inquiries.Lines() {
		if len(l.Stages) > 0 && !found[l.ID] {
			t.Errorf("%s is checked, and no violation of it is planted", l.ID)
		}
	}
}

func violations() []violation {
	no := func(w *protocol.InquiryContext) {}
	context := func(q *asking) {
		planted(q, protocol.GatherContext, protocol.InquiryContext{Digest: protocol.Hash(nil)}, no)
	}
	return slices.Concat([]violation{
		{"F5", inquiries.GateBrief, context},
		{"F12", inquiries.Propose, context},
		{"F12", inquiries.Gather, func(q *asking) {
			planted(q, protocol.ProposePerspectives, q.proposals(q.value()), nil)
		}},
		{"F5", inquiries.GateBrief, func(q *asking) { q.unsigned(inquiries.Confirm, protocol.ModeInquire); context(q) }},
		{"F3", inquiries.Opened, func(q *asking) {
			planted(q, protocol.DraftBrief, protocol.InquiryBrief{Intent: "x", Deliverable: "TBD", Scope: "y", Mode: protocol.ModeInquire, Why: "z"}, nil)
		}},
		{"F9", inquiries.Gather, func(q *asking) {
			planted(q, protocol.DraftBrief, protocol.InquiryBrief{Intent: "x", Deliverable: "d", Scope: "y", Mode: protocol.ModeInquire, Why: "z"}, nil)
		}},
		{"F4", inquiries.Opened, func(q *asking) { q.plantGate(protocol.GateBrief, nil) }},
		{"F4", inquiries.Opened, func(q *asking) {
			planted(q, protocol.DraftBrief, protocol.InquiryBrief{Intent: "x", Deliverable: "d", Scope: "y", Mode: protocol.ModeInquire, Why: "z"}, nil, protocol.Address{Name: "m", Host: "a"})
		}},
		{"F67", inquiries.BriefDraft, func(q *asking) {
			q.plantGate(protocol.GateBrief, func(g *protocol.InquiryGate) { g.Text = "Confirm, please." })
		}},
		{"F67", inquiries.BriefDraft, func(q *asking) { q.mended(behind) }},
		{"F67", inquiries.BriefDraft, func(q *asking) {
			q.plantGate(protocol.GateBrief, func(g *protocol.InquiryGate) { g.Questions[0].Options[0].About = "the second is bad" })
		}},
		{"F67", inquiries.GatePerspectives, func(q *asking) {
			q.until("")
			q.yes("Operations", "Cost accounting")
			q.until(inquiries.Present)
			q.plantGate(protocol.GateRoute, func(g *protocol.InquiryGate) { g.In = "sell the second" })
		}},
		{"F71 F6 F7", inquiries.BriefDraft, func(q *asking) {
			q.plantGate(protocol.GateBrief, func(g *protocol.InquiryGate) { g.Questions = g.Questions[:1] })
		}},
		{"F9", inquiries.GateBrief, func(q *asking) {
			if _, err := q.decide("nat", "a", "no rewrite", inquiries.ModifyScope, protocol.ModeInquire); err != nil {
				q.Fatal(err)
			}
			q.until(inquiries.BriefDraft)
			v := q.value()
			v.Mode = ""
			g := protocol.InquiryGate{Gate: protocol.GateBrief, Questions: v.Questions(protocol.GateBrief)}
			planted(q, protocol.AskInquiry, g, func(g *protocol.InquiryGate) { g.Set = protocol.InquirySet(g.Gate, g.Questions) })
		}},
		{"F14", inquiries.GatePerspectives, func(q *asking) { planted(q, protocol.MapAgents, q.mapping(q.value()), nil) }},
		{"F14", inquiries.GatePerspectives, func(q *asking) {
			q.until("")
			q.unsigned("Operations", "Cost accounting")
			planted(q, protocol.MapAgents, q.mapping(q.value()), nil)
		}},
		{"F15 F71", inquiries.Propose, func(q *asking) {
			q.step()
			q.plantGate(protocol.GatePerspectives, func(g *protocol.InquiryGate) { g.Questions[0].Multi = false })
		}},
		{"F16 F71", inquiries.Propose, func(q *asking) {
			q.step()
			q.plantGate(protocol.GatePerspectives, func(g *protocol.InquiryGate) {
				g.Questions[0].Options = append(g.Questions[0].Options, protocol.InquiryOption{Key: "All of them"})
			})
		}},
		{"F20", inquiries.Propose, func(q *asking) {
			planted(q, protocol.ProposePerspectives, q.proposals(q.value()), func(w *protocol.InquiryProposals) { w.Perspectives = w.Perspectives[:1] })
		}},
		{"F21", inquiries.GatePerspectives, func(q *asking) {
			q.until("")
			q.yes("Operations")
			planted(q, protocol.MapAgents, q.mapping(q.value()), nil)
		}},
		{"F24", inquiries.Propose, func(q *asking) {
			planted(q, protocol.ProposePerspectives, protocol.InquiryProposals{}, func(w *protocol.InquiryProposals) { w.Text = "-" })
		}},
		{"F24", inquiries.Propose, func(q *asking) {
			planted(q, protocol.ProposePerspectives, protocol.InquiryProposals{}, func(w *protocol.InquiryProposals) { w.Text = "Nobody disagrees on stores." })
			planted(q, protocol.MapAgents, q.mapping(q.value()), nil)
		}},
		{"F26", inquiries.Map, func(q *asking) {
			q.agents = []string{"k@b", "l@b"}
			q.step()
			q.plantStart(nil)
		}},
		{"F27", inquiries.Map, func(q *asking) {
			planted(q, protocol.MapAgents, q.mapping(q.value()), func(w *protocol.InquiryMapping) { w.Fits = w.Fits[:1] })
		}},
		{"F36", inquiries.Map, func(q *asking) {
			planted(q, protocol.MapAgents, q.mapping(q.value()), func(w *protocol.InquiryMapping) { w.Fits[0].Candidates[0].Key = "m@a" })
		}},
		{"F36", inquiries.Await, func(q *asking) {
			w := protocol.InquirySignal{Perspective: "Operations", Attempt: 1, Outcome: protocol.SignalCompleted, Result: protocol.Hash([]byte("mine")), Grade: "process"}
			planted(q, protocol.SignalEnd, w, nil)
		}},
	}, startViolations(), resultViolations(), dialogueViolations(), endViolations())
}

// together are several perspectives under one name.
func together(name string) violation {
	return violation{"F16", inquiries.Propose, func(q *asking) {
		planted(q, protocol.ProposePerspectives, q.proposals(q.value()), func(w *protocol.InquiryProposals) { w.Perspectives[0].Name, w.Perspectives[1].TensionWith = name, name })
	}}
}

func startViolations() []violation {
	return []violation{
		together("All of them"), together("Operations + Cost accounting"), together("Operations & Cost accounting"), together("Both together"), together("Operations / Finance"),
		together("Law and Cost accounting"), together("1, 2 and 3"), together("Combined view"), together("Hybrid"),
		{"F30 F13 F33 F34 F35", inquiries.Spawn, func(q *asking) {
			q.plantStart(func(w *protocol.InquiryStart) { w.Prompt = protocol.Hash([]byte("with context")) })
		}},
		{"F31 F1", inquiries.Spawn, func(q *asking) {
			q.plantStart(func(w *protocol.InquiryStart) { w.Question = protocol.Hash([]byte("another")) })
		}},
		{"F32", inquiries.Spawn, func(q *asking) { q.plantStart(func(w *protocol.InquiryStart) { w.Orientation = []string{"README"} }) }},
		{"F13", inquiries.Spawn, func(q *asking) { q.plantStart(func(w *protocol.InquiryStart) { w.Text = "The second is bad." }) }},
		{"F13", inquiries.Spawn, func(q *asking) { q.plantStart(func(w *protocol.InquiryStart) { w.Degraded = "the second is bad" }) }},
		{"F13", inquiries.Spawn, func(q *asking) { q.plantStart(func(w *protocol.InquiryStart) { w.Topic = "the second is bad" }) }},
		{"F13", inquiries.Spawn, func(q *asking) { q.mended(behind) }},
		{"F13", inquiries.Spawn, func(q *asking) { q.mended(ahead) }},
		{"F13", inquiries.Spawn, func(q *asking) { q.mended(func(body string) string { return body + "\n\nSell the second." }) }},
		{"F28", inquiries.Spawn, func(q *asking) { q.step(); q.plantStart(nil) }},
		{"F28", inquiries.Spawn, func(q *asking) { // one after the other
			v := q.value()
			for _, do := range []protocol.Act{protocol.ActFrameStart, protocol.ActFrameTask, protocol.ActFrameSignal} {
				c := inquiries.Call{Do: do, By: v.Coordinator, Perspective: v.Members[0].Perspective, Attempt: 1}
				if do == protocol.ActFrameSignal {
					c.By = v.Members[0].Agent
				}
				q.must(protocol.Name(c.By.Host), q.perform(q.value(), c))
			}
			q.step()
		}},
		{"F29", inquiries.Spawn, func(q *asking) {
			planted(q, protocol.NoteTask, protocol.InquiryTask{Perspective: "Operations", Attempt: 1, Question: q.value().Opening.Hash, Scope: q.value().Brief.Scope}, nil)
		}},
		{"F29 F1", inquiries.Spawn, func(q *asking) {
			q.step()
			planted(q, protocol.NoteTask, protocol.InquiryTask{Perspective: q.value().Members[0].Perspective, Attempt: 1, Question: protocol.Hash(nil), Scope: q.value().Brief.Scope}, nil)
		}},
		{"F29", inquiries.Spawn, func(q *asking) {
			q.step()
			q.mended(ahead)
		}},
		{"F37", inquiries.Await, func(q *asking) {
			v := q.value() // a gate that holds, but is told to a member
			g := protocol.InquiryGate{Gate: protocol.GateLost, Perspective: v.Members[1].Perspective, Questions: v.Questions(protocol.GateLost)}
			g.Say(protocol.FormHead{From: "a", At: q.at}, v.Epoch)
			g.Set = protocol.InquirySet(g.Gate, g.Questions)
			q.plant("a", q.channel, protocol.ActFrameGate, protocol.AskInquiry.Format(g), v.Members[1].Agent)
		}},
	}
}

func resultViolations() []violation {
	reveal := func(q *asking, text string) {
		r := protocol.InquiryReveal{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "b"}, Text: text}, Perspective: "Operations", Attempt: 1}
		q.plant("b", q.channel, protocol.ActFrameReveal, protocol.RevealResult.Format(r))
	}
	preview := func(change func(w *protocol.InquiryPreview)) func(q *asking) {
		return func(q *asking) {
			var w protocol.InquiryPreview
			for _, m := range standing(q.value()) {
				w.Results = append(w.Results, protocol.InquiryGlance{Perspective: m.Perspective, Title: m.Perspective, Summary: "It keeps the first.", Limits: "cost", Flags: m.Flags})
			}
			planted(q, protocol.PreviewResults, w, change)
		}
	}
	detect := func(change func(w *protocol.InquiryDetection)) func(q *asking) {
		return func(q *asking) { planted(q, protocol.DetectTensions, q.detection(q.value()), change) }
	}
	return []violation{
		{"F42", inquiries.Await, func(q *asking) { reveal(q, q.resultOf("Operations", 1)) }},
		{"F42", inquiries.Collect, func(q *asking) { reveal(q, "a better one") }},
		{"F42", inquiries.Await, func(q *asking) {
			w := protocol.InquirySignal{Perspective: "Operations", Attempt: 1, Outcome: protocol.SignalCompleted, Result: protocol.Hash([]byte(q.resultOf("Operations", 1))), Grade: "process", Degraded: "it keeps the first"}
			w.From = "b"
			q.plant("b", q.channel, protocol.ActFrameSignal, protocol.SignalEnd.Format(w), q.value().Coordinator)
		}},
		{"F39 F40", inquiries.Await, preview(nil)},
		{"F41 F39", inquiries.Collect, preview(nil)},
		{"F41 F44", inquiries.Preview, preview(func(w *protocol.InquiryPreview) { w.Results = w.Results[:1] })},
		{"F44", inquiries.Preview, preview(func(w *protocol.InquiryPreview) { w.Results[0].Summary = "TBD" })},
		{"F44", inquiries.Preview, preview(func(w *protocol.InquiryPreview) { w.Results[0].Limits = "-" })},
		{"F44", inquiries.Preview, detect(nil)},
		{"F46", inquiries.Detect, func(q *asking) { planted(q, protocol.Synthesize, q.synthesis(q.value()), nil) }},
		{"F47", inquiries.Detect, detect(func(w *protocol.InquiryDetection) { w.Triggers[0].Quotes[0].Words = "sells" })},
		{"F47", inquiries.Detect, detect(func(w *protocol.InquiryDetection) { w.Triggers[0].Quotes[0].Words = "s" })},
		{"F47", inquiries.Detect, detect(func(w *protocol.InquiryDetection) {
			w.Triggers[0].Quotes = append(w.Triggers[0].Quotes, w.Triggers[0].Quotes[0])
		})},
		{"F48", inquiries.Detect, detect(func(w *protocol.InquiryDetection) { w.Triggers, w.Text = nil, "None." })},
		{"F48", inquiries.Detect, detect(func(w *protocol.InquiryDetection) {
			w.Triggers, w.Text = nil, "contradiction, horizon intersection, high-stakes"
		})},
		{"F49", inquiries.Detect, detect(func(w *protocol.InquiryDetection) { w.Triggers[0].Topic = "the contradiction on stores" })},
		{"F49", inquiries.Detect, detect(func(w *protocol.InquiryDetection) { w.Triggers[1].Topic = "a limit of the horizon" })},
	}
}

func dialogueViolations() []violation {
	report := func(change func(w *protocol.InquiryReport)) func(q *asking) {
		return func(q *asking) {
			for range 4 { // the topic, and three messages
				q.step()
			}
			v := q.value()
			w := protocol.InquiryReport{InquiryTalk: protocol.InquiryTalk{Inquiry: q.channel, Tension: "1.1"}, Perspective: v.Tensions[0].Peers[0], Position: "Keep it.", Agreement: "There are 2 stores.", Rationale: "It is so."}
			w.From = "b"
			change(&w)
			q.plant("b", protocol.TensionChannel(testRecord, q.channel, "1.1"), protocol.ActFrameReport, protocol.ReportDialogue.Format(w), v.Coordinator)
		}
	}
	talked := func(n int, number int) func(q *asking) {
		return func(q *asking) {
			for range n {
				q.step()
			}
			q.plantTalk("b", number)
		}
	}
	outcomes := func(resolution, strength, basis string) func(q *asking) {
		return func(q *asking) {
			planted(q, protocol.ShowOutcomes, protocol.InquiryOutcomes{Outcomes: []protocol.InquiryOutcome{{Tension: "1.1", Resolution: resolution, Strength: strength, Basis: basis}}}, nil)
		}
	}
	return []violation{
		{"F49", inquiries.Dialogue, func(q *asking) {
			q.plantTopic(func(w *protocol.InquiryTopic) { w.Text = "There is a contradiction." })
		}},
		{"F50", inquiries.Dialogue, func(q *asking) { q.plantTopic(func(w *protocol.InquiryTopic) { w.Peers[0] = "the first" }) }},
		{"F51", inquiries.Dialogue, func(q *asking) { q.plantTopic(func(w *protocol.InquiryTopic) { w.Form = w.Form[:2] }) }},
		{"F51", inquiries.Dialogue, func(q *asking) { q.plantTopic(nil, q.value().Members[0].Agent) }},
		{"F54", inquiries.Dialogue, func(q *asking) { q.step(); q.plantTalk("a", 1) }},
		{"F52", inquiries.Dialogue, talked(4, 3)},
		{"F52", inquiries.Dialogue, talked(4, 1)},
		{"F52", inquiries.Dialogue, talked(4, 4)},
		{"F53 F52", inquiries.Dialogue, func(q *asking) {
			q.step()
			p := q.value().Tensions[0].Peers[0]
			q.must("b", q.as(q.value().Member(p).Agent).Exchange(q.channel, "1.1", p, "I have said it.", true))
			q.plantTalk("b", 2)
		}},
		{"F55", inquiries.Dialogue, report(func(w *protocol.InquiryReport) { w.Rationale = "" })},
		{"F55", inquiries.Dialogue, report(func(w *protocol.InquiryReport) { w.Position = "TBD" })},
		{"F55", inquiries.Dialogue, report(func(w *protocol.InquiryReport) { w.Divergence = "-" })},
		{"F56", inquiries.Dialogue, func(q *asking) {
			q.step()
			w := protocol.InquiryFollowUp{InquiryTalk: protocol.InquiryTalk{InquiryWords: protocol.InquiryWords{Text: "And then?"}, Inquiry: q.channel, Tension: "1.1"}, Perspective: q.value().Tensions[0].Peers[0]}
			w.Say(protocol.FormHead{From: "a"}, 1)
			q.plant("a", protocol.TensionChannel(testRecord, q.channel, "1.1"), protocol.ActFrameFollowUp, protocol.FollowUp.Format(w), q.value().Members[0].Agent)
		}},
		{"F57 F56", inquiries.Outcomes, func(q *asking) {
			w := protocol.InquiryFollowUp{InquiryTalk: protocol.InquiryTalk{InquiryWords: protocol.InquiryWords{Text: "And then?"}, Inquiry: q.channel, Tension: "1.1"}, Perspective: q.value().Tensions[0].Peers[0]}
			w.Say(protocol.FormHead{From: "a"}, 1)
			q.plant("a", protocol.TensionChannel(testRecord, q.channel, "1.1"), protocol.ActFrameFollowUp, protocol.FollowUp.Format(w), q.value().Members[0].Agent)
		}},
		{"F58", inquiries.Outcomes, outcomes("persistent", "strong", "both count stores")},
		{"F58", inquiries.Outcomes, outcomes("partial", "strong", "both count stores")},
		{"F58", inquiries.Outcomes, outcomes("agreed", "moderate", "TBD")},
		{"F58", inquiries.Outcomes, func(q *asking) { planted(q, protocol.Synthesize, q.synthesis(q.value()), nil) }},
	}
}

func endViolations() []violation {
	joins := func(change func(w *protocol.InquirySynthesis)) func(q *asking) {
		return func(q *asking) { planted(q, protocol.Synthesize, q.synthesis(q.value()), change) }
	}
	extended := func(q *asking) { q.until(""); q.yes(inquiries.Extend) }
	route := func(change func(g *protocol.InquiryGate)) func(q *asking) {
		return func(q *asking) {
			q.plantGate(protocol.GateRoute, func(g *protocol.InquiryGate) {
				for i := range g.Questions[0].Options {
					g.Questions[0].Options[i].About = "Operations"
				}
				g.Questions[0].Options[3].About = inquiries.AboutWithdraw
				change(g)
			})
		}
	}
	trace := func(change func(w *protocol.InquiryTrace)) func(q *asking) {
		return func(q *asking) { planted(q, protocol.ShowTrace, traceOf(q.value()), change) }
	}
	findings := func(change func(w *protocol.InquiryFindings)) func(q *asking) {
		return func(q *asking) {
			q.step()
			q.step()
			w := protocol.InquiryFindings{Gaps: q.value().Trace.Gaps, Findings: []protocol.InquiryFinding{{Category: inquiries.KeepDivergence, Words: "They differ on cost."}}}
			planted(q, protocol.KeepFindings, w, change)
		}
	}
	team := func(act protocol.WordAct[protocol.InquiryTeam]) func(q *asking) {
		return func(q *asking) {
			w := protocol.InquiryTeam{}
			for _, m := range q.value().Members {
				w.Members = append(w.Members, m.Agent.String())
			}
			planted(q, act, w, nil)
		}
	}
	withdrawn := func(q *asking) {
		q.until("")
		q.yes(inquiries.Withdraw)
		q.until("")
	}
	return []violation{
		{"F60", inquiries.Synthesize, joins(func(w *protocol.InquirySynthesis) { w.Text = "Keep it." })},
		{"F60", inquiries.Synthesize, joins(func(w *protocol.InquirySynthesis) { w.Text = "Sell the second.\n\n" + w.Text })},
		{"F60", inquiries.Synthesize, joins(func(w *protocol.InquirySynthesis) { w.Text += "\n### Outlook\n\nOperations.\n" })},
		{"F61 F62 F64", inquiries.Synthesize, joins(func(w *protocol.InquirySynthesis) { w.Basis[0].Sources[0].Words = "sells" })},
		{"F61 F62", inquiries.Synthesize, joins(func(w *protocol.InquirySynthesis) { w.Others = nil })},
		{"F61", inquiries.Synthesize, joins(func(w *protocol.InquirySynthesis) { w.Basis[0].Sources[0].Words = "k" })},
		{"F59", inquiries.Synthesize, joins(func(w *protocol.InquirySynthesis) { w.Basis[0].Sources[0].Perspective = "Law" })},
		{"F63", inquiries.Synthesize, joins(func(w *protocol.InquirySynthesis) {
			w.Agreements = []protocol.InquiryAgreement{{Point: "There are 2 stores.", Perspectives: []string{"Operations", "Cost accounting"}, Strength: protocol.IndependentConvergence}}
		})},
		{"F66 F73", inquiries.Synthesize, func(q *asking) { q.plantGate(protocol.GateRoute, nil) }},
		{"F66", inquiries.Synthesize, func(q *asking) {
			planted(q, protocol.Synthesize, q.synthesis(q.value()), nil, q.value().Coordinator)
		}},
		{"F73 F71", inquiries.Present, route(func(g *protocol.InquiryGate) { g.Questions[0].Options = g.Questions[0].Options[:3] })},
		{"F74", inquiries.Present, route(func(g *protocol.InquiryGate) { g.Questions[0].Options[0].About = "Go on." })},
		{"F75", inquiries.Present, func(q *asking) {
			q.until("")
			if _, err := q.decide("nat", "a", "The second has a licence.", inquiries.AddInput); err != nil {
				q.Fatal(err)
			}
			q.plantGate(protocol.GateRoute, nil)
		}},
		{"F75", inquiries.Present, func(q *asking) { planted(q, protocol.Synthesize, q.synthesis(q.value()), nil) }},
		{"F76 F71", inquiries.Present, func(q *asking) {
			extended(q)
			q.plantGate(protocol.GateExtend, func(g *protocol.InquiryGate) { g.Questions[0].Options = g.Questions[0].Options[1:] })
		}},
		{"F77", inquiries.Present, func(q *asking) {
			extended(q)
			q.until("")
			q.yes(inquiries.Deepen, "Operations")
			v := q.value()
			m := v.Member("Operations")
			w := protocol.InquiryStart{Perspective: m.Perspective, Attempt: 2, Member: m.Agent.String(), Orientation: m.Orientation, Prompt: m.Prompt, Question: v.Opening.Hash}
			planted(q, protocol.StartMember, w, nil, m.Agent)
		}},
		{"F43", inquiries.GateRoute, team(protocol.ShutDownTeam)},
		{"F78", inquiries.Trace, trace(func(w *protocol.InquiryTrace) { w.Rows = w.Rows[1:] })},
		{"F78", inquiries.Trace, trace(func(w *protocol.InquiryTrace) { w.Rows[0].Sections = nil })},
		{"F78", inquiries.Trace, team(protocol.ShutDownTeam)},
		{"F83", inquiries.Trace, trace(func(w *protocol.InquiryTrace) { w.Gaps = nil })},
		{"F83", inquiries.Trace, trace(func(w *protocol.InquiryTrace) {
			w.Rows[0].Unaddressed, w.Rows[1].Unaddressed, w.Gaps = []string{"c"}, nil, []string{"c"}
		})},
		{"F80 F79", inquiries.GatePreserve, team(protocol.ShutDownTeam)},
		{"F80", inquiries.Shutdown, team(protocol.EndTeam)},
		{"F80", inquiries.Shutdown, func(q *asking) { planted(q, protocol.KeepFindings, protocol.InquiryFindings{}, nil) }},
		{"F79", inquiries.Shutdown, findings(func(w *protocol.InquiryFindings) { w.Findings[0].Words = "cost" })},
		{"F79", inquiries.Shutdown, findings(func(w *protocol.InquiryFindings) { w.Findings = nil })},
		{"F81", inquiries.Present, func(q *asking) {
			withdrawn(q)
			planted(q, protocol.KeepFindings, protocol.InquiryFindings{}, nil)
		}},
		{"F84", inquiries.Present, func(q *asking) {
			withdrawn(q)
			planted(q, protocol.Synthesize, q.synthesis(q.value()), nil)
		}},
		{"F82", inquiries.Await, func(q *asking) {
			q.plant("a", q.channel, protocol.ActFrameEsc, protocol.EscInquiry.Format(protocol.InquiryEsc{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "a"}}}))
		}},
	}
}

// oddment is what somebody writes beside an inquiry.
type oddment struct {
	lines string
	state inquiries.State
	do    func(q *asking) []inquiries.Mail
}

func besides() []oddment {
	talk := func(from, host string, to func(v inquiries.Inquiry) protocol.Address) func(q *asking) []inquiries.Mail {
		return func(q *asking) []inquiries.Mail {
			if q.value().State == inquiries.Dialogue {
				q.step()
			}
			return []inquiries.Mail{q.beside(from, host, "The second is bad.", to(q.value()))}
		}
	}
	member := func(i int) func(v inquiries.Inquiry) protocol.Address {
		return func(v inquiries.Inquiry) protocol.Address { return v.Members[i].Agent }
	}
	return []oddment{
		{"F37", inquiries.Await, talk("m", "a", member(0))},
		{"F42", inquiries.Await, talk("lens-1", "b", member(1))},
		{"F42", inquiries.Await, func(q *asking) []inquiries.Mail { // a result before the last commit
			mail := q.beside("k", "b", q.resultOf("Operations", 1), protocol.Address{Name: "nat", Host: "a"})
			q.until(inquiries.Preview)
			return []inquiries.Mail{mail}
		}},
		{"F54 F57", inquiries.Dialogue, talk("m", "a", member(0))},
		{"F52", inquiries.Dialogue, talk("lens-2", "b", member(0))},
		{"F54", inquiries.Dialogue, func(q *asking) []inquiries.Mail {
			q.step()
			m := q.beside("x", "b", "The second is bad.", protocol.Address{Name: "nat", Host: "a"})
			m.Message.Path = protocol.NewPath(protocol.TensionChannel(testRecord, q.channel, "1.1"), q.at, 1)
			return []inquiries.Mail{m}
		}},
	}
}

// Frame F2: a question is what the message says that it is from, and that message is the human's
// last one if it says so.
func TestWhereAQuestionIsFrom(t *testing.T) {
	for what, c := range map[string]struct {
		source string
		texts  []string // of nat's messages; the question is said to be from the first one
		breaks bool
	}{
		"it is that message's":   {protocol.FromBeside, []string{strings.TrimRight(question, "\n")}, false},
		"it is another text":     {protocol.FromBeside, []string{"Which store is the best?"}, true},
		"it is the last message": {protocol.FromLastMessage, []string{strings.TrimRight(question, "\n")}, false},
		"it is not the last one": {protocol.FromLastMessage, []string{strings.TrimRight(question, "\n"), "And so on."}, true},
	} {
		q := newAsking(t)
		var mail []inquiries.Mail
		for _, text := range c.texts {
			mail = append(mail, q.beside("nat", "a", text, protocol.Address{Name: "m", Host: "a"}))
		}
		q.open(func(o *protocol.InquiryOpening) {
			o.Source, o.Message, o.Text = c.source, mail[0].Message.Path.String(), strings.TrimRight(question, "\n")
		})
		if got := slices.Contains(q.verified(mail...), "F2"); got != c.breaks {
			t.Errorf("%s: it breaks F2: %t", what, got)
		}
	}
	q := newAsking(t)
	q.open(func(o *protocol.InquiryOpening) { o.Source = protocol.FromAgent })
	if !slices.Contains(q.verified(), "F2") {
		t.Error("a human's question passes for an agent's")
	}
}

// Frame F10, F17, F19, F25: what other inquiries can break.
func TestPlantedInOtherInquiries(t *testing.T) {
	asked := newAsking(t)
	o := protocol.InquiryOpening{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{At: asked.at}, Text: question}, Source: protocol.FromAgent, Coordinator: "m", Humans: []protocol.Name{"nat"}, AcceptBrief: true}
	c, channel := asked.as(protocol.Address{Name: "m", Host: "a"}).Open(o)
	asked.must("a", c)
	asked.channel = channel
	asked.step()
	planted(asked, protocol.GatherContext, protocol.InquiryContext{Digest: protocol.Hash(nil)}, nil)

	again := newAsking(t)
	again.open(func(o *protocol.InquiryOpening) { o.Perspectives = []string{"Operations"} })
	again.waits(inquiries.GateBrief)
	again.yes(inquiries.Confirm, protocol.ModeInquire)
	again.until(inquiries.Propose)
	planted(again, protocol.ProposePerspectives, protocol.InquiryProposals{Perspectives: []protocol.InquiryPerspective{{Name: "Operations", Contribution: "nights", TensionWith: "Cost", Referent: "stores"}}}, nil)

	recommends := newAsking(t)
	recommends.open(func(o *protocol.InquiryOpening) { o.AcceptBrief, o.Mode = true, protocol.ModeRecommend })
	recommends.waits(inquiries.GatePerspectives)
	recommends.yes("Operations")
	recommends.waits(inquiries.Recommended)
	if lines := recommends.verified(); lines != nil {
		t.Errorf("a good inquiry that recommends breaks %q", lines)
	}
	planted(recommends, protocol.MapAgents, recommends.mapping(recommends.value()), nil)
	for line, q := range map[string]*asking{"F10": asked, "F17": again, "F19": again, "F25": recommends} {
		if lines := q.verified(); !slices.Contains(lines, line) {
			t.Errorf("%s is to be found, and %q are", line, lines)
		}
	}
}

// It prevents: an inquiry that goes on from a decision which is contested passes as good, and one
// that was overtaken by a decision of another host passes as bad.
func TestContestedInquiriesDoNotHold(t *testing.T) {
	q := newAsking(t)
	q.reach(inquiries.GateRoute)
	g := q.value().Open()
	for _, route := range []string{inquiries.WrapUp, inquiries.Withdraw} {
		if _, err := q.decideAt(g, "nat", "a", protocol.InquiryAnswer{}, route); err != nil {
			t.Fatal(err)
		}
	}
	if lines := q.verified(); !slices.Contains(lines, "F73") {
		t.Errorf("a contested gate breaks %q", lines)
	}
	over := newAsking(t)
	over.reach(inquiries.Await)
	q = over
	q.must("a", q.human("nat", "a", protocol.HumanDecision{Gate: q.value().Path, GateHash: q.value().Hash, Act: protocol.ActFrameEsc}).Esc(q.channel, ""))
	q.plantTalk("b", 1)
	if lines := q.verified(); lines != nil {
		t.Errorf("what came too late breaks %q", lines)
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
	m := &inquiries.Member{Perspective: v.Chosen[0], Agent: protocol.Address{Name: "k", Host: "b"}}
	if len(v.Members) > 0 {
		m = v.Members[0]
	}
	w := protocol.InquiryStart{Perspective: m.Perspective, Attempt: 1, Member: m.Agent.String(), Orientation: []string{"stores/"}, Prompt: protocol.Hash([]byte(v.Prompt(m.Perspective, []string{"stores/"}))), Question: v.Opening.Hash}
	planted(q, protocol.StartMember, w, change, m.Agent)
}

func (q *asking) plantTopic(change func(w *protocol.InquiryTopic), to ...protocol.Address) {
	q.Helper()
	v := q.value()
	w := protocol.InquiryTopic{InquiryTalk: protocol.InquiryTalk{Inquiry: q.channel, Tension: "1.1"}, Form: protocol.ReportForm()}
	w.Peers = []string{v.Members[0].Agent.String(), v.Members[1].Agent.String()}
	w.Say(protocol.FormHead{From: "a", At: q.at}, v.Epoch)
	w.Text = inquiries.TopicText(v.Tensions[0])
	if change != nil {
		change(&w)
	}
	if to == nil {
		to = []protocol.Address{v.Members[0].Agent, v.Members[1].Agent}
	}
	q.plant("a", protocol.TensionChannel(testRecord, q.channel, "1.1"), protocol.ActFrameTopic, protocol.SignalTopic.Format(w), to...)
}

func (q *asking) plantTalk(host protocol.Name, number int) {
	q.Helper()
	w := protocol.InquiryExchange{InquiryTalk: protocol.InquiryTalk{InquiryWords: protocol.InquiryWords{Text: "One more."}, Inquiry: q.channel, Tension: "1.1"}, Perspective: "Operations", Number: number}
	q.plant(host, protocol.TensionChannel(testRecord, q.channel, "1.1"), protocol.ActFrameExchange, protocol.ExchangeWords.Format(w))
}
