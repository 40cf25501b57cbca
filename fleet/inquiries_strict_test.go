package fleet

import (
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// reworded is the next call, with its message changed after all rules were asked.
func (q *asking) reworded(change func(m *protocol.Message)) {
	q.Helper()
	v := q.value()
	c := inquiries.Next(v)[0]
	drafts, err := q.state.Decide(Do{q.perform(v, c)}, q.at)
	if err != nil {
		q.Fatal(err)
	}
	d := drafts[0]
	change(&d.Message)
	q.say(q.wide[protocol.Name(c.By.Host)], d)
}

// instead is the next call with other words.
func instead(old, text string) func(q *asking) {
	return func(q *asking) {
		q.Helper()
		q.reworded(func(m *protocol.Message) {
			body := strings.Replace(m.Body, old, text, 1)
			if body == m.Body {
				q.Errorf("%q stands nowhere in %s", old, body)
			}
			m.Body = body
		})
	}
}

// after does n calls, and then something else.
func after(n int, do func(q *asking)) func(q *asking) {
	return func(q *asking) {
		for range n {
			q.step()
		}
		do(q)
	}
}

// toMember is the next call, told to a member too.
func toMember(q *asking) {
	who := protocol.Address{Name: "lens-1", Host: "b"}
	q.reworded(func(m *protocol.Message) {
		if m.To = append(slices.Clone(m.To), who); m.To[0] == who {
			m.To[1].Name = "lens-2"
		}
	})
}

// Frame, what deeds say: each that says more, less or otherwise than its form is found, with its line. It
// prevents: words that no field has room for, and texts that say nothing, pass as good.
func TestStrictly(t *testing.T) {
	scratch.Long(t)
	topic := func(text string) violation {
		return violation{"F49", inquiries.Detect, instead("the first store", text)}
	}
	joins := func(lines, old, text string) violation {
		return violation{lines, inquiries.Synthesize, instead(old, text)}
	}
	claims := func(what string) violation {
		return violation{"F61 F59 F62", inquiries.Synthesize, func(q *asking) {
			planted(q, protocol.Synthesize, q.synthesis(q.value()), func(w *protocol.InquirySynthesis) {
				w.Basis[0].Claim = "It keeps " + what + "."
				w.Text = strings.Replace(w.Text, "Operations keeps stores/first.", w.Basis[0].Claim, 1)
			})
		}}
	}
	divided := func(n int, do func(q *asking)) func(q *asking) {
		return func(q *asking) { q.divided = true; after(n, do)(q) }
	}
	all := []violation{
		// texts that say nothing
		{"F3", inquiries.Opened, instead("Which store fits what we write", "?")}, {"F3", inquiries.Opened, instead("a recommendation", "to be decided")},
		{"F3", inquiries.Opened, instead("a recommendation", "unknown")}, {"F44", inquiries.Preview, instead("It keeps the first.", "same as above")},
		{"F44", inquiries.Preview, instead("It keeps the first.", "\u200b")}, {"F44", inquiries.Preview, instead("\"limits\": \"cost\"", "\"limits\": \"n.a.\"")},
		{"F55", inquiries.Dialogue, after(4, instead("It is so.", "See above."))}, {"F55", inquiries.Dialogue, after(4, instead("There are 2 stores.", "tba"))},
		{"F56", inquiries.Dialogue, divided(6, instead("What follows from that?", "TBD"))}, {"F56", inquiries.Dialogue, divided(6, instead("What follows from that?", "…?"))},
		{"F56", inquiries.Dialogue, divided(4, instead("Which one.", "Keine."))}, {"F56", inquiries.Dialogue, divided(4, instead("Which one.", "ไม่มี"))},
		{"F47", inquiries.Detect, instead("the first store", "tba")}, {"F12", inquiries.Gather, instead("[\n    \"stores/README.md\"\n  ]", "[]")},
		// more than the form has
		{"F4", inquiries.Opened, func(q *asking) { q.mended(behind) }}, {"F4", inquiries.Opened, func(q *asking) { q.mended(ahead) }}, {"F12", inquiries.Gather, func(q *asking) { q.mended(behind) }},
		{"F14 F36", inquiries.Propose, func(q *asking) { q.mended(behind) }}, {"F14 F36", inquiries.Propose, func(q *asking) { q.mended(ahead) }},
		{"F47", inquiries.Detect, func(q *asking) { q.mended(ahead) }}, {"F60 F59", inquiries.Synthesize, func(q *asking) { q.mended(behind) }},
		// who is told
		{"F13", inquiries.Gather, toMember}, {"F13", inquiries.Propose, toMember}, {"F42", inquiries.Collect, toMember}, {"F44", inquiries.Preview, toMember}, {"F49", inquiries.Detect, toMember},
		{"F66", inquiries.Synthesize, toMember}, {"F54", inquiries.Dialogue, after(1, func(q *asking) {
			q.reworded(func(m *protocol.Message) { m.To = []protocol.Address{q.value().Coordinator} })
		})},
		{"F80", inquiries.Shutdown, func(q *asking) {
			q.reworded(func(m *protocol.Message) { m.To = []protocol.Address{q.value().Coordinator} })
		}},
		{"F80", inquiries.Shutdown, after(1, func(q *asking) {
			w := protocol.InquiryTeam{}
			for _, m := range q.value().Members {
				w.Members = append(w.Members, m.Agent.String())
			}
			planted(q, protocol.ShutDownTeam, w, nil, q.value().Members[0].Agent, q.value().Members[1].Agent)
		})},
		// signals and starts
		{"F42", inquiries.Await, func(q *asking) {
			w := protocol.InquirySignal{Perspective: "Operations", Attempt: 1, Outcome: protocol.SignalCompleted, Result: protocol.Hash([]byte(q.resultOf("Operations", 1))), Grade: "process", Exit: 1234}
			w.From = "b"
			q.plant("b", q.channel, protocol.ActFrameSignal, protocol.SignalEnd.Format(w), q.value().Coordinator)
		}},
		{"F32", inquiries.Spawn, func(q *asking) {
			q.plantStart(func(w *protocol.InquiryStart) {
				w.Orientation = []string{"s"}
				w.Prompt = protocol.Hash([]byte(q.value().Prompt(w.Perspective, w.Orientation)))
			})
		}},
		{"F28", inquiries.Map, instead("lens-2@b", "lens-1@b")},
		// tensions
		{"F47", inquiries.Detect, instead("Cost accounting keeps stores/first", "Operations keeps stores/first")}, {"F47", inquiries.Detect, func(q *asking) {
			planted(q, protocol.DetectTensions, q.detection(q.value()), func(w *protocol.InquiryDetection) { w.Triggers = append(w.Triggers, w.Triggers[0]) })
		}},
		topic("a conflict on stores"), topic("the con-tradiction of stores"), topic("the contra\u00addiction"), topic("the ｃｏｎｔｒａdiction"), topic("a Widerspruch"), topic("ความขัดแย้ง"), topic("矛盾"), topic("the HORIZ0N of it"),
		topic("a high stake"), topic("why Operations is wrong"), topic("who is right on stores"), topic("an unverified claim"), topic("opposing views"),
		// syntheses
		joins("F60", "## Framed Analysis", "## Framed Analysis (sell the second)"), joins("F60", "(Shared Horizon)", "(both say sell)"), joins("F60", "### Integrated Assessment", "### Integrated Assessment: sell it"),
		joins("F60", "### Convergence (Shared Horizon)\n\nThere are 2 stores.\n\n### Divergence (Horizon Conflicts)\n\nThey differ on cost.", "### Divergence\n\nThey differ on cost.\n\n### Convergence\n\nThere are 2 stores."),
		joins("F61", "Operations says so.", "Operations shows that the second one should be sold at once."), joins("F61", "Operations says so.", "Operations says so.\n\n**Sell the second, says everybody who looked at it.**"),
		joins("F61 F62", "\n\nThere are 2 stores.", "\n\nNobody says: There are 2 stores."), joins("F61", "\"words\": \"keeps stores/first.\"", "\"words\": \"## Assessment\""),
		joins("F60", "Operations says so.", "Operations says so.\n\n**Outlook**\n\nOperations says so."), joins("F60", "Operations says so.", "Operations says so.\n\n<h2>Operations</h2>"),
		claims("4711 a month"), claims("stores/second"),
		{"F64", inquiries.Outcomes, func(q *asking) {
			q.step()
			planted(q, protocol.Synthesize, q.synthesis(q.value()), func(w *protocol.InquirySynthesis) {
				w.Basis[0].Kind, w.Basis[0].Sources[0].Words = protocol.BasisDivergence, "There are 2 stores."
			})
		}},
		{"F63", inquiries.Synthesize, func(q *asking) {
			planted(q, protocol.Synthesize, q.synthesis(q.value()), func(w *protocol.InquirySynthesis) {
				w.Agreements = []protocol.InquiryAgreement{{Point: "There are 2 stores.", Perspectives: []string{"Operations", "Cost accounting"}, Strength: "strong"}}
			})
		}},
		{"F75", inquiries.GateRoute, func(q *asking) {
			q.until("")
			if _, err := q.decide("nat", "a", "The second has a licence.", inquiries.AddInput); err != nil {
				q.Fatal(err)
			}
			planted(q, protocol.Synthesize, q.value().Synthesis, nil)
		}},
		// the end
		{"F78", inquiries.Trace, func(q *asking) {
			planted(q, protocol.ShowTrace, traceOf(q.value()), func(w *protocol.InquiryTrace) {
				w.Rows[1].Sections = append(w.Rows[1].Sections, inquiries.SectionIntegrated)
			})
		}},
		{"F78", inquiries.Trace, func(q *asking) {
			planted(q, protocol.ShowTrace, traceOf(q.value()), func(w *protocol.InquiryTrace) { w.Rows[1].Survived = !w.Rows[1].Survived })
		}},
		{"F79", inquiries.Shutdown, after(2, func(q *asking) {
			f := protocol.InquiryFinding{Category: inquiries.KeepDivergence, Words: "They differ on cost."}
			planted(q, protocol.KeepFindings, protocol.InquiryFindings{Gaps: q.value().Trace.Gaps, Findings: []protocol.InquiryFinding{f, f}}, nil)
		})},
	}
	for _, name := range []string{
		"Law/Cost accounting", "Law&Cost accounting", "Law; Cost accounting", "Law – Cost accounting", "Law or Cost accounting", "Law vs. Cost accounting", "Law x Cost accounting", "Law mit Cost accounting",
		"Law和Cost accounting", "Law és Cost accounting", "Alle drei", "Beide", "Tous", "ทั้งหมด", "全部", "A mix of law and tax", "Union of views", "Integrated view", "Overall", "Whole team", "The lenses above", "Combined Cost accounting view",
	} {
		all = append(all, together(name))
	}
	for i, c := range all {
		q := newAsking(t)
		q.tensions = true
		q.reach(c.state)
		c.do(q)
		lines := q.verified()
		for _, line := range strings.Fields(c.lines) {
			if !slices.Contains(lines, line) {
				t.Errorf("%d, planted in %s: %s is to be found, and %q are", i, c.state, c.lines, lines)
			}
		}
	}
}

// It prevents: an honest name, topic, report or quote passes for one that says too much or nothing.
func TestStrictlyHonest(t *testing.T) {
	scratch.Long(t)
	names := []string{
		"Health & Safety", "Research & Development", "Mixed methods research", "Hybrid cloud architecture", "Combination therapy", "All-hazards risk management",
		"Input / output analysis", "OSI layers 2 and 3", "Any-cast routing", "Law and economics", "Overall equipment effectiveness",
	}
	topics := []string{"horizontal scaling", "keeps stores/first", "self-contradictory flags", "the right store", "what it costs"}
	for i := range max(len(names), len(topics)) {
		q := newAsking(t)
		q.tensions, q.divided = true, i%2 == 0
		q.reach(inquiries.Propose)
		planted(q, protocol.ProposePerspectives, q.proposals(q.value()), func(w *protocol.InquiryProposals) {
			w.Perspectives[0].Name, w.Perspectives[1].TensionWith = names[i%len(names)], names[i%len(names)]
		})
		q.until("")
		q.yes(names[i%len(names)], "Cost accounting")
		q.until(inquiries.Detect)
		planted(q, protocol.DetectTensions, q.detection(q.value()), func(w *protocol.InquiryDetection) { w.Triggers[0].Topic = topics[i%len(topics)] })
		q.until(inquiries.Synthesize)
		planted(q, protocol.Synthesize, q.synthesis(q.value()), func(w *protocol.InquirySynthesis) {
			none := []string{"None.", "Keine.", "ไม่มี", "なし", "없음", "Нет.", "No divergence remains."}
			w.Text, w.Others = strings.Replace(w.Text, "They differ on cost.", none[i%len(none)], 1), w.Others[:1]
		}, protocol.Address{Name: "nat", Host: "a"})
		if lines := q.verified(); lines != nil {
			t.Errorf("%s, %s: a good inquiry breaks %q", names[i%len(names)], topics[i%len(topics)], lines)
		}
	}
	for _, agreement := range []string{"n/a", "-", "Keine.", "None."} {
		q := newAsking(t)
		q.tensions = true
		q.reach(inquiries.Dialogue)
		after(4, instead("There are 2 stores.", agreement))(q)
		if lines := q.verified(); lines != nil {
			t.Errorf("a report of peers that agree on nothing, %q, breaks %q", agreement, lines)
		}
	}
}
