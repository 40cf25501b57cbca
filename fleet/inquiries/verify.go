package inquiries

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// Breach is the reason why a deed is void that breaks a line of the checklist. Void or not, the
// deed is in the record, and whoever reads it has seen it.
type Breach struct {
	Line string // such as F42
	err  error
}

// Error returns the reason.
func (b *Breach) Error() string { return b.err.Error() }

// Unwrap returns the refusal.
func (b *Breach) Unwrap() error { return b.err }

// breaks makes an error a breach of a line. Without a line it returns the error itself.
func breaks(line string, err error) error {
	if line == "" {
		return err
	}
	return &Breach{line, err}
}

// breach is why words are void that can be read but break a line.
func breach(line, format string, args ...any) error {
	return breaks(line, refusal.New(refusal.Senseless, "", format, args...))
}

// early is the error `err` of a deed that came too early. In one of `states` this breaks the line;
// in others the deed is only void.
func (v Inquiry) early(line string, err error, states ...State) error {
	if slices.Contains(states, v.State) {
		return breaks(line, err)
	}
	return err
}

// rule is the lines of the checklist that an act can break by itself.
type rule struct {
	form   string             // if its words cannot be read
	more   []string           // if it says more than its words; nil: it is no act of the inquiry's own program
	text   bool               // its form has a text; proposals and a detection have one if they are empty
	humans string             // if the humans who decide are not shown it
	apart  string             // if members are told of it
	void   []string           // if it does not count
	in     map[State][]string // the same, if it came in that state
}

var rules = map[protocol.Act]rule{
	protocol.ActFrame:            {void: []string{"F1"}},
	protocol.ActFrameBrief:       {form: "F3", more: []string{"F4"}, humans: "F4", void: []string{"F9"}, in: map[State][]string{Opened: {"F3"}}},
	protocol.ActFrameGate:        {form: "F67", more: []string{"F67"}, humans: "F4"},
	protocol.ActFrameContext:     {more: []string{"F12"}, text: true, apart: "F13", void: []string{"F12"}},
	protocol.ActFrameProposals:   {more: []string{"F14", "F36"}, humans: "F14", apart: "F13", void: []string{"F14"}},
	protocol.ActFrameEstablished: {form: "F25", more: []string{"F25"}, void: []string{"F25"}},
	protocol.ActFrameMap:         {more: []string{"F27"}, void: []string{"F27"}},
	protocol.ActFrameStart:       {more: []string{"F13", "F30"}, void: []string{"F28", "F27"}},
	protocol.ActFrameTask:        {more: []string{"F29", "F13"}, void: []string{"F29"}},
	protocol.ActFrameSignal:      {more: []string{"F42"}, text: true, apart: "F42", void: []string{"F42"}},
	protocol.ActFrameReveal:      {more: []string{"F42"}, text: true, apart: "F42", void: []string{"F42"}},
	protocol.ActFramePreview:     {more: []string{"F44"}, humans: "F44", apart: "F44", void: []string{"F44"}, in: map[State][]string{Collect: {"F41"}}},
	protocol.ActFrameDetection: {
		form: "F47", more: []string{"F47"}, apart: "F49", void: []string{"F46", "F47"}, in: map[State][]string{Collect: {"F41"}, Preview: {"F44"}},
	},
	protocol.ActFrameTopic:    {form: "F51", more: []string{"F49"}, text: true, void: []string{"F51"}, in: map[State][]string{Synthesize: {"F48"}}},
	protocol.ActFrameExchange: {more: []string{"F54"}, text: true, void: []string{"F52", "F54"}},
	protocol.ActFrameReport:   {more: []string{"F55"}, void: []string{"F55"}},
	protocol.ActFrameFollowUp: {more: []string{"F56"}, text: true, void: []string{"F56", "F57"}},
	// An answer that nobody asked for is as much as a question.
	protocol.ActFrameFollowAnswer: {void: []string{"F56"}},
	protocol.ActFrameOutcomes:     {form: "F58", more: []string{"F58"}, humans: "F58", apart: "F58", void: []string{"F58"}},
	protocol.ActFrameSynthesis: {
		form: "F61", more: []string{"F60", "F59"}, text: true, humans: "F66", apart: "F66", void: []string{"F61", "F46"},
		in: map[State][]string{Dialogue: {"F58"}, Outcomes: {"F58"}, Present: {"F75"}, GateRoute: {"F75"}},
	},
	protocol.ActFrameTrace:    {form: "F83", more: []string{"F78"}, humans: "F78", apart: "F78", void: []string{"F78"}},
	protocol.ActFrameShutdown: {more: []string{"F80"}, void: []string{"F43"}, in: map[State][]string{GatePreserve: {"F80"}, Shutdown: {"F80"}}},
	protocol.ActFrameTeamEnd:  {more: []string{"F80"}, void: []string{"F80"}},
	protocol.ActFrameFindings: {more: []string{"F79"}, void: []string{"F80"}},
	protocol.ActFrameEsc:      {void: []string{"F82"}},
	protocol.ActFrameResume:   {void: []string{""}},
}

// Mail is a message that is no deed of an inquiry.
type Mail struct {
	*protocol.Message
	affair.Position
}

// Proof is what the record shows of an inquiry.
type Proof struct {
	Inquiry Inquiry
	Faults  []inquiry.Fault
	reached map[string]protocol.Path // the last deed of each stage
	chairs  []protocol.Address       // those who have coordinated
}

// Result is what is proved of a line.
type Result string

// What can be proved of a line.
const (
	Holds      Result = "holds"
	Broken     Result = "broken"
	NotReached Result = "not reached" // the inquiry has not come to it
	NotChecked Result = "not checked" // nothing in the record could show that it is broken
)

// Of is what is proved of a line, and the deed that shows it.
func (p Proof) Of(l Line) (r Result, shown protocol.Path) {
	if i := slices.IndexFunc(p.Faults, func(f inquiry.Fault) bool { return f.Line == l.ID }); i >= 0 {
		return Broken, p.Faults[i].At
	}
	for _, stage := range l.Stages {
		if at := p.reached[stage]; at.Compare(shown) > 0 {
			shown = at
		}
	}
	switch {
	case len(l.Stages) == 0:
		return NotChecked, shown
	case shown.IsZero():
		return NotReached, shown
	}
	return Holds, shown
}

// Verify folds the deeds of an inquiry, in the order of the record, and says which lines of the
// checklist do not hold. A deed breaks a line whether it counts or not. One that does not count and
// is of the inquiry's own hosts breaks the line that has it come at another time, or otherwise: good
// hosts do not write such deeds. `mail` is what else was written meanwhile, in the order of the record.
func Verify(recordID string, deeds iter.Seq[*affair.Candidate], mail []Mail) Proof {
	kind := Kind(recordID)
	p := prover{
		Proof: Proof{reached: map[string]protocol.Path{}}, record: recordID, order: map[protocol.Path]int{}, said: map[string]bool{}, spoke: map[protocol.Name]int{},
		excused: map[protocol.Path]bool{}, knew: map[protocol.Path]bool{}, moved: map[string]bool{},
	}
	for c := range deeds {
		p.order[c.Message.Path] = len(p.order) + 1
		next, err := kind.Step(p.Inquiry, c.Deed)
		if c.Void != nil {
			err = c.Void
		}
		if c.Act == protocol.ActFrameSignal && err == nil {
			p.signals = append(p.signals, c.Deed)
		}
		said := strings.Join([]string{c.Host.String(), c.Author().Name, string(c.Act), c.Body}, "\n")
		var b *Breach
		switch {
		case err == nil:
			p.flawed(c.Deed)
			p.look(next, c.Deed)
			p.Inquiry, p.said[said], p.spoke[c.Host] = next, true, len(p.order)
			p.states = append(p.states, next)
			p.places = append(p.places, c.Position)
		case p.said[said] && c.Act != protocol.ActFrameExchange && c.Act != protocol.ActFrameReport: // its host stopped before it knew that it had said that
			p.Faults = append(p.Faults, inquiry.Fault{At: c.Message.Path, Why: "it does not count: " + err.Error()})
		case errors.As(err, &b) && !p.overtakenBy(c.Deed):
			for _, line := range along(b.Line, p.Inquiry, c.Deed) {
				p.breaks(line, c.Message.Path, b.Error())
			}
			p.flawed(c.Deed)
		default:
			d := void{Deed: c.Deed, sealed: c.Sealed, forged: c.Void != nil || c.Standing != affair.Signed, v: p.Inquiry, err: err}
			d.overtaken = !d.forged && p.overtaken(d)
			p.voids = append(p.voids, d)
		}
	}
	p.judge()
	for _, m := range mail {
		p.beside(m)
	}
	p.source(mail)
	return p.Proof
}

// prover reads an inquiry from its beginning to its end.
type prover struct {
	Proof
	record  string
	order   map[protocol.Path]int // of all deeds, whether they count or not
	states  []Inquiry             // after each deed that counts
	places  []affair.Position     // of those deeds
	said    map[string]bool       // what has counted
	spoke   map[protocol.Name]int // the last deed of each host that counts
	signals []affair.Deed
	voids   []void
	began   affair.Position
	turn    affair.Deed            // the last deed by which what comes next is void: an end at once, a second answer, a resume
	missed  bool                   // whoever resumed did not know all that had been said before
	excused map[protocol.Path]bool // void deeds that were overtaken, and those that followed from them
	knew    map[protocol.Path]bool // void deeds whose author knew what had overtaken them
	moved   map[string]bool        // perspectives whose members a host took for lost
}

// void is a deed that does not count, the inquiry as it was then, and why.
type void struct {
	affair.Deed
	sealed    bool // its host has signed it
	forged    bool // in the name of somebody whom that host does not declare
	overtaken bool
	v         Inquiry
	err       error
}

// at is the inquiry as it was at a place of the record.
func (p *prover) at(place affair.Position) (v Inquiry) {
	for i, at := range slices.Backward(p.places) {
		if at.Before(place) {
			return p.states[i]
		}
	}
	return v
}

func (p *prover) breaks(line string, at protocol.Path, why string) {
	p.Faults = append(p.Faults, inquiry.Fault{Line: line, At: at, Why: why, Breaks: true})
}

// flawed notes what a deed breaks although it may count.
func (p *prover) flawed(d affair.Deed) {
	v := p.Inquiry
	for _, f := range v.strict(d.Message) {
		p.breaks(f.line, d.Message.Path, f.why)
		if w, err := protocol.AskInquiry.Parse(d.Body); f.line == "F67" && err == nil && w.Gate == protocol.GateBrief {
			p.breaks("F4", d.Message.Path, f.why)
		}
	}
	because, _ := d.CausePath()
	re, _ := d.AnsweredPath()
	w, _ := protocol.InquiryForm(d.Act, d.Body)
	if late := d.Timestamp.Sub(w.At); d.Message.Via != "" || d.Request != "" || d.Message.Human != "" || d.Hsig != "" || d.Ref != "" ||
		d.Because != "" && because != v.Path || d.Re != "" && p.order[re] == 0 || !w.At.IsZero() && late.Abs() > time.Hour {
		for _, line := range rules[d.Act].more {
			p.breaks(line, d.Message.Path, "the head of its file says more than who wrote it, when, and what it follows from")
		}
	}
}

// along are all lines that are broken with one.
func along(line string, v Inquiry, d affair.Deed) []string {
	all := []string{line}
	gate := ""
	if d.Act == protocol.ActFrameGate {
		w, err := protocol.AskInquiry.Parse(d.Body)
		if gate = w.Gate; err != nil && line == "F67" { // its options are not those that it says
			gate, _ = v.Due()
			all = append(all, "F71")
		}
	}
	t, p := talkOf(v, d)
	switch {
	case line == "F30": // what its prompt says is not known
		all = append(all, "F13", "F33", "F34", "F35")
	case line == "F31" || line == "F29" && d.Act == protocol.ActFrameTask:
		all = append(all, "F1")
	case slices.Contains(all, "F71") && gate == protocol.GateBrief && v.Mode == "":
		all = append(all, "F6", "F7")
	case slices.Contains(all, "F71") && gate == protocol.GateBrief:
		all = append(all, "F6", "F9")
	case slices.Contains(all, "F71") && gate == protocol.GatePerspectives:
		all = append(all, "F15", "F16", "F17")
	case slices.Contains(all, "F71") && gate != "":
		all = append(all, gateLine(gate))
	case line == "F17" && len(v.novel()) == 0:
		all = append(all, "F19")
	case line == "F27" && slices.ContainsFunc(v.Base, func(base string) bool { return !strings.Contains(d.Body, base) && v.Member(base) == nil }):
		all = append(all, "F17")
	case line == "F44" && v.State == Preview && d.Act == protocol.ActFramePreview:
		all = append(all, "F41")
	case line == "F5" && v.Opening.AcceptBrief && !v.asked():
		all = append(all, "F10")
	case line == "F52" && t != nil && t.Talked() && len(t.Messages) < inquiry.MaxMessages: // they had ended it before
		all = append(all, "F53")
	case line == "F56" && t != nil && t.Question(p) != "":
		all = append(all, "F57")
	case line == "F59" || line == "F61" && d.Act == protocol.ActFrameSynthesis:
		all = append(all, "F62", "F64")
		if w, err := protocol.Synthesize.Parse(d.Body); err == nil && len(v.Inputs) == 0 && slices.ContainsFunc(w.Basis, func(b protocol.InquiryBasis) bool { return b.Kind == protocol.BasisInput }) {
			all = append(all, "F59")
		}
	}
	return append(all, skips(v, d)...)
}

// talkOf is the tension in which a deed speaks, and for or to which perspective.
func talkOf(v Inquiry, d affair.Deed) (*inquiry.Tension, string) {
	switch d.Act {
	case protocol.ActFrameExchange:
		w, _ := protocol.ExchangeWords.Parse(d.Body) // without words it is in no tension
		return v.tension(w.Tension), w.Perspective
	case protocol.ActFrameFollowUp:
		w, _ := protocol.FollowUp.Parse(d.Body)
		return v.tension(w.Tension), w.Perspective
	}
	return nil, ""
}

// runOf is the attempt of a member that a deed is about.
func runOf(d affair.Deed) (perspective string, attempt int) {
	switch d.Act {
	case protocol.ActFrameStart:
		w, _ := protocol.StartMember.Parse(d.Body) // without words it is about none
		return w.Perspective, w.Attempt
	case protocol.ActFrameTask:
		w, _ := protocol.NoteTask.Parse(d.Body)
		return w.Perspective, w.Attempt
	case protocol.ActFrameSignal:
		w, _ := protocol.SignalEnd.Parse(d.Body)
		return w.Perspective, w.Attempt
	}
	return "", 0
}

// ofResults are acts of the coordinator that wait for all results.
var ofResults = []protocol.Act{
	protocol.ActFramePreview, protocol.ActFrameDetection, protocol.ActFrameTopic, protocol.ActFrameFollowUp, protocol.ActFrameOutcomes,
	protocol.ActFrameSynthesis, protocol.ActFrameTrace, protocol.ActFrameShutdown, protocol.ActFrameTeamEnd, protocol.ActFrameFindings,
}

// skips are the lines of what a deed leaves out that comes too early.
func skips(v Inquiry, d affair.Deed) (all []string) {
	is := func(acts ...protocol.Act) bool { return slices.Contains(acts, d.Act) }
	add := func(when bool, lines ...string) {
		if when {
			all = append(all, lines...)
		}
	}
	if is(protocol.ActFrame, protocol.ActFrameAnswer, protocol.ActFrameEsc, protocol.ActFrameResume) {
		return nil
	}
	gate, _ := v.Due()
	if g := v.Open(); g != nil {
		gate = g.Gate
	}
	perspective, attempt := runOf(d)
	m := v.Member(perspective)
	t, _ := talkOf(v, d)
	starts := is(protocol.ActFrameStart, protocol.ActFrameTask)
	add(gate != "" && !is(protocol.ActFrameSignal), gateLine(gate))
	add(v.State == Established, "F25")
	add(v.State == GateExtend && is(protocol.ActFrameBrief), "F10")
	for _, o := range v.Standing() {
		add(v.State == Spawn && !starts && o.Given.IsZero(), "F28")
		add(v.State == Spawn && !starts && !o.Tasked, "F29")
		add(v.State == Await && starts && o.Signal == nil && slices.Contains(d.To, o.Agent), "F37")
	}
	add(is(ofResults...) && (v.State == Spawn || v.State == Await || v.State == Collect), "F39", "F40")
	add(is(protocol.ActFrameStart) && v.State == Spawn && v.Cycle > 1, "F76")
	add(is(protocol.ActFrameStart) && m != nil && attempt > m.Attempt, "F41")
	add(is(protocol.ActFrameExchange) && len(v.now()) == 0 && len(v.Detection.From) > 0, "F48")
	add(t != nil && t.Topic.IsZero(), "F51")
	add(is(protocol.ActFrameOutcomes) && v.State == Dialogue, "F55", "F56")
	add(v.State == Synthesize && len(v.Inputs) > 0 && !is(protocol.ActFrameSynthesis), "F75")
	add(v.State == Trace && !is(protocol.ActFrameTrace), "F78")
	add((v.State == Shutdown || v.State == Withdrawn) && !v.End.wraps && is(protocol.ActFrameFindings, protocol.ActFrameTrace, protocol.ActFrameGate), "F81")
	return all
}

// look notes a deed that counts: which stage it shows, and who was at work from when to when.
func (p *prover) look(after Inquiry, d affair.Deed) {
	before := p.Inquiry
	at := d.Message.Path
	p.reached[string(d.Act)] = at
	if !slices.Contains(p.chairs, after.Coordinator) {
		p.chairs = append(p.chairs, after.Coordinator)
	}
	if after.State == Escaped && before.State != Escaped || !after.Contested.IsZero() && before.Contested.IsZero() || after.Epoch != before.Epoch {
		re, _ := d.AnsweredPath()
		p.turn, p.missed = d, d.Act == protocol.ActFrameResume && re != before.Last
	}
	switch d.Act {
	case protocol.ActFrame:
		p.opened(after, d)
	case protocol.ActFrameGate:
		g := after.Gate(at)
		p.reached["gate "+g.Gate] = at
		if g.Gate == protocol.GateBrief && before.Mode != "" {
			p.reached[stageAgain] = at
		}
	case protocol.ActFrameProposals:
		if len(before.Base) > 0 {
			p.reached[stageNamed] = at
		}
	case protocol.ActFrameMap:
		for _, f := range after.Fits {
			if len(f.Candidates) > 1 {
				p.reached[stageSeveral] = at
			}
		}
	case protocol.ActFrameStart:
		w, _ := protocol.StartMember.Parse(d.Body) // it counts
		if len(w.Carries) > 0 {
			p.reached[stageDeeper] = at
		}
		if before.State == Spawn && slices.ContainsFunc(before.Members, func(o *Member) bool { return o.Cycle == after.Cycle && o.Signal != nil }) {
			p.breaks("F28", at, "another member had ended before this one was started")
		}
	case protocol.ActFrameSynthesis:
		if len(before.Inputs) > 0 {
			p.reached[stageInput] = at
		}
	case protocol.ActFrameShutdown:
		if before.End.Told {
			p.breaks("F80", at, "the team was told to end already")
		}
	case protocol.ActFrameTeamEnd:
		if !after.End.wraps {
			p.reached[stageWithdrawn] = at
		}
	case protocol.ActFrameResume:
		if d.Hand.Key == "" {
			p.breaks("", at, "no key of a human has signed that another host coordinates")
		}
	}
	if writes(d, before.Coordinator) && before.State == Await && d.Act != protocol.ActFrameStart && d.Act != protocol.ActFrameEsc {
		for _, to := range d.To {
			if slices.ContainsFunc(before.Members, func(m *Member) bool { return m.Agent == to && m.Signal == nil }) {
				p.breaks("F37", at, "the coordinator wrote to "+to.Shown()+", who works")
			}
		}
	}
}

func (p *prover) opened(after Inquiry, d affair.Deed) {
	p.began = d.Position
	if !after.Opening.AcceptBrief {
		return
	}
	p.reached[stageAccepted] = d.Message.Path
	if after.asked() && d.Hand.Key == "" {
		p.breaks("F10", d.Message.Path, "no key of the human has signed that the brief is accepted")
	}
}

// judge says which deeds without effect break a line: those of the inquiry's own hosts, unless they
// were overtaken.
func (p *prover) judge() {
	v := p.Inquiry
	own := p.Hosts()
	for _, d := range p.voids {
		if !slices.Contains(own, d.Host) || !d.sealed || d.overtaken {
			p.Faults = append(p.Faults, inquiry.Fault{At: d.Message.Path, Why: "it does not count: " + d.err.Error()})
			continue
		}
		for _, line := range append(d.lines(), skips(d.v, d.Deed)...) {
			p.breaks(line, d.Message.Path, d.err.Error())
		}
	}
	for _, d := range p.signals {
		w, _ := protocol.SignalEnd.Parse(d.Body) // it counts
		_, lacks := Sections(w.Text, ResultSections()...)
		switch {
		case w.Exit != 0 && w.Outcome != protocol.SignalFailed, len(lacks) == 0,
			slices.ContainsFunc(v.Members, func(m *Member) bool { return tells(w.Text, m.Result, v.Prompt(m.Perspective, m.Orientation)) > 0 }):
			p.breaks("F42", d.Message.Path, "it says more of the run than how it ended")
		}
	}
	if !v.Contested.IsZero() {
		p.breaks(answerLines(v.Gate(v.Contested).Gate)[0], v.Contested, "a human has answered it in two ways, and has taken neither back")
	}
}

// Hosts are the hosts that have a part in an inquiry, or had one.
func (p Proof) Hosts() []protocol.Name {
	v := p.Inquiry
	all := []protocol.Name{protocol.Name(v.By.Host)}
	for _, a := range p.chairs {
		all = append(all, protocol.Name(a.Host))
	}
	for _, d := range v.Deciders {
		all = append(all, d.Host)
	}
	for _, m := range v.Members {
		all = append(all, protocol.Name(m.Agent.Host))
		for _, a := range m.Earlier {
			all = append(all, protocol.Name(a.Agent.Host))
		}
	}
	return all
}

// overtaken reports whether a good host may have written a void deed, because it did not know yet
// what another host had written.
func (p *prover) overtaken(d void) bool {
	if p.overtakenBy(d.Deed) {
		return true
	}
	w, _ := protocol.InquiryForm(d.Act, d.Body)
	switch d.Act {
	case protocol.ActFrameResume:
		return w.Epoch <= d.v.Epoch
	case protocol.ActFrameAnswer:
		re, _ := d.AnsweredPath()
		g := d.v.Gate(re)
		return g != nil && (g.Moot || g.Verdict() != nil)
	case protocol.ActFrameSignal:
		w, err := protocol.SignalEnd.Parse(d.Body)
		m := d.v.Member(w.Perspective)
		return err == nil && m != nil && m.Signal != nil && m.Attempt == w.Attempt && m.Signal.Result == w.Result
	}
	return false
}

// overtakenBy reports whether another deed came in between that makes this one void, or whether it
// follows from a deed that was overtaken. An author who names what came in between knew it; but the
// words of a peer were said before they are written.
func (p *prover) overtakenBy(d affair.Deed) bool {
	v := p.Inquiry
	re, _ := d.AnsweredPath()
	w, _ := protocol.InquiryForm(d.Act, d.Body)
	perspective, attempt := runOf(d)
	m := v.Member(perspective)
	turned := v.State == Escaped || !v.Contested.IsZero() && d.Act != protocol.ActFrameAnswer ||
		w.Epoch > 0 && w.Epoch < v.Epoch && slices.ContainsFunc(p.chairs, func(a protocol.Address) bool { return a.Host == d.Host.String() })
	follows := p.excused[re] || p.missed && w.Epoch == v.Epoch && re == p.turn.Message.Path || m != nil && attempt > m.Attempt && p.moved[perspective]
	if g, err := protocol.AskInquiry.Parse(d.Body); err == nil && d.Act == protocol.ActFrameGate && g.Gate == protocol.GateLost && v.Member(g.Perspective) != nil {
		if p.spoke[protocol.Name(v.Member(g.Perspective).Agent.Host)] > p.order[re] { // it was not lost
			follows, p.moved[g.Perspective] = true, true
		}
	}
	if turned && d.Act != protocol.ActFrameExchange && (d.Host == p.turn.Host || re == p.turn.Message.Path || p.knew[re]) {
		p.knew[d.Message.Path] = true
		return false
	}
	p.excused[d.Message.Path] = turned || follows
	return turned || follows
}

// gateLine is the line by which a gate is asked.
func gateLine(gate string) string {
	return map[string]string{
		protocol.GateBrief: "F4", protocol.GateZero: "F24", protocol.GatePerspectives: "F14", protocol.GateUnderMinimum: "F21", protocol.GateMap: "F26",
		protocol.GateLost: "F41", protocol.GateFailed: "F41", protocol.GateRoute: "F73", protocol.GateExtend: "F76", protocol.GatePreserve: "F79",
	}[gate]
}

// ofMember are the acts of members. The coordinator that does one of them takes part in what it is
// to coordinate.
var ofMember = []protocol.Act{protocol.ActFrameSignal, protocol.ActFrameReveal}

// inAnothersName are the lines that a host breaks by speaking for somebody of another host.
var inAnothersName = map[protocol.Act][]string{
	protocol.ActFrameExchange: {"F54"}, protocol.ActFrameReport: {"F55", "F54"}, protocol.ActFrameFollowAnswer: {"F56", "F54"},
	protocol.ActFrameSignal: {"F42", "F36"}, protocol.ActFrameReveal: {"F42", "F36"}, protocol.ActFrameEsc: {"F82"},
}

// answerLines are those of an answer that does not count, and of what follows from one.
func answerLines(gate string) []string {
	if gate == protocol.GateBrief {
		return []string{"F5", "F6", "F7"}
	}
	return []string{cmp.Or(gateLine(gate), "F71")}
}

// lines are the lines that a void deed breaks by coming when it does, or from whom.
func (d void) lines() []string {
	w, _ := protocol.AnswerInquiry.Parse(d.Body) // without words it answers no gate
	switch {
	case d.forged && inAnothersName[d.Act] != nil:
		return inAnothersName[d.Act]
	case d.forged && d.Act == protocol.ActFrameAnswer:
		return answerLines(w.Gate)
	case d.v.State == Escaped:
		return []string{"F82", "F84"}
	case d.Act == protocol.ActFrameSignal && writes(d.Deed, d.v.Coordinator):
		return []string{"F36", "F40", "F41"}
	case slices.Contains(ofMember, d.Act) && writes(d.Deed, d.v.Coordinator):
		return []string{"F36"}
	case d.v.State == Recommended:
		return []string{"F25"}
	case d.v.State == Withdrawn && d.Act == protocol.ActFrameFindings:
		return []string{"F80"}
	case d.v.State.Over():
		return []string{"F84"}
	case d.Act == protocol.ActFrameGate:
		return d.gate()
	case d.Act == protocol.ActFrameAnswer:
		return answerLines(w.Gate)
	}
	if lines := rules[d.Act].in[d.v.State]; lines != nil {
		return lines
	}
	return rules[d.Act].void
}

// gate are the lines that a gate breaks which is not to be asked.
func (d void) gate() []string {
	w, err := protocol.AskInquiry.Parse(d.Body)
	switch {
	case err != nil:
		return []string{"F67", "F71"}
	case w.Perspective != "" && w.Gate != protocol.GateLost && w.Gate != protocol.GateFailed:
		return []string{"F67", cmp.Or(gateLine(w.Gate), "F71")}
	case w.Gate == protocol.GateRoute:
		return []string{"F66", "F73"}
	}
	return []string{cmp.Or(gateLine(w.Gate), "F71")}
}

// breakable are the lines that mail to a member breaks, by the state in which it is written: that of a
// coordinator, of another member and of anybody else. From the dialogues on only peers are asked about.
var breakable = map[State][3][]string{
	Spawn: {{"F37"}, {"F42"}, {"F37"}}, Await: {{"F37"}, {"F42"}, {"F37"}}, Collect: {nil, {"F42"}, nil}, Preview: {nil, {"F42"}, nil}, Detect: {nil, {"F42"}, nil},
	Dialogue: {{"F54", "F57"}, {"F52", "F54"}, {"F54"}}, Outcomes: {{"F54", "F57"}, {"F52", "F54"}, {"F54"}},
	Synthesize: {{"F57"}, {"F52"}, nil}, Present: {{"F57"}, {"F52"}, nil}, GateRoute: {{"F57"}, {"F52"}, nil},
}

// beside looks at a message that is no deed: whether it tells a member what it is not to know, or
// takes part in a dialogue. An agent that was not made for the inquiry has other business too.
func (p *prover) beside(m Mail) {
	v := p.at(m.Position)
	from := protocol.Address{Name: m.Author().Name, Host: m.Host.String()}
	speaks := func(a protocol.Address, forIt bool) bool {
		return a == from || forIt && from.Host == a.Host && from.Name == a.Host
	}
	if v.Path.IsZero() || m.Act.HostWord() {
		return
	}
	re, _ := m.AnsweredPath()
	mentions := p.order[re] > 0 || strings.Contains(m.Body, v.Channel.String()[:8]) || strings.Contains(m.Body, strings.TrimSpace(v.Opening.Text))
	for _, o := range v.Members {
		if o.Given.IsZero() || v.State != Spawn && v.State != Await {
			continue
		}
		told := tells(m.Body, p.resultOf(o), v.Prompt(o.Perspective, o.Orientation))
		if told > 1 || told == 1 && (m.Host.String() == o.Agent.Host || mentions) {
			p.breaks("F42", m.Message.Path, "it tells what "+o.Perspective+" found, before all have signalled")
			mentions = true
		}
	}
	chair := slices.ContainsFunc(p.chairs, func(a protocol.Address) bool { return speaks(a, true) })
	sender := slices.IndexFunc(v.Members, func(o *Member) bool { return speaks(o.Agent, o.Made) })
	made := sender >= 0 && v.Members[sender].Made
	who := 2
	if chair {
		who = 0
	} else if sender >= 0 {
		who = 1
	}
	talks := v.State != Spawn && breakable[v.State][0] != nil && v.State != Await
	for _, o := range v.Members {
		peer := slices.ContainsFunc(v.now(), func(t *inquiry.Tension) bool { return slices.Contains(t.Peers[:], o.Perspective) })
		to := slices.ContainsFunc(m.To, func(a protocol.Address) bool {
			return a.Name == o.Agent.Name && (a.Host == o.Agent.Host || a.Host == "")
		}) || m.ToAll() && (!o.Made || made)
		working := chair && len(breakable[v.State][2]) > 0
		if o.Agent == from || !to || talks && !peer || !o.Made && !made && !mentions && !working {
			continue
		}
		lines := breakable[v.State][who]
		if chair && v.State == Spawn && o.Given.IsZero() {
			lines = []string{"F13"}
		}
		for _, line := range lines {
			p.breaks(line, m.Message.Path, from.Shown()+" wrote to "+o.Agent.Shown()+" while the inquiry went on")
		}
	}
	switch channel := m.Message.Path.Channel(); {
	case channel == v.Channel && !m.Act.OfNodes():
		p.breaks("F36", m.Message.Path, "it lies in the channel of the inquiry, and is none of its deeds")
	case slices.ContainsFunc(p.Inquiry.Tensions, func(t *inquiry.Tension) bool { return channel == protocol.TensionChannel(p.record, v.Channel, t.ID) }):
		p.breaks("F54", m.Message.Path, "it lies in a dialogue, and is none of its words")
	}
}

// resultOf is what came of the attempt of a member; "" if nothing was told of it.
func (p *prover) resultOf(m *Member) string {
	last := p.Inquiry.Member(m.Perspective)
	for _, a := range last.Earlier {
		if a.Attempt == m.Attempt {
			return a.Text
		}
	}
	return last.Result
}

// tells is how many sentences of a result a text tells that are not from what the member was given:
// five words of it, or all of a shorter one. A sentence that names a file may be of that file.
func tells(text, result, given string) (n int) {
	text, given = folded(text), folded(given)
	for _, s := range Sentences(result) {
		words := strings.Fields(folded(bare(s)))
		for i := 0; i == 0 || i+5 <= len(words); i++ {
			part := strings.Join(words[i:min(i+5, len(words))], " ")
			if letters(part) >= 18 && strings.Contains(text, part) && !strings.Contains(given, part) && !strings.Contains(s, "/") {
				n++
				break
			}
		}
	}
	return n
}

// folded is a text in one line and one case.
func folded(text string) string { return strings.Join(strings.Fields(strings.ToLower(text)), " ") }

// source looks whether the question is from where the opening says (F2).
func (p *prover) source(mail []Mail) {
	o := p.Inquiry.Opening
	at := p.Inquiry.Path
	human := len(o.Humans) == 0
	if at.IsZero() {
		return
	}
	if human == (o.Source == protocol.FromAgent) {
		p.breaks("F2", at, "it says that an agent named the question, or that none did, and it was otherwise")
	}
	if o.Source == protocol.FromArgument && o.Message != "" {
		p.breaks("F2", at, "the question is of the call, and it names a message for it")
	}
	if o.Message == "" {
		return
	}
	var last, named *Mail
	for i := range mail {
		m := &mail[i]
		spec, known := protocol.FindAct(m.Act)
		if m.Before(p.began) && m.Author().Name == p.Inquiry.By.Name && m.Host.String() == p.Inquiry.By.Host && known && spec.Act.Mail() {
			last = m
		}
		if m.Message.Path.String() == o.Message {
			named = m
		}
	}
	switch {
	case named == nil:
		p.breaks("F2", at, "the message is not there from which the question is: "+o.Message)
	case strings.TrimRight(named.Body, "\n") != o.Text:
		p.breaks("F2", at, "the question is not what the message says from which it is: "+o.Message)
	case o.Source == protocol.FromLastMessage && named != last:
		p.breaks("F2", at, "the message from which the question is was not the human's last one: "+o.Message)
	}
}
