package main

import (
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// frameShapes are what the commands of inquiries print.
func frameShapes() map[string][]shape {
	one := []shape{{value: exampleFrame()}}
	opened := []shape{{value: control.FrameOpened{Decides: "epoch 2 by mawjs", At: exampleTime(0), Message: examplePath("b2c3d4f2").String(), Frame: exampleFrame()}}}
	return map[string][]shape{
		"parley frame":        opened,
		"parley frame list":   {{value: control.FrameList{Frames: []control.Frame{exampleFrame()}}}},
		"parley frame show":   {{value: exampleFrame(), lines: true, when: "with `--watch` one for each change"}},
		"parley frame answer": one,
		"parley frame esc":    one,
		"parley frame resume": opened,
		"parley frame verify": {{value: exampleProof()}},
		"parley frame export": {{value: exampleDocument()}},
	}
}

// exampleFrame is an inquiry with a value in every part.
func exampleFrame() control.Frame {
	gate := protocol.InquiryQuestion{ID: "onwards", Options: []protocol.InquiryOption{{Key: "extend", About: "Deepen Operations: its figures rest on one month"}}}
	return control.Frame{
		ID: "1f2e3d4c", Channel: examplePath("b2c3d4f2").Channel(), Path: examplePath("b2c3d4f2").String(), Hash: protocol.Hash([]byte("file")), Question: "Which of the two stores should we keep?",
		QuestionHash: protocol.Hash([]byte("question")), State: "GATE_ROUTE", StateText: "how to go on", Over: true, Waits: "nat@white to decide", Trouble: "mawjs, asked for frame-brief: it is no JSON", Helps: "parley frame resume 1f2e3d4c", Began: exampleTime(0), Ended: exampleTime(2),
		By: "nat@white", Deciders: []string{"nat@white"}, Coordinator: "mawjs@white", Epoch: 1, Mode: "inquire", AskedMode: "inquire", In: "/home/nat/stores", Snapshot: protocol.Hash([]byte("stores")), Receivers: []string{"mawjs@white", "mawui@white"}, Cycle: 1, Cost: 20, Last: examplePath("b2c3d4f3").String(),
		Gate: &control.FrameGate{
			Path: examplePath("b2c3d4f3").String(), Hash: protocol.Hash([]byte("gate")), Gate: "route", Perspective: "Operations", Set: protocol.InquirySet("route", []protocol.InquiryQuestion{gate}),
			Questions: []protocol.InquiryQuestion{{ID: "onwards", Multi: true, Options: []protocol.InquiryOption{{Key: "extend", About: gate.Options[0].About}}}},
			Contested: true, Answers: []string{protocol.Hash([]byte("answer"))}, Said: []control.FrameAnswer{{Hash: protocol.Hash([]byte("answer")), By: "nat", Time: exampleTime(1), Chosen: []protocol.InquiryChoice{{Question: "onwards", Options: []string{"add-input"}}}, Text: "The contract ends in June."}}, Time: exampleTime(1), NoKey: true, Proposal: "Deepen Operations.", Cost: "Runs of agents: 3 in all, and no more: a recommendation has no team.", Asker: exampleAsker(), File: "LS0t",
		},
		Members: []control.FrameMember{{
			Perspective: "Operations", Agent: "mawui@white", Attempt: 1, State: "told", Started: exampleTime(0), Ended: exampleTime(1), Grade: "process", Degraded: "its program keeps no sessions",
			Problem: "exit code 1", Flags: []string{"\"Assessment\" names no evidence"}, Result: "## Epistemic Contribution",
		}},
		Brief:        protocol.InquiryBrief{InquiryWords: protocol.InquiryWords{Epoch: 1}, Abstract: true, Intent: "which store to keep", Deliverable: "a recommendation", Scope: "stores/ only", Mode: "inquire", Why: "cost and operation may differ"},
		Perspectives: []protocol.InquiryPerspective{{Name: "Operations", Contribution: "what breaks at night", TensionWith: "Cost accounting", Referent: "the second store"}},
		Base:         []string{"Cost accounting"}, Chosen: []string{"Cost accounting", "Operations"},
		Previews:     []protocol.InquiryGlance{{Perspective: "Operations", Title: "What breaks at night", Summary: "The second store needs a restart a week.", Limits: "It says nothing of cost.", Flags: []string{"\"Assessment\" names no evidence"}}},
		NoneProposed: "The brief names nothing that can be looked at.",
		Detection:    "Looked for contradiction, horizon intersection and high-stakes claims.",
		Tensions: []control.FrameTension{{
			ID: "1.1", Topics: []string{"the second store"}, Peers: []string{"Operations", "Cost accounting"}, Messages: 2, Closed: true, Resolution: "partial", Strength: "moderate", Basis: "both count nights",
			Agreement: "Operations: it is cheaper", Divergence: "Operations: what a night is worth",
		}},
		FrameOutcome: control.FrameOutcome{Synthesis: "## Convergence", Syntheses: 1, Trace: []protocol.InquiryTraceRow{{Perspective: "Operations", Sections: []string{"Divergence"}, Survived: true, Unaddressed: []string{"cost"}}}, Gaps: []string{"cost"},
			Tier: "narrowing", Note: "begin an inquiry with these perspectives", Findings: []string{"assessment"}, Remarks: []string{"Operations and Cost accounting gave one and the same text: it counts as one source, and is no agreement."}},
		Here: true, Mine: true,
	}
}

func exampleProof() control.FrameProof {
	return control.FrameProof{
		Record: "5e1b2c", Frame: examplePath("b2c3d4f2").Channel().String(), Question: "Which of the two stores should we keep?", State: "WRAPPED_UP", StateText: "wrapped up", Deeds: 41, Holds: true,
		Lines:  []control.FrameLine{{Line: "F42", Text: "the hash of each result is there before the text of any", Result: "holds", Shown: examplePath("b2c3d4f3").String()}},
		Faults: []inquiry.Fault{{Line: "F42", At: examplePath("b2c3d4f3"), Why: "it is another result than the one whose hash was told", Breaks: true}},
	}
}

// exampleDocument is a document with a value in every part.
func exampleDocument() control.FrameDocument {
	said := []inquiry.Said{{Perspective: "Operations", Text: "It needs a restart a week.", Path: examplePath("b2c3d4f4"), Done: true}}
	return control.FrameDocument{
		Record: "5e1b2c", Frame: exampleFrame(), Context: "There are two stores.",
		Dialogues: []*inquiry.Tension{{
			ID: "1.1", Cycle: 1, Peers: [2]string{"Operations", "Cost accounting"}, Messages: said, Asked: said, Answers: said,
			Reports: []protocol.InquiryReport{{InquiryTalk: protocol.InquiryTalk{Inquiry: examplePath("b2c3d4f2").Channel(), Tension: "1.1"}, Perspective: "Operations", Position: "Keep the first.", Agreement: "It is cheaper.", Divergence: "What a night is worth.", Rationale: "Nobody is awake then."}},
			Triggers: []protocol.InquiryTrigger{{
				Kind: "contradiction", Peers: []string{"Operations", "Cost accounting"}, Topic: "the second store", Why: "it is the core of the question",
				Quotes: []protocol.InquiryQuote{{Perspective: "Operations", Section: "Assessment", Words: "Keep the first."}},
			}},
		}},
		Agreements: []protocol.InquiryAgreement{{Point: "It is cheaper.", Perspectives: []string{"Operations", "Cost accounting"}, Strength: "moderate"}},
		Basis:      []protocol.InquiryBasis{{Claim: "Keep the first.", Kind: "result", Sources: []protocol.InquirySource{{Perspective: "Operations", Words: "Keep the first."}}}},
		Inputs:     []string{"The contract ends in May."},
		Decisions: []control.FrameDecision{{
			Gate: "route", About: "Operations", Chosen: []string{"add-input"}, Text: "The contract ends in May.", Human: "nat@white", Time: exampleTime(1), Message: examplePath("b2c3d4f5").String(), Key: "UA5X", Counts: true,
		}},
		Findings: []protocol.InquiryFinding{{Category: "assessment", Words: "Keep the first."}},
		Late:     []inquiry.Late{{Perspective: "Operations", Attempt: 1, Path: examplePath("b2c3d4f6"), Result: protocol.Hash([]byte("result"))}},
		Attempts: []control.FrameAttempt{{Perspective: "Operations", Attempt: 1, Agent: "mawui@white", Result: "## Epistemic Contribution"}},
	}
}
