// Package report makes documents of inquiries. What agents and humans wrote is only material in
// them: it is set apart, and nothing in it becomes markup.
package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/node/control"
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

// kinds are the kinds of evidence in words.
var kinds = map[string]string{
	"result": "a result from isolated inquiry", "dialogue-agreement": "agreement in dialogue", "dialogue-divergence": "divergence in dialogue",
	"user_input": "input of the human", "synthesis": "the coordinator's own joining",
}

// Markdown is the document as Markdown.
func Markdown(d control.FrameDocument, proof control.FrameProof) string {
	var b strings.Builder
	f := d.Frame
	p := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	p("# %s\n\n", line(f.Question))
	p("Asked by %s on %s. Coordinated by %s. State: %s.\n", line(f.By), day(f.Began), line(f.Coordinator), state(f))
	if f.In != "" {
		p("Investigated: %s.\n", line(f.In))
	}
	p("\n## Question, word for word\n\n%s\nSHA-256: %s\n", quote(f.Question), f.QuestionHash)
	if f.Brief.Intent != "" {
		p("\n## Mission brief\n\n- Intent: %s\n- Deliverable: %s\n- Scope: %s\n- Mode: %s\n", line(f.Brief.Intent), line(f.Brief.Deliverable), line(f.Brief.Scope), f.Mode)
	}
	if f.Synthesis != "" {
		p("\n## Framed analysis\n\n%s", quote(f.Synthesis))
		p("\n### What each claim rests on\n")
		for _, x := range d.Basis {
			p("\n- %s\n  - %s\n", line(x.Claim), kinds[x.Kind])
			for _, s := range x.Sources {
				who := s.Perspective
				if who == "" {
					who = "the human"
				}
				if s.Words == "" {
					p("  - %s\n", line(who))
					continue
				}
				p("  - %s: “%s”\n", line(who), line(s.Words))
			}
		}
		for _, a := range d.Agreements {
			p("\nAgreement (%s) of %s: %s\n", a.Strength, line(strings.Join(a.Perspectives, ", ")), line(a.Point))
		}
	}
	if len(f.Chosen) > 0 {
		p("\n## Perspectives\n")
		for _, name := range f.Chosen {
			p("\n### %s\n\n", line(name))
			markdownPerspective(p, d, name)
		}
	}
	for _, x := range d.Dialogues {
		p("\n## Dialogue %s: %s\n", x.ID, line(strings.Join(x.Topics(), "; ")))
		markdownDialogue(p, f, x)
	}
	for i, text := range d.Inputs {
		if i == 0 {
			p("\n## What the human added\n")
		}
		p("\n%s", quote(text))
	}
	if len(f.Trace) > 0 {
		p("\n## What each perspective gave\n\n")
		for _, t := range f.Trace {
			p("- %s: %s; what it alone found %s\n", line(t.Perspective), line(strings.Join(t.Sections, ", ")), survived(t.Survived))
		}
	}
	if len(f.Gaps) > 0 {
		p("\n## Coverage gaps\n\n")
		for _, g := range f.Gaps {
			p("- %s\n", line(g))
		}
	}
	p("\n## Decisions\n\n")
	for _, x := range d.Decisions {
		p("- %s, %s%s: %s%s%s\n", stamp(x.Time), line(x.Human), about(x), line(strings.Join(x.Chosen, ", ")), words(x.Text), taken(x.Counts))
	}
	if len(d.Decisions) == 0 {
		p("None yet.\n")
	}
	for _, l := range d.Late {
		p("\nCame too late to count: attempt %d of %s.\n", l.Attempt, line(l.Perspective))
	}
	holds := 0
	for _, l := range proof.Lines {
		if l.Result == "holds" {
			holds++
		}
	}
	p("\n## How to check it\n\nEvery step is a message in the git record %s. In a clone of it: `parley frame verify %s`.\n", d.Record, f.ID)
	if proof.Holds {
		p("When this was written %d lines of the form were proved, and none is broken.\n", holds)
	} else {
		p("When this was written, lines of the form were BROKEN:\n\n")
		for _, x := range proof.Faults {
			p("- %s at %s: %s\n", x.Line, x.At, line(x.Why))
		}
	}
	return b.String()
}

func markdownPerspective(p func(string, ...any), d control.FrameDocument, name string) {
	for _, x := range d.Frame.Perspectives {
		if x.Name == name {
			p("%s\n\n", line(x.Contribution))
		}
	}
	for _, a := range d.Attempts {
		if a.Perspective == name {
			p("Attempt %d by %s was followed by another one.\n\n", a.Attempt, line(a.Agent))
		}
	}
	for _, m := range d.Frame.Members {
		if m.Perspective != name {
			continue
		}
		p("Investigated by %s (attempt %d, isolated by %s).\n", line(m.Agent), m.Attempt, m.Grade)
		if m.Degraded != "" {
			p("Degraded: %s.\n", line(m.Degraded))
		}
		for _, flag := range m.Flags {
			p("Flag: %s.\n", line(flag))
		}
		if m.Problem != "" {
			p("It has no result:\n\n%s", quote(m.Problem))
		}
		if m.Result != "" {
			p("\n%s", quote(m.Result))
		}
	}
}

func markdownDialogue(p func(string, ...any), f control.Frame, d *inquiry.Tension) {
	for _, t := range d.Triggers {
		for _, q := range t.Quotes {
			p("\n%s, from %s of %s: “%s”\n", t.Kind, line(q.Section), line(q.Perspective), line(q.Words))
		}
	}
	for _, m := range d.Messages {
		p("\n%s:\n\n%s", line(m.Perspective), quote(m.Text))
	}
	for _, r := range d.Reports {
		p("\n%s reports:\n\n- Final position: %s\n- Agreement points: %s\n- Remaining divergence: %s\n- Rationale: %s\n", line(r.Perspective), line(r.Position), line(r.Agreement), line(none(r.Divergence)), line(r.Rationale))
	}
	for _, m := range d.Asked {
		p("\nAsked once more, %s:\n\n%s", line(m.Perspective), quote(m.Text))
	}
	for _, m := range d.Answers {
		p("\n%s answers:\n\n%s", line(m.Perspective), quote(m.Text))
	}
	for _, t := range f.Tensions {
		if t.ID == d.ID && t.Resolution != "" {
			p("\nOutcome: %s; agreement %s: %s\n", t.Resolution, t.Strength, line(t.Basis))
		}
	}
}

func none(text string) string {
	if strings.TrimSpace(text) == "" {
		return "none"
	}
	return text
}

func survived(yes bool) string {
	if yes {
		return "is in the synthesis"
	}
	return "is not in the synthesis"
}

func about(d control.FrameDecision) string {
	text := " at the gate " + d.Gate
	if d.About != "" {
		text += " about " + line(d.About)
	}
	return text
}

func words(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return " — “" + line(text) + "”"
}

func taken(counts bool) string {
	if counts {
		return ""
	}
	return " (does not count)"
}

// state says how an inquiry stands.
func state(f control.Frame) string {
	if f.Over {
		return f.StateText
	}
	return "not over yet (" + f.StateText + ")"
}

func day(t time.Time) string { return t.Format("2 January 2006") }

func stamp(t time.Time) string { return t.Format("2006-01-02 15:04:05 MST") }

// line is a text of others in one line. Nothing in it becomes markup.
func line(text string) string {
	return markup.Replace(strings.Join(strings.Fields(printable(text)), " "))
}

var markup = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "#", `\#`, "|", `\|`, "!", `\!`)

// quote sets a text of others apart, in a fence that is longer than any fence in the text.
func quote(text string) string {
	text = strings.TrimSpace(printable(text))
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + "\n" + fence + "\n"
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
