// Package report makes documents of inquiries. What agents and humans wrote is only material in
// them: it is set apart, and nothing in it becomes markup.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// JSON is the document as JSON, indented.
func JSON(d control.FrameDocument) (string, error) {
	var line, indented bytes.Buffer
	err := control.WriteJSON(&line, d)
	if err == nil {
		err = json.Indent(&indented, line.Bytes(), "", "  ")
	}
	if err != nil {
		return "", fmt.Errorf("cannot write it as JSON: %w", err)
	}
	return indented.String(), nil
}

// paper is what a document is written on. Texts may be those of others: a paper sees to it that none
// of them becomes markup. Something that links lead to has an id.
type paper interface {
	chapter(id, title string)
	heading(id, title string)
	line(format string, args ...any)
	quote(all ...part)
	items(all ...item)
}

type part struct{ id, text string }

// item is a line of a list. If it has a link, its name leads there.
type item struct {
	name, link, text string
	under            []item
}

func (x item) String() string {
	if x.name == "" || x.text == "" {
		return x.name + x.text
	}
	return x.name + ": " + x.text
}

func write(p paper, d control.FrameDocument, proof control.FrameProof) {
	f, to := d.Frame, newAnchors(d)
	p.line("Asked by %s on %s. Coordinated by %s. State: %s.", f.By, f.Began.Format("2 January 2006"), f.Coordinator, state(f))
	if f.In != "" {
		p.line("Investigated: %s.", f.In)
	}
	p.chapter("question", "Question, word for word")
	p.quote(part{text: f.Question})
	p.line("SHA-256: %s", f.QuestionHash)
	if f.Brief.Intent != "" {
		p.chapter("brief", "Mission brief")
		p.items(item{name: "Intent", text: f.Brief.Intent}, item{name: "Deliverable", text: f.Brief.Deliverable}, item{name: "Scope", text: f.Brief.Scope}, item{name: "Mode", text: f.Mode})
	}
	if f.Synthesis != "" {
		p.chapter("analysis", "Framed analysis")
		for i, section := range strings.Split("\n"+f.Synthesis, "\n## ") {
			title, text, _ := strings.Cut(section, "\n")
			if i > 0 {
				p.heading("", title)
			}
			if text = strings.TrimSpace(text); text != "" {
				p.quote(part{text: text})
			}
		}
		p.chapter("basis", "What each claim rests on")
		writeClaims(p, d, to)
	}
	if len(f.Chosen) > 0 {
		p.chapter("perspectives", "Perspectives")
	}
	for _, name := range f.Chosen {
		p.heading(to.perspectives[name], name)
		writePerspective(p, d, name, to.results[name])
	}
	for i, x := range d.Dialogues {
		if i == 0 {
			p.chapter("dialogues", "Dialogues")
		}
		p.heading("d"+x.ID, x.ID+": "+strings.Join(x.Topics(), "; "))
		writeDialogue(p, f, x)
	}
	for i, text := range d.Inputs {
		if i == 0 {
			p.chapter("inputs", "What the human added")
		}
		p.quote(part{text: text})
	}
	if len(f.Trace) > 0 {
		p.chapter("trace", "What each perspective gave")
		writeTrace(p, f)
	}
	p.chapter("decisions", "Decisions")
	writeDecisions(p, d)
	p.chapter("check", "How to check it")
	p.line("Every step is a message in the git record %s. In a clone of it: parley frame verify %s", d.Record, f.ID)
	writeProof(p, proof)
}

var kinds = map[string]string{
	"result": "a result from isolated inquiry", "dialogue-agreement": "agreement in dialogue", "dialogue-divergence": "divergence in dialogue",
	"user_input": "input of the human", "synthesis": "the coordinator's own joining",
}

func writeClaims(p paper, d control.FrameDocument, to anchors) {
	var claims []item
	for _, x := range d.Basis {
		claim := item{text: x.Claim, under: []item{{text: kinds[x.Kind]}}}
		for _, s := range x.Sources {
			claim.under = append(claim.under, item{name: cmp.Or(s.Perspective, "the human"), link: to.of(x.Kind, s), text: quoted("", s.Words)})
		}
		claims = append(claims, claim)
	}
	p.items(claims...)
	for _, a := range d.Agreements {
		p.line("Agreement (%s) of %s: %s", a.Strength, strings.Join(a.Perspectives, ", "), a.Point)
	}
}

func writePerspective(p paper, d control.FrameDocument, name string, result []part) {
	for _, x := range d.Frame.Perspectives {
		if x.Name == name {
			p.line("%s", x.Contribution)
		}
	}
	for _, a := range d.Attempts {
		if a.Perspective == name {
			p.line("Attempt %d by %s was followed by another one.", a.Attempt, a.Agent)
		}
	}
	for _, m := range d.Frame.Members {
		if m.Perspective != name {
			continue
		}
		p.line("Investigated by %s (attempt %d, isolated by %s).", m.Agent, m.Attempt, m.Grade)
		if m.Degraded != "" {
			p.line("Degraded: %s.", m.Degraded)
		}
		for _, flag := range m.Flags {
			p.line("Flag: %s.", flag)
		}
		if m.Problem != "" {
			p.line("It has no result:")
			p.quote(part{text: m.Problem})
		}
		if m.Result != "" {
			p.quote(result...)
		}
	}
}

func writeDialogue(p paper, f control.Frame, d *inquiry.Tension) {
	for _, t := range d.Triggers {
		for _, q := range t.Quotes {
			p.line("%s, from %s of %s: “%s”", t.Kind, q.Section, q.Perspective, q.Words)
		}
	}
	said := func(heading string, all []inquiry.Said) {
		for _, m := range all {
			p.line(heading, m.Perspective)
			p.quote(part{text: m.Text})
		}
	}
	said("%s:", d.Messages)
	for _, r := range d.Reports {
		p.line("%s reports:", r.Perspective)
		p.items(item{name: "Final position", text: r.Position}, item{name: "Agreement points", text: r.Agreement},
			item{name: "Remaining divergence", text: cmp.Or(strings.TrimSpace(r.Divergence), "none")}, item{name: "Rationale", text: r.Rationale})
	}
	said("Asked once more, %s:", d.Asked)
	said("%s answers:", d.Answers)
	for _, t := range f.Tensions {
		if t.ID == d.ID && t.Resolution != "" {
			p.line("Outcome: %s; agreement %s: %s", t.Resolution, t.Strength, t.Basis)
		}
	}
}

func writeTrace(p paper, f control.Frame) {
	var rows, gaps []item
	for _, t := range f.Trace {
		rows = append(rows, item{name: t.Perspective, text: strings.Join(t.Sections, ", ") + "; what it alone found is " + map[bool]string{false: "not "}[t.Survived] + "in the synthesis"})
	}
	p.items(rows...)
	for _, gap := range f.Gaps {
		gaps = append(gaps, item{text: gap})
	}
	if len(gaps) > 0 {
		p.chapter("gaps", "Coverage gaps")
		p.items(gaps...)
	}
}

func writeDecisions(p paper, d control.FrameDocument) {
	var decisions []item
	for _, x := range d.Decisions {
		text := x.Time.Format("2006-01-02 15:04:05 MST") + ", " + x.Human + ", at the gate " + x.Gate
		if x.About != "" {
			text += " about " + x.About
		}
		text += ": " + strings.Join(x.Chosen, ", ") + quoted(" — ", x.Text)
		if !x.Counts {
			text += " (does not count)"
		}
		decisions = append(decisions, item{text: text})
	}
	if len(decisions) == 0 {
		decisions = []item{{text: "None yet."}}
	}
	p.items(decisions...)
	for _, l := range d.Late {
		p.line("Came too late to count: attempt %d of %s.", l.Attempt, l.Perspective)
	}
}

func writeProof(p paper, proof control.FrameProof) {
	holds := 0
	for _, l := range proof.Lines {
		if l.Result == "holds" {
			holds++
		}
	}
	if proof.Holds {
		p.line("When this was written %d lines of the form were proved, and none is broken.", holds)
		return
	}
	p.line("When this was written, lines of the form were BROKEN:")
	var faults []item
	for _, x := range proof.Faults {
		faults = append(faults, item{name: fmt.Sprintf("%s at %s", x.Line, x.At), text: x.Why})
	}
	p.items(faults...)
}

func quoted(mark, words string) string {
	if strings.TrimSpace(words) == "" {
		return ""
	}
	return mark + "“" + words + "”"
}

func state(f control.Frame) string {
	if f.Over {
		return f.StateText
	}
	return "not over yet (" + f.StateText + ")"
}

type anchors struct {
	perspectives map[string]string // IDs of the chosen ones, by name
	results      map[string][]part // by perspective; a part with an ID is words on which claims rest
}

func newAnchors(d control.FrameDocument) anchors {
	to := anchors{map[string]string{}, map[string][]part{}}
	for i, name := range d.Frame.Chosen {
		id := fmt.Sprintf("p%d", i+1)
		var cited []part
		for _, x := range d.Basis {
			for _, s := range x.Sources {
				known := slices.ContainsFunc(cited, func(c part) bool { return c.text == s.Words })
				if x.Kind == "result" && s.Perspective == name && s.Words != "" && !known {
					cited = append(cited, part{fmt.Sprintf("%s-%d", id, len(cited)+1), s.Words})
				}
			}
		}
		to.perspectives[name] = id
		for _, m := range d.Frame.Members {
			if m.Perspective == name {
				to.results[name] = marked(m.Result, cited)
			}
		}
	}
	return to
}

// of is the ID of what a claim rests on: of words in a result, or of the perspective; "" for neither.
func (to anchors) of(kind string, s protocol.InquirySource) string {
	for _, part := range to.results[s.Perspective] {
		if kind == "result" && part.id != "" && part.text == s.Words {
			return part.id
		}
	}
	return to.perspectives[s.Perspective]
}

// marked cuts a result into parts, so that the words on which claims rest can be linked to. Words
// that overlap words before them become no part of their own.
func marked(text string, cited []part) (parts []part) {
	for len(text) > 0 {
		first, at := -1, len(text)
		for i, c := range cited {
			if j := strings.Index(text, c.text); c.text != "" && j >= 0 && j < at {
				first, at = i, j
			}
		}
		if first < 0 {
			break
		}
		c := cited[first]
		parts = append(parts, part{"", text[:at]}, c)
		text = text[at+len(c.text):]
		cited = append(append([]part{}, cited[:first]...), cited[first+1:]...)
	}
	return append(parts, part{"", text})
}

// printable is a text without control characters, except tabs and line ends: a control character
// could move the cursor of somebody who reads it at a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ' || r >= 0x7f && r < 0xa0, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return -1
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n"))
}
