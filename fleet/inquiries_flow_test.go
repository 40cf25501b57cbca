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

// flow is what somebody writes in a state, and which lines it breaks; "" for none.
type flow struct {
	name, lines string
	state       inquiries.State
	do          func(q *asking) []inquiries.Mail
}

// alone is a flow without mail.
func alone(do func(q *asking)) func(q *asking) []inquiries.Mail {
	return func(q *asking) []inquiries.Mail { do(q); return nil }
}

// forged is the next call, written by a host as the change has it.
func (q *asking) forged(host protocol.Name, change func(m *protocol.Message)) protocol.Path {
	q.Helper()
	v := q.value()
	drafts, err := q.state.Decide(Do{q.perform(v, inquiries.Next(v)[0])}, q.at)
	if err != nil {
		q.Fatal(err)
	}
	change(&drafts[0].Message)
	return q.say(q.wide[host], drafts[0])
}

func (q *asking) escaped(host protocol.Name) {
	q.Helper()
	q.must(host, q.human("nat", host, protocol.HumanDecision{Gate: q.value().Path, GateHash: q.value().Hash, Act: protocol.ActFrameEsc}).Esc(q.channel, ""))
}

// atBoth has nat decide at b too.
func (q *asking) atBoth() {
	q.Helper()
	q.say(q.b, q.state.hostDraft(protocol.ActHostAgents, protocol.HostState{Host: "b", Key: q.b.public(q.T), Humans: []protocol.Name{"zoe", "nat"}, Agents: []protocol.HostedAgent{{Name: "k"}, {Name: "l"}}}))
	if err := q.give(q.b, "nat", q.keys["nat"], nil); err != nil {
		q.Fatal(err)
	}
}

func (q *asking) resumedBy(host protocol.Name, who string) {
	q.Helper()
	v := q.value()
	e := protocol.InquiryEpoch{InquiryWords: protocol.InquiryWords{Epoch: v.Epoch + 1}, Coordinator: who}
	q.must(host, q.human("nat", host, protocol.HumanDecision{Gate: v.Path, GateHash: v.Hash, Act: protocol.ActFrameResume, Reason: e.Decides()}).Resume(q.channel, who))
}

// before writes something at an earlier time, as a host does that was cut off.
func (q *asking) before(at time.Time, do func()) {
	now := q.at
	q.at = at
	do()
	q.at = now
}

func (q *asking) team() (w protocol.InquiryTeam) {
	for _, m := range q.value().Members {
		w.Members = append(w.Members, m.Agent.String())
	}
	return w
}

// Frame F13, F29, F36, F37, F39 to F42, F52 to F57 and others: who may write what, and when. It
// prevents: words in another's name, after an end, in the head of a file or beside the inquiry pass.
func TestFlowOfInquiries(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(flowsOfDeeds(), flowsOfGates(), flowsOfMail(), goodFlows()) {
		t.Run(c.name, func(t *testing.T) {
			q := newAsking(t)
			q.tensions = true
			q.reach(c.state)
			lines := q.verified(c.do(q)...)
			for _, line := range strings.Fields(c.lines) {
				if !slices.Contains(lines, line) {
					t.Errorf("in %s: %s is to be found, and %q are", c.state, c.lines, lines)
				}
			}
			if c.lines == "" && lines != nil {
				t.Errorf("in %s: good hosts break %q", c.state, lines)
			}
		})
	}
}

func flowsOfDeeds() []flow {
	head := func(change func(m *protocol.Message)) func(q *asking) []inquiries.Mail {
		return alone(func(q *asking) { q.forged("a", change) })
	}
	signal := func(change func(w *protocol.InquirySignal)) func(q *asking) []inquiries.Mail {
		return alone(func(q *asking) {
			w := protocol.InquirySignal{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "b", At: q.at}}, Perspective: "Operations", Attempt: 1, Outcome: protocol.SignalCompleted, Result: protocol.Hash([]byte(q.resultOf("Operations", 1))), Grade: "process"}
			change(&w)
			q.plant("b", q.channel, protocol.ActFrameSignal, protocol.SignalEnd.Format(w), q.value().Coordinator)
		})
	}
	ended := func(plant func(q *asking)) func(q *asking) []inquiries.Mail {
		return alone(func(q *asking) { q.escaped("a"); plant(q) })
	}
	reveal := func(q *asking, perspective string) {
		w := protocol.InquiryReveal{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "b"}, Text: q.resultOf(perspective, 1)}, Perspective: perspective, Attempt: 1}
		q.plant("b", q.channel, protocol.ActFrameReveal, protocol.RevealResult.Format(w))
	}
	same := func(*protocol.Message) {}
	list := []flow{
		{"an end by another host", "F82", inquiries.Await, alone(func(q *asking) {
			q.say(q.wide["b"], Draft{Channel: q.channel, Message: protocol.Message{From: "nat", Human: "nat", To: []protocol.Address{{Name: "m", Host: "a"}}, Type: protocol.TypeText, Act: protocol.ActFrameEsc, Body: protocol.EscInquiry.Format(protocol.InquiryEsc{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "nat", At: q.at}}})}})
		})},
		{"an answer by another host", "F73", inquiries.Present, alone(func(q *asking) {
			q.until("")
			g := q.value().Open()
			w := protocol.InquiryAnswer{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "nat", At: q.at}}, Gate: g.Gate, Set: g.Set, Chosen: []protocol.InquiryChoice{{Question: g.Questions[0].ID, Options: []string{inquiries.WrapUp}}}}
			q.say(q.wide["b"], Draft{Channel: q.channel, Message: protocol.Message{From: "nat", Human: "nat", To: []protocol.Address{{Name: "m", Host: "a"}}, Type: protocol.TypeText, Act: protocol.ActFrameAnswer, Body: protocol.AnswerInquiry.Format(w), Re: protocol.Refer(q.channel, g.Path)}})
		})},
		{"a preview by another host", "F44", inquiries.Preview, alone(func(q *asking) { q.forged("b", same) })},
		{"a start that gives a reason", "F13 F30", inquiries.Spawn, head(func(m *protocol.Message) { m.Because = "second-is-bad" })},
		{"a start that answers nothing", "F13 F30", inquiries.Spawn, head(func(m *protocol.Message) { m.Re = "second-is-bad" })},
		{"a start that was asked for", "F13 F30", inquiries.Spawn, head(func(m *protocol.Message) { m.Request = "second-is-bad" })},
		{"a start by somebody", "F13 F30", inquiries.Spawn, head(func(m *protocol.Message) { m.Via = "second-is-bad" })},
		{"a start of a human", "F13 F30", inquiries.Spawn, head(func(m *protocol.Message) { m.Human = "nat" })},
		{"a start of another time", "F13 F30", inquiries.Spawn, head(func(m *protocol.Message) {
			i, j := strings.Index(m.Body, "timestamp: "), strings.Index(m.Body, "\n")
			m.Body = m.Body[:i] + "timestamp: 1999-12-31T00:00:00.000Z" + m.Body[j:]
		})},
		{"a gate that gives a reason", "F67", inquiries.BriefDraft, head(func(m *protocol.Message) { m.Because = "the second is bad" })},
		{"a shutdown after an end", "F82 F84", inquiries.Present, ended(func(q *asking) { planted(q, protocol.ShutDownTeam, q.team(), nil) })},
		{"a synthesis after an end", "F82 F84", inquiries.Synthesize, alone(func(q *asking) {
			w := q.synthesis(q.value())
			q.escaped("a")
			planted(q, protocol.Synthesize, w, nil)
		})},
		{"findings after an end", "F82 F84", inquiries.Present, ended(func(q *asking) { planted(q, protocol.KeepFindings, protocol.InquiryFindings{}, nil) })},
		{"a result after an end", "F82 F84", inquiries.Await, ended(func(q *asking) { reveal(q, "Operations") })},
		{"a signal that tells a result", "F42", inquiries.Await, signal(func(w *protocol.InquirySignal) {
			w.Outcome, w.Exit, w.Result, w.Text = protocol.SignalFailed, 1, "", "## Epistemic Contribution\n\nNights.\n\n## Framework Analysis\n\nTwo.\n\n## Horizon Limits\n\nCost.\n\n## Assessment\n\nKeep it."
		})},
		{"a signal that counts", "F42", inquiries.Await, signal(func(w *protocol.InquirySignal) { w.Exit = 1234 })},
		{"a failed attempt that tells what the next one finds", "F42", inquiries.Await, alone(func(q *asking) {
			signal(func(w *protocol.InquirySignal) {
				w.Outcome, w.Exit, w.Result, w.Text = protocol.SignalFailed, 1, "", "out of memory: sees what the others do not"
			})(q)
			q.until("")
			q.yes(inquiries.RunElsewhere)
			q.until(inquiries.Preview)
		})},
		{"a shutdown twice", "F80", inquiries.Shutdown, alone(func(q *asking) { q.step(); planted(q, protocol.ShutDownTeam, q.team(), nil) })},
		{"a shutdown after the team's end", "F80", inquiries.Shutdown, alone(func(q *asking) { q.step(); q.step(); planted(q, protocol.ShutDownTeam, q.team(), nil) })},
		{"words of an epoch that is over, by who knew", "F75", inquiries.Present, alone(func(q *asking) {
			w := q.value().Synthesis
			q.atBoth()
			q.resumedBy("b", "k")
			w.Epoch = 1
			q.plant("a", q.channel, protocol.ActFrameSynthesis, protocol.Synthesize.Format(w))
		})},
	}
	for name, c := range map[string]struct {
		lines string
		state inquiries.State
		steps int
	}{
		"a signal": {"F42 F36", inquiries.Await, 0}, "a result": {"F42 F36", inquiries.Collect, 0}, "a message": {"F54", inquiries.Dialogue, 1}, "a report": {"F55 F54", inquiries.Dialogue, 4},
	} {
		for _, as := range []string{"k", "ghost"} { // k is of b, and ghost of nobody
			list = append(list, flow{name + " by another host in the name of " + as, c.lines, inquiries.Map, alone(func(q *asking) {
				q.agents = []string{"k@b", "l@b"}
				q.until("")
				q.yes("k@b")
				q.until(c.state)
				for range c.steps {
					q.step()
				}
				q.forged("a", func(m *protocol.Message) { m.From = as })
			})})
		}
	}
	return list
}

func flowsOfGates() []flow {
	next := func(old, new string) func(q *asking) []inquiries.Mail {
		return alone(func(q *asking) { q.mended(func(body string) string { return strings.Replace(body, old, new, 1) }) })
	}
	set := func(gate, perspective string, before func(q *asking)) func(q *asking) []inquiries.Mail {
		return alone(func(q *asking) {
			before(q)
			q.plantGate(gate, func(g *protocol.InquiryGate) {
				g.Perspective, g.Questions[0].Options = perspective, g.Questions[0].Options[1:]
			})
		})
	}
	none := func(*asking) {}
	failed := func(q *asking) { q.fails = []string{"Operations"}; q.step(); q.step() }
	zero := func(q *asking) {
		planted(q, protocol.ProposePerspectives, protocol.InquiryProposals{}, func(w *protocol.InquiryProposals) { w.Text = "Nobody disagrees on stores." })
	}
	extends := func(q *asking, options ...string) {
		q.until("")
		q.yes(inquiries.Extend)
		if len(options) > 0 {
			q.until("")
			q.yes(options...)
		}
	}
	adds := func(q *asking) {
		q.until("")
		if _, err := q.decide("nat", "a", "The second has a licence.", inquiries.AddInput); err != nil {
			q.Fatal(err)
		}
	}
	withdrawn := func(q *asking) { q.until(""); q.yes(inquiries.Withdraw) }
	again := func(q *asking) {
		q.plantStart(func(w *protocol.InquiryStart) {
			w.Attempt, w.Carries = 2, []string{q.value().Members[0].Signal.Result}
		})
	}
	brief := func(q *asking) {
		planted(q, protocol.DraftBrief, protocol.InquiryBrief{Intent: "Which store", Deliverable: "a recommendation", Scope: "all of it", Mode: protocol.ModeInquire, Why: "they differ"}, nil)
	}
	trace := func(q *asking) { planted(q, protocol.ShowTrace, traceOf(q.value()), nil) }
	recommends := func(plant func(q *asking)) func(q *asking) []inquiries.Mail {
		return alone(func(q *asking) {
			*q = *newAsking(q.T)
			q.open(func(o *protocol.InquiryOpening) { o.AcceptBrief, o.Mode = true, protocol.ModeRecommend })
			q.until("")
			q.yes("Operations")
			q.until(inquiries.Established)
			plant(q)
		})
	}
	oneOutcome := func(q *asking) {
		planted(q, protocol.ShowOutcomes, protocol.InquiryOutcomes{Outcomes: []protocol.InquiryOutcome{{Tension: "1.1", Resolution: "partial", Strength: "moderate", Basis: "both count 2 stores"}}}, nil)
	}
	agree := func(of ...string) func(q *asking) []inquiries.Mail {
		return alone(func(q *asking) {
			planted(q, protocol.Synthesize, q.synthesis(q.value()), func(w *protocol.InquirySynthesis) {
				w.Agreements = []protocol.InquiryAgreement{{Point: "There are 2 stores.", Perspectives: of, Strength: "moderate"}}
			})
		})
	}
	return []flow{
		{"a gate with another option than its set", "F71 F6 F67", inquiries.BriefDraft, next(`"key": "modify-intent"`, `"key": "sell-the-second"`)},
		{"a gate that advises", "F67 F4", inquiries.BriefDraft, next(`"key": "confirm"`, `"key": "confirm", "about": "the second is bad"`)},
		{"a gate on a perspective", "F67", inquiries.BriefDraft, next(`"gate": "brief"`, `"gate": "brief", "perspective": "the second is bad"`)},
		{"another set at preserve", "F71 F79", inquiries.GatePreserve, set(protocol.GatePreserve, "", none)},
		{"another set at zero", "F71 F24", inquiries.Propose, set(protocol.GateZero, "", zero)},
		{"another set under the minimum", "F71 F21", inquiries.GatePerspectives, set(protocol.GateUnderMinimum, "", func(q *asking) { q.until(""); q.yes("Operations") })},
		{"another set at map", "F71 F26", inquiries.Map, alone(func(q *asking) {
			q.agents = []string{"k@b", "l@b"}
			q.step()
			q.plantGate(protocol.GateMap, func(g *protocol.InquiryGate) { g.Questions = g.Questions[:1] })
		})},
		{"another set at failed", "F71 F41", inquiries.Await, set(protocol.GateFailed, "Operations", failed)},
		{"a task left out", "F29", inquiries.Spawn, alone(func(q *asking) {
			v := q.value()
			for _, m := range v.Members {
				q.must("a", q.perform(q.value(), inquiries.Call{Do: protocol.ActFrameStart, By: v.Coordinator, Perspective: m.Perspective}))
				q.must("b", q.perform(q.value(), inquiries.Call{Do: protocol.ActFrameSignal, By: m.Agent, Perspective: m.Perspective, Attempt: 1}))
			}
			w := protocol.InquiryReveal{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "b"}, Text: q.resultOf("Operations", 1)}, Perspective: "Operations", Attempt: 1}
			q.plant("b", q.channel, protocol.ActFrameReveal, protocol.RevealResult.Format(w))
		})},
		{"a gate on a failure left out", "F41", inquiries.Await, alone(func(q *asking) {
			failed(q)
			planted(q, protocol.PreviewResults, protocol.InquiryPreview{Results: []protocol.InquiryGlance{{Perspective: "Cost accounting", Title: "costs", Summary: "It keeps the first.", Limits: "cost"}}}, nil)
		})},
		{"another attempt without a gate", "F41 F37", inquiries.Await, alone(func(q *asking) { q.plantStart(func(w *protocol.InquiryStart) { w.Attempt = 2 }) })},
		{"a signal of the coordinator", "F36 F40 F41", inquiries.Await, alone(func(q *asking) {
			planted(q, protocol.SignalEnd, protocol.InquirySignal{Perspective: "Operations", Attempt: 1, Outcome: protocol.SignalSkipped, Grade: "process"}, nil)
		})},
		{"a task again", "F29 F37", inquiries.Await, alone(func(q *asking) {
			v := q.value()
			planted(q, protocol.NoteTask, protocol.InquiryTask{Perspective: v.Members[0].Perspective, Attempt: 1, Question: v.Opening.Hash, Scope: v.Brief.Scope}, nil, v.Members[0].Agent)
		})},
		{"a topic while they work", "F39 F51", inquiries.Await, alone(func(q *asking) {
			v := q.value()
			w := protocol.InquiryTopic{InquiryTalk: protocol.InquiryTalk{Inquiry: q.channel, Tension: "1.1"}, Form: protocol.ReportForm(), Peers: []string{v.Members[0].Agent.String(), v.Members[1].Agent.String()}}
			w.Say(protocol.FormHead{From: "a", At: q.at}, 1)
			w.Text = "Talk."
			q.plant("a", protocol.TensionChannel(testRecord, q.channel, "1.1"), protocol.ActFrameTopic, protocol.SignalTopic.Format(w), v.Members[0].Agent, v.Members[1].Agent)
		})},
		{"a synthesis before they work", "F39 F28", inquiries.Spawn, alone(func(q *asking) {
			planted(q, protocol.Synthesize, protocol.InquirySynthesis{InquiryWords: protocol.InquiryWords{Text: "x"}, Basis: []protocol.InquiryBasis{{Claim: "x", Kind: "result", Sources: []protocol.InquirySource{{Perspective: "Operations", Words: "x"}}}}}, nil)
		})},
		{"context after two answers on the brief", "F5", inquiries.GateBrief, alone(func(q *asking) {
			g := q.value().Open()
			for o, text := range map[string]string{inquiries.Confirm: "", inquiries.ModifyScope: "less"} {
				if _, err := q.decideAt(g, "nat", "a", protocol.InquiryAnswer{InquiryWords: protocol.InquiryWords{Text: text}}, o, protocol.ModeInquire); err != nil {
					q.Fatal(err)
				}
			}
			planted(q, protocol.GatherContext, protocol.InquiryContext{Digest: protocol.Hash(nil)}, nil)
		})},
		{"the zero gate left out", "F24", inquiries.Propose, alone(func(q *asking) { zero(q); planted(q, protocol.ProposePerspectives, q.proposals(q.value()), nil) })},
		{"a map instead of a recommendation", "F25", inquiries.Opened, recommends(func(q *asking) { planted(q, protocol.MapAgents, q.mapping(q.value()), nil) })},
		{"a start instead of a recommendation", "F25", inquiries.Opened, recommends(func(q *asking) { q.plantStart(nil) })},
		{"what the human named is left out", "F27 F17", inquiries.Opened, alone(func(q *asking) {
			*q = *newAsking(q.T)
			q.open(func(o *protocol.InquiryOpening) { o.Perspectives = []string{"Law"} })
			q.until("")
			q.yes(inquiries.Confirm, protocol.ModeInquire)
			q.until("")
			q.yes("Operations", "Cost accounting")
			q.until(inquiries.Map)
			planted(q, protocol.MapAgents, q.mapping(q.value()), func(w *protocol.InquiryMapping) { w.Fits = w.Fits[1:] })
		})},
		{"a peer whom nobody knows", "F47", inquiries.Detect, alone(func(q *asking) {
			planted(q, protocol.DetectTensions, q.detection(q.value()), func(w *protocol.InquiryDetection) { w.Triggers[0].Peers[1] = "Law" })
		})},
		{"tensions of another epoch", "F47", inquiries.Detect, next(`"epoch": 1`, `"epoch": 7`)},
		{"a message before the topic", "F51 F52", inquiries.Dialogue, alone(func(q *asking) { q.plantTalk("b", 1) })},
		{"a message though there is no tension", "F48 F52", inquiries.Detect, alone(func(q *asking) { q.tensions = false; q.step(); q.plantTalk("b", 1) })},
		{"a report left out", "F55 F58", inquiries.Dialogue, alone(func(q *asking) {
			for range 5 {
				q.step()
			}
			oneOutcome(q)
		})},
		{"a question again after its answer", "F57 F56", inquiries.Dialogue, alone(func(q *asking) {
			q.divided = true
			for range 8 {
				q.step()
			}
			w := protocol.InquiryFollowUp{InquiryTalk: protocol.InquiryTalk{InquiryWords: protocol.InquiryWords{Text: "And then?"}, Inquiry: q.channel, Tension: "1.1"}, Perspective: q.value().Tensions[0].Peers[0]}
			w.Say(protocol.FormHead{From: "a"}, 1)
			q.plant("a", protocol.TensionChannel(testRecord, q.channel, "1.1"), protocol.ActFrameFollowUp, protocol.FollowUp.Format(w), q.value().Member(w.Perspective).Agent)
		})},
		{"input that nobody gave", "F59", inquiries.Synthesize, alone(func(q *asking) {
			planted(q, protocol.Synthesize, q.synthesis(q.value()), func(w *protocol.InquirySynthesis) {
				w.Basis[0].Kind, w.Basis[0].Sources = protocol.BasisInput, []protocol.InquirySource{{Words: "sell the second"}}
			})
		})},
		{"agreement of one", "F63", inquiries.Synthesize, agree("Operations")},
		{"agreement with nobody", "F63", inquiries.Synthesize, agree("Operations", "Law")},
		{"a joining of nothing", "F62", inquiries.Synthesize, alone(func(q *asking) {
			planted(q, protocol.Synthesize, q.synthesis(q.value()), func(w *protocol.InquirySynthesis) { w.Others[1].Sources = []protocol.InquirySource{{}} })
		})},
		{"a trace without a way to go on", "F73 F78", inquiries.Present, alone(trace)},
		{"a trace without the input", "F75", inquiries.Present, alone(func(q *asking) { adds(q); trace(q) })},
		{"a brief after the input", "F75 F9", inquiries.Present, alone(func(q *asking) { adds(q); brief(q) })},
		{"proposals without the gate", "F76", inquiries.Present, alone(func(q *asking) { extends(q); planted(q, protocol.ProposePerspectives, q.proposals(q.value()), nil) })},
		{"a start without the gate", "F76", inquiries.Present, alone(func(q *asking) { extends(q); again(q) })},
		{"another one goes deeper", "F76", inquiries.Present, alone(func(q *asking) { extends(q, inquiries.Deepen, "Cost accounting"); again(q) })},
		{"a brief to extend", "F76 F10", inquiries.Present, alone(func(q *asking) { extends(q); brief(q) })},
		{"preserving before the trace", "F78 F79", inquiries.Trace, alone(func(q *asking) { q.plantGate(protocol.GatePreserve, nil) })},
		{"findings of who withdraws", "F81 F80", inquiries.Present, alone(func(q *asking) { withdrawn(q); planted(q, protocol.KeepFindings, protocol.InquiryFindings{}, nil) })},
		{"a trace of who withdraws", "F81 F78", inquiries.Present, alone(func(q *asking) { withdrawn(q); trace(q) })},
	}
}

func flowsOfMail() []flow {
	mail := func(from, host, body string, to func(a protocol.Address) protocol.Address) func(q *asking) []inquiries.Mail {
		return func(q *asking) []inquiries.Mail {
			return []inquiries.Mail{q.beside(from, host, body, to(q.value().Members[0].Agent))}
		}
	}
	bad := func(from, host string) func(q *asking) []inquiries.Mail {
		return mail(from, host, "The second is bad.", func(a protocol.Address) protocol.Address { return a })
	}
	after := func(steps int, do func(q *asking) []inquiries.Mail) func(q *asking) []inquiries.Mail {
		return func(q *asking) []inquiries.Mail {
			for range steps {
				q.step()
			}
			return do(q)
		}
	}
	tells := func(from, host, body string) func(q *asking) []inquiries.Mail {
		return func(q *asking) []inquiries.Mail {
			m := q.beside(from, host, body, protocol.Address{Name: "nat", Host: "a"})
			q.until(inquiries.Preview)
			return []inquiries.Mail{m}
		}
	}
	bare := func(a protocol.Address) protocol.Address { return protocol.Address{Name: a.Name} }
	return []flow{
		{"the coordinator, by a bare name", "F37", inquiries.Await, mail("m", "a", "The second is bad.", bare)},
		{"the coordinator, before the start", "F13", inquiries.Spawn, bad("m", "a")},
		{"the coordinator, while others work", "F37", inquiries.Await, after(1, bad("m", "a"))},
		{"the coordinator, before the topic", "F54 F57", inquiries.Dialogue, bad("m", "a")},
		{"the coordinator, after the outcomes", "F57", inquiries.Synthesize, bad("m", "a")},
		{"a member, to one who has signalled", "F42", inquiries.Await, after(1, bad("lens-2", "b"))},
		{"a member, when all have signalled", "F42", inquiries.Collect, bad("lens-2", "b")},
		{"a member, before the preview", "F42", inquiries.Preview, bad("lens-2", "b")},
		{"the members' host", "F42", inquiries.Await, bad("b", "b")},
		{"another agent", "F37", inquiries.Await, bad("x", "a")},
		{"the human", "F37", inquiries.Await, bad("nat", "a")},
		{"another agent, to a peer", "F54", inquiries.Dialogue, after(1, bad("x", "a"))},
		{"a peer, after the outcomes", "F52", inquiries.Synthesize, bad("lens-2", "b")},
		{"a third member, to a peer", "F54", inquiries.Present, func(q *asking) []inquiries.Mail {
			q.until("")
			q.yes(inquiries.Extend)
			q.until("")
			q.yes(inquiries.AddPerspective)
			q.until("")
			q.yes("Security 2")
			q.until(inquiries.Dialogue)
			q.step()
			return bad("lens-3", "b")(q)
		}},
		{"the coordinator, before another host resumes", "F37", inquiries.Await, func(q *asking) []inquiries.Mail {
			m := bad("m", "a")(q)
			q.atBoth()
			q.resumedBy("b", "k")
			return m
		}},
		{"in the inquiry's own channel", "F36", inquiries.Dialogue, func(q *asking) []inquiries.Mail {
			m := bad("x", "a")(q)
			m[0].Message.Path = protocol.NewPath(q.channel, q.at, 1)
			return m
		}},
		{"half of a result", "F42", inquiries.Await, tells("k", "b", "It sees what the others do not; keeps stores/first")},
		{"a result in other lines and letters", "F42", inquiries.Await, tells("k", "b", "OPERATIONS SEES WHAT\nTHE OTHERS DO NOT")},
		{"a result, from another host", "F42", inquiries.Await, func(q *asking) []inquiries.Mail {
			return tells("x", "a", q.resultOf("Operations", 1))(q)
		}},
	}
}

// goodFlows are those of good hosts: they break nothing.
func goodFlows() []flow {
	return []flow{
		{"a host that was cut off tells what its member found", "", inquiries.Await, alone(func(q *asking) {
			v := q.value()
			at := q.at
			q.at = q.at.Add(10 * time.Minute)
			q.must("a", q.perform(v, inquiries.Call{Do: protocol.ActFrameGate, By: v.Coordinator, Gate: protocol.GateLost, Perspective: "Operations"}))
			q.yes(inquiries.RunElsewhere)
			q.must("a", q.perform(q.value(), inquiries.Next(q.value())[0]))
			q.before(at, func() {
				w := protocol.InquirySignal{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{From: "b", At: at}}, Perspective: "Operations", Attempt: 1, Outcome: protocol.SignalCompleted, Result: protocol.Hash([]byte(q.resultOf("Operations", 1))), Grade: "process"}
				q.say(q.wide["b"], Draft{Channel: q.channel, Message: protocol.Message{From: "b", To: []protocol.Address{v.Coordinator}, Type: protocol.TypeText, Act: protocol.ActFrameSignal, Body: protocol.SignalEnd.Format(w), Re: protocol.Refer(q.channel, v.Last)}})
			})
		})},
		{"a coordinator that was cut off had joined it", "", inquiries.Synthesize, alone(func(q *asking) {
			q.atBoth()
			v, at := q.value(), q.at
			w := q.synthesis(v)
			q.at = q.at.Add(10 * time.Minute)
			q.resumedBy("b", "k")
			q.must("b", q.perform(q.value(), inquiries.Next(q.value())[0]))
			q.before(at, func() {
				w.Say(protocol.FormHead{From: "m", At: at}, 1)
				q.say(q.wide["a"], Draft{Channel: q.channel, Message: protocol.Message{From: "m", To: []protocol.Address{{Name: "nat", Host: "a"}}, Type: protocol.TypeText, Act: protocol.ActFrameSynthesis, Body: protocol.Synthesize.Format(w), Re: protocol.Refer(q.channel, v.Last)}})
			})
		})},
		{"a coordinator that was cut off joins it later", "", inquiries.Synthesize, alone(func(q *asking) {
			q.atBoth()
			v := q.value()
			w := q.synthesis(v)
			q.resumedBy("b", "k")
			q.must("b", q.perform(q.value(), inquiries.Next(q.value())[0]))
			w.Say(protocol.FormHead{From: "m", At: q.at}, 1)
			q.say(q.wide["a"], Draft{Channel: q.channel, Message: protocol.Message{From: "m", To: []protocol.Address{{Name: "nat", Host: "a"}}, Type: protocol.TypeText, Act: protocol.ActFrameSynthesis, Body: protocol.Synthesize.Format(w), Re: protocol.Refer(q.channel, v.Last)}})
		})},
		{"what follows from a decision that an end overtook", "", inquiries.Present, alone(func(q *asking) {
			q.until("")
			q.atBoth()
			v, at := q.value(), q.at
			q.at = q.at.Add(10 * time.Minute)
			q.yes(inquiries.WrapUp)
			q.until("")
			q.before(at, func() {
				h := q.human("nat", "b", protocol.HumanDecision{Gate: v.Path, GateHash: v.Hash, Act: protocol.ActFrameEsc})
				drafts, err := q.state.Decide(Do{h.Esc(q.channel, "")}, q.at)
				if err != nil {
					q.Fatal(err)
				}
				drafts[0].Message.Re = protocol.Refer(q.channel, v.Last)
				q.say(q.wide["b"], drafts[0])
			})
		})},
		{"another agent speaks for a peer that was lost", "", inquiries.Dialogue, alone(func(q *asking) {
			q.step()
			v := q.value()
			q.must("a", q.perform(v, inquiries.Call{Do: protocol.ActFrameGate, By: v.Coordinator, Gate: protocol.GateLost, Perspective: v.Tensions[0].Turn()}))
			q.yes(inquiries.RunElsewhere)
			q.until(inquiries.Synthesize)
		})},
		{"a host says the same twice", "", inquiries.Preview, alone(func(q *asking) {
			v := q.value()
			drafts, err := q.state.Decide(Do{q.perform(v, inquiries.Next(v)[0])}, q.at)
			if err != nil {
				q.Fatal(err)
			}
			q.say(q.wide["a"], drafts[0])
			q.say(q.wide["a"], drafts[0])
		})},
		{"other business of a real agent, and of all", "", inquiries.Map, func(q *asking) []inquiries.Mail {
			q.agents = []string{"k@b", "l@b"}
			q.until("")
			q.yes("k@b")
			q.until(inquiries.Await)
			mail := []inquiries.Mail{
				q.beside("x", "a", "The build is at 12:00.", protocol.Address{Name: "k", Host: "b"}),
				q.beside("zoe", "b", "The store is down.", protocol.Address{Name: protocol.All}),
			}
			q.until(inquiries.Present)
			return append(mail, q.beside("m", "a", "The build is at 13:00.", protocol.Address{Name: "k", Host: "b"}))
		}},
		{"a colleague's plain sentence", "", inquiries.Await, func(q *asking) []inquiries.Mail {
			m := q.beside("x", "b", "In stores/README.md there are 2 stores.", protocol.Address{Name: "nat", Host: "a"})
			q.until(inquiries.Preview)
			return []inquiries.Mail{m}
		}},
	}
}

// It prevents: what a field says that nobody knows passes, because hosts do not keep such fields.
func TestFlowOfUnknownFields(t *testing.T) {
	q := newAsking(t)
	q.reach(inquiries.Await)
	proof := inquiries.Verify(testRecord, func(yield func(*affair.Candidate) bool) {
		for c := range (deeds{q.state, affair.ID{Kind: inquiries.KindName, Name: q.channel.String()}}).After(affair.Position{}) {
			if m := *c.Message; c.Act == protocol.ActFrameStart {
				m.Extra, c.Message = []protocol.Field{{Key: "hint", Value: "the second is bad"}}, &m
			}
			if !yield(c) {
				return
			}
		}
	}, nil)
	if got := proof.Faults; len(got) == 0 || got[0].Line != "F13" {
		t.Errorf("a field that nobody knows breaks %v", got)
	}
}
