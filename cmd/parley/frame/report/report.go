// Package report makes documents of inquiries. What agents wrote is Markdown, and is set apart in
// them. What humans wrote is text. Nothing of either becomes more than that.
package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/internal/each"
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
// of them becomes more than text. Something that links lead to has an id.
type paper interface {
	chapter(id, title string)
	heading(id, title string)
	line(format string, args ...any)
	quote(text string)                           // word for word
	prose(class, markdown string, marks ...mark) // as an agent wrote it
	fields(class string, all ...field)           // texts of agents, each with a name
	items(all ...item)
}

type field struct{ Name, Markdown string }

// item is a line of a list. If it has a link, its name leads there. Items with an id have numbers.
// What an agent wrote stands before the text.
type item struct {
	ID, Name, Link, Markdown, Text string
	Under                          []item
}

func (x item) String() string {
	if x.Name == "" || x.Text == "" {
		return x.Name + x.Markdown + x.Text
	}
	return x.Name + ": " + x.Text
}

// After is what stands behind a first part of the line.
func (x item) After(first string) string { return strings.TrimPrefix(x.String(), first) }

func write(p paper, d control.FrameDocument, proof control.FrameProof) {
	tell(p, d)
	p.chapter("check", "How to check it")
	p.line("The question's SHA-256 is %s.", d.Frame.QuestionHash)
	p.line("Every step is a message in the git record %s. In a clone of it: parley frame verify %s", d.Record, d.Frame.ID)
	writeProof(p, proof)
}

func tell(p paper, d control.FrameDocument) {
	f, to := d.Frame, newAnchors(d)
	p.line("Asked by %s on %s. Coordinated by %s. State: %s.", f.By, f.Began.Format("2 January 2006"), f.Coordinator, state(f))
	if f.In != "" {
		p.line("Investigated: %s.", f.In)
	}
	p.chapter("question", "Question, word for word")
	p.quote(f.Question)
	if f.Brief.Intent != "" {
		p.chapter("brief", "Mission brief")
		p.fields("", field{"Intent", f.Brief.Intent}, field{"Deliverable", f.Brief.Deliverable}, field{"Scope", f.Brief.Scope}, field{"Mode", cmp.Or(f.Mode, "not chosen yet")})
	}
	if f.Tier != "" {
		p.chapter("recommendation", "Recommendation")
		p.fields("", field{"Recommended", strings.Join(f.Chosen, ", ")}, field{"What it is good for", Tier(f.Tier)}, field{"How to go on", f.Note})
	}
	if f.Synthesis != "" {
		writeSynthesis(p, d, to)
	}
	var others []item
	for _, x := range f.Perspectives {
		if !slices.Contains(f.Chosen, x.Name) {
			others = append(others, item{Name: x.Name, Text: reveals(x)})
		}
	}
	if len(f.Chosen) > 0 {
		p.chapter("perspectives", "Perspectives")
	}
	for _, name := range f.Chosen {
		p.heading(to.perspectives[name], name)
		writePerspective(p, d, name, to.marks[name])
	}
	if len(others) > 0 {
		p.chapter("others", map[bool]string{true: "Proposed perspectives", false: "Perspectives that were not chosen"}[len(f.Chosen) == 0])
		p.items(others...)
	}
	if f.Detection != "" {
		p.chapter("dialogues", "No dialogue")
		p.fields("", field{"Why", f.Detection})
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
		p.quote(text)
	}
	if len(f.Trace) > 0 {
		p.chapter("trace", "What each perspective gave")
		writeTrace(p, f)
	}
	for i, x := range d.Findings {
		if i == 0 {
			p.chapter("findings", "What was preserved")
		}
		p.fields("", field{x.Category, x.Words})
	}
	if len(f.Remarks) > 0 {
		remarks := each.Of(f.Remarks, func(r string) item { return item{Text: r} })
		p.chapter("remarks", "Worth a look")
		p.items(remarks...)
	}
	if d.Context != "" {
		p.chapter("context", "Context that was gathered")
		p.line("The perspectives were proposed from it. No member was given it.")
		p.prose("result", d.Context)
	}
	p.chapter("decisions", "Decisions")
	writeDecisions(p, d)
}

var kinds = map[string]string{
	"result": "a result from isolated inquiry", "dialogue-agreement": "agreement in dialogue", "dialogue-divergence": "divergence in dialogue",
	"user_input": "input of the human", "synthesis": "the coordinator's own joining",
}

// writeSynthesis writes the synthesis. Behind each claim in it is the number of its basis, behind
// each convergence its strength.
func writeSynthesis(p paper, d control.FrameDocument, to anchors) {
	var marks []mark
	var claims, points []item
	for i, x := range d.Basis {
		claim := item{ID: fmt.Sprintf("c%d", i+1), Markdown: x.Claim, Under: []item{{Text: kinds[x.Kind]}}}
		for _, s := range x.Sources {
			claim.Under = append(claim.Under, item{Name: cmp.Or(s.Perspective, "the human"), Link: to.of(x.Kind, s), Text: quoted("", s.Words)})
		}
		claims = append(claims, claim)
		marks = append(marks, mark{x.Claim, "", fmt.Sprintf(`<sup><a href="#%s">%d</a></sup>`, claim.ID, i+1)})
	}
	for _, a := range d.Agreements {
		points = append(points, item{Markdown: a.Point, Text: fmt.Sprintf(" (%s; %s)", a.Strength, strings.Join(a.Perspectives, ", "))})
		marks = append(marks, mark{a.Point, "", ` <span class="strength">` + html.EscapeString(a.Strength) + `</span>`})
	}
	p.chapter("analysis", "Framed analysis")
	p.prose("lens", d.Frame.Synthesis, marks...)
	if len(points) > 0 {
		p.heading("", "How strong each convergence is")
		p.items(points...)
	}
	p.chapter("basis", "What each claim rests on")
	p.items(claims...)
}

// reveals is what a perspective reveals, and with which one it is in tension.
func reveals(x protocol.InquiryPerspective) string {
	if x.TensionWith == "" {
		return x.Contribution
	}
	return x.Contribution + " (in tension with " + x.TensionWith + ")"
}

func writePerspective(p paper, d control.FrameDocument, name string, marks []mark) {
	for _, x := range d.Frame.Perspectives {
		if x.Name == name {
			p.line("Reveals: %s.", strings.TrimSuffix(reveals(x), "."))
		}
	}
	for _, g := range d.Frame.Previews {
		if g.Perspective == name {
			p.fields("preview", field{"At a glance", g.Title}, field{"Summary", g.Summary}, field{"Horizon limits", g.Limits})
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
		p.line("Investigated by %s (attempt %d, isolated by %s).", m.Agent, m.Attempt, cmp.Or(Grades()[m.Grade], m.Grade, "nothing that was told"))
		if m.Degraded != "" {
			p.line("Degraded: %s.", m.Degraded)
		}
		for _, flag := range m.Flags {
			p.line("Flag: %s.", flag)
		}
		if m.Problem != "" {
			p.line("It has no result:")
			p.quote(m.Problem)
		}
		if m.Result != "" {
			p.prose("result", m.Result, marks...)
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
		talk := each.Of(all, func(m inquiry.Said) field { return field{fmt.Sprintf(heading, m.Perspective), m.Text} })
		p.fields("talk", talk...)
	}
	said("%s", d.Messages)
	for _, r := range d.Reports {
		p.line("%s reports:", r.Perspective)
		p.fields("", field{"Final position", r.Position}, field{"Agreement points", r.Agreement}, field{"Remaining divergence", cmp.Or(strings.TrimSpace(r.Divergence), "none")}, field{"Rationale", r.Rationale})
	}
	said("Asked once more, %s", d.Asked)
	said("%s answers", d.Answers)
	for _, t := range f.Tensions {
		if t.ID == d.ID && t.Resolution != "" {
			p.line("Outcome: %s; agreement %s: %s", Resolutions()[t.Resolution], t.Strength, t.Basis)
		}
	}
}

func writeTrace(p paper, f control.Frame) {
	var rows, gaps []item
	for _, t := range f.Trace {
		rows = append(rows, item{Name: t.Perspective, Text: strings.Join(t.Sections, ", ") + "; what it alone found is " + map[bool]string{false: "not "}[t.Survived] + "in the synthesis"})
	}
	p.items(rows...)
	for _, gap := range f.Gaps {
		gaps = append(gaps, item{Markdown: gap})
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
		decisions = append(decisions, item{Text: text})
	}
	if len(decisions) == 0 {
		decisions = []item{{Text: "None yet."}}
	}
	p.items(decisions...)
	for _, l := range d.Late {
		p.line("Came too late to count: attempt %d of %s.", l.Attempt, l.Perspective)
	}
}

func writeProof(p paper, proof control.FrameProof) {
	holds := each.Count(proof.Lines, func(l control.FrameLine) bool { return l.Result == "holds" })
	if proof.Holds {
		p.line("When this was written %d lines of the form were proved, and none is broken.", holds)
		return
	}
	p.line("When this was written, lines of the form were BROKEN:")
	faults := each.Of(proof.Faults, func(x inquiry.Fault) item { return item{Name: fmt.Sprintf("%s at %s", x.Line, x.At), Text: x.Why} })
	p.items(faults...)
}

// title is a question in a line. The whole stands below it.
func title(question string) string {
	line := []rune(strings.Join(strings.Fields(question), " "))
	if len(line) > 160 {
		return string(line[:159]) + "…"
	}
	return string(line)
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

// anchors are where links lead: to perspectives, and to the words of results on which claims rest.
type anchors struct {
	perspectives map[string]string // IDs of the chosen ones, by name
	marks        map[string][]mark // by perspective
	shown        map[string]bool   // the IDs of marks that are in their result
}

func newAnchors(d control.FrameDocument) anchors {
	to := anchors{map[string]string{}, map[string][]mark{}, map[string]bool{}}
	for i, name := range d.Frame.Chosen {
		id := fmt.Sprintf("p%d", i+1)
		var marks []mark
		for _, x := range d.Basis {
			for _, s := range x.Sources {
				known := slices.ContainsFunc(marks, func(m mark) bool { return m.words == s.Words })
				if x.Kind == protocol.BasisResult && s.Perspective == name && s.Words != "" && !known {
					marks = append(marks, mark{words: s.Words, id: fmt.Sprintf("%s-%d", id, len(marks)+1)})
				}
			}
		}
		to.perspectives[name], to.marks[name] = id, marks
		for _, m := range d.Frame.Members {
			if m.Perspective == name {
				_, shown := prose(m.Result, 3, marks)
				maps.Copy(to.shown, shown)
			}
		}
	}
	return to
}

// of is the ID of what a claim rests on: of words in a result, or of the perspective; "" for neither.
func (to anchors) of(kind string, s protocol.InquirySource) string {
	for _, m := range to.marks[s.Perspective] {
		if kind == protocol.BasisResult && m.words == s.Words && to.shown[m.id] {
			return m.id
		}
	}
	return to.perspectives[s.Perspective]
}

// Tier says what the recommended perspectives are good for, by their number (frame, LOOP).
func Tier(t string) string {
	return map[string]string{
		"modifier":  "One lens: it goes along with what you do next.",
		"narrowing": "Two or three lenses: they narrow the field.",
		"escalate":  "Four or more lenses: an inquiry of each is worth it.",
	}[t]
}

// Grades say what isolates members, by grade.
func Grades() map[string]string {
	return map[string]string{
		protocol.GradeProcess: "a folder and a home of its own", protocol.GradeUser: "another user of the system", protocol.GradeWalls: "walls",
		protocol.GradeHost: "a machine of its own",
	}
}

// Resolutions are the words for what dialogues come to.
func Resolutions() map[string]string {
	return map[string]string{"agreed": "Agreed", "partial": "Partial agreement", "persistent": "Persistent divergence"}
}
