package report

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// hostile is a text that tries to be more than text: markup, the end of a fence, terminal
// sequences, a comment, and a sign that turns the direction of what stands behind it.
const hostile = "</pre><script>alert(1)</script>\n```\n# not a heading\n<!-- \x1b[2J\x1b]0;title\x07 -->\u202eedoc\u202c [link](javascript:alert(1)) & \"quotes\""

func example(words string) (control.FrameDocument, control.FrameProof) {
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	d := control.FrameDocument{
		Record: "5e1b2c",
		Frame: control.Frame{
			ID: "1f2e3d4c", Question: words, QuestionHash: "abc", State: "WRAPPED_UP", StateText: "wrapped up", Over: true, By: "nat@white", Coordinator: "chair@white", Mode: "inquire", Began: at, In: words,
			Brief:        protocol.InquiryBrief{Intent: words, Deliverable: words, Scope: words},
			Chosen:       []string{words, "Sleep"},
			Perspectives: []protocol.InquiryPerspective{{Name: words, Contribution: words}},
			Members: []control.FrameMember{
				{Perspective: words, Agent: "lens-1@white", Attempt: 2, Grade: "process", Result: "Keep the first. " + words, Degraded: words, Flags: []string{words}},
				{Perspective: "Sleep", Agent: "lens-2@black", Attempt: 1, Problem: words},
			},
			Tensions: []control.FrameTension{{ID: "1.1", Resolution: "partial", Strength: "weak", Basis: words}},
			FrameOutcome: control.FrameOutcome{
				Synthesis: "## Convergence\n" + words + "\n\n## Integrated Assessment\n" + words, Trace: []protocol.InquiryTraceRow{{Perspective: words, Sections: []string{words}, Survived: true}}, Gaps: []string{words},
			},
		},
		Dialogues: []*inquiry.Tension{{
			ID: "1.1", Messages: []inquiry.Said{{Perspective: words, Text: words}}, Asked: []inquiry.Said{{Perspective: words, Text: words}},
			Answers: []inquiry.Said{{Perspective: words, Text: words}}, Reports: []protocol.InquiryReport{{Perspective: words, Position: words, Agreement: words, Rationale: words}},
			Triggers: []protocol.InquiryTrigger{{Kind: "contradiction", Topic: words, Quotes: []protocol.InquiryQuote{{Perspective: words, Section: "Assessment", Words: words}}}},
		}},
		Agreements: []protocol.InquiryAgreement{{Point: words, Perspectives: []string{words}, Strength: "weak"}},
		Basis: []protocol.InquiryBasis{
			{Claim: words, Kind: "result", Sources: []protocol.InquirySource{{Perspective: words, Words: "Keep the first."}}},
			{Claim: words, Kind: "user_input", Sources: []protocol.InquirySource{{Words: words}}},
		},
		Inputs: []string{words}, Attempts: []control.FrameAttempt{{Perspective: words, Attempt: 1, Agent: "lens-1@red"}},
		Decisions: []control.FrameDecision{{Gate: "route", About: words, Chosen: []string{words}, Text: words, Human: "nat@white", Time: at}},
		Late:      []inquiry.Late{{Perspective: words, Attempt: 1}},
	}
	return d, control.FrameProof{Holds: false, Faults: []inquiry.Fault{{Line: "F42", Why: words}}}
}

// What others wrote is only text in every form of the document.
func TestHostileTextsStayTexts(t *testing.T) {
	d, proof := example(hostile)
	html, md := HTML(d, proof), Markdown(d, proof)
	for _, bad := range []string{"<script", "</pre><script", "<!-- ", `href="javascript`} {
		if strings.Contains(html, bad) {
			t.Errorf("the HTML has %q", bad)
		}
	}
	for name, text := range map[string]string{"HTML": html, "Markdown": md} {
		if strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Errorf("the %s has control characters", name)
		}
		if !strings.Contains(text, "alert(1)") {
			t.Errorf("the %s leaves the text out", name)
		}
	}
	fenced := false
	for line := range strings.SplitSeq(md, "\n") {
		if strings.HasPrefix(line, "````") {
			fenced = !fenced
		}
		if !fenced && (strings.HasPrefix(line, "# not") || strings.Contains(line, "<script")) {
			t.Errorf("markup of others outside of a fence: %q", line)
		}
	}
	text, err := JSON(d)
	var back control.FrameDocument
	if err != nil || json.Unmarshal([]byte(text), &back) != nil || back.Frame.Question != hostile {
		t.Errorf("the JSON is another document: %v", err)
	}
}

// Each claim leads to the words of a result on which it rests. An inquiry that has only begun gives
// a document too.
func TestClaimsLeadToTheirWords(t *testing.T) {
	d, proof := example("Cost")
	html := HTML(d, proof)
	for _, want := range []string{`<a href="#p1-1">Cost</a>: “Keep the first.”`, `<mark id="p1-1">Keep the first.</mark>`, "@media print", `default-src &#39;none&#39;`, "lines of the form were BROKEN"} {
		if !strings.Contains(html, want) && !strings.Contains(html, strings.ReplaceAll(want, "&#39;", "'")) {
			t.Errorf("the HTML does not have %q", want)
		}
	}
	// Several claims may rest on the same words, or on words that overlap: no link leads nowhere.
	same, overlapping := d.Basis[0], d.Basis[0]
	overlapping.Sources = slices.Clone(overlapping.Sources)
	overlapping.Sources[0].Words = "the first."
	d.Basis = append(d.Basis, same, overlapping)
	html = HTML(d, proof)
	if n := strings.Count(html, `<a href="#p1-1">Cost</a>: “Keep the first.”`); n != 2 {
		t.Errorf("%d claims lead to the same words, want 2", n)
	}
	for _, link := range regexp.MustCompile(`href="#([^"]+)"`).FindAllStringSubmatch(html, -1) {
		if !strings.Contains(html, `id="`+link[1]+`"`) {
			t.Errorf("the link to %s leads nowhere", link[1])
		}
	}
	begun := control.FrameDocument{Frame: control.Frame{ID: "1f2e3d4c", Question: "Which?", State: "OPENED", StateText: "the brief is drafted"}}
	if html := HTML(begun, control.FrameProof{Holds: true}); !strings.Contains(html, "<title>Which?</title>") || strings.Contains(html, "Framed analysis") {
		t.Errorf("of one that has begun:\n%s", html)
	}
	if md := Markdown(begun, control.FrameProof{Holds: true}); !strings.HasPrefix(md, "# Which?\n") || !strings.Contains(md, "None yet.") || !strings.Contains(md, "State: not over yet (the brief is drafted).") {
		t.Errorf("of one that has begun:\n%s", md)
	}
}
