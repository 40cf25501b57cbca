package inquiries

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"strings"

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

// formLine is the line that is broken if the words of an act cannot be read; "" for none.
func formLine(act protocol.Act) string {
	return map[protocol.Act]string{
		protocol.ActFrameBrief: "F3", protocol.ActFrameGate: "F67", protocol.ActFrameDetection: "F47", protocol.ActFrameTopic: "F51",
		protocol.ActFrameOutcomes: "F58", protocol.ActFrameSynthesis: "F61", protocol.ActFrameTrace: "F83", protocol.ActFrameEstablished: "F25",
	}[act]
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
	p := prover{Proof: Proof{reached: map[string]protocol.Path{}}, record: recordID, chairs: map[protocol.Name]bool{}, runs: map[run]*span{}, talks: map[string]*span{}}
	for c := range deeds {
		if c.Void != nil { // a stranger wrote it
			continue
		}
		next, err := kind.Step(p.Inquiry, c.Deed)
		var b *Breach
		switch {
		case errors.As(err, &b):
			for _, line := range along(b.Line, p.Inquiry, c.Deed) {
				p.breaks(line, c.Message.Path, b.Error())
			}
			p.flawed(c.Deed)
		case err != nil:
			p.voids = append(p.voids, void{c.Deed, p.Inquiry, err})
		default:
			p.flawed(c.Deed)
			p.look(next, c.Deed)
			p.Inquiry = next
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
	record string
	chairs map[protocol.Name]bool // hosts that have coordinated
	voids  []void
	runs   map[run]*span
	talks  map[string]*span // by tension
	began  affair.Position
}

// void is a deed that does not count, the inquiry as it was then, and why.
type void struct {
	affair.Deed
	v   Inquiry
	err error
}

// run is one attempt of a member.
type run struct {
	perspective string
	attempt     int
}

// span is a part of the record, from one deed to another; without an end it goes on.
type span struct {
	from, to affair.Position
	agent    protocol.Address // of a run
	cycle    int
}

func (s *span) has(p affair.Position) bool {
	return s.from.Before(p) && (s.to.Path.IsZero() || p.Before(s.to))
}

func (p *prover) breaks(line string, at protocol.Path, why string) {
	p.Faults = append(p.Faults, inquiry.Fault{Line: line, At: at, Why: why, Breaks: true})
}

// flawed notes what a deed breaks although it may count.
func (p *prover) flawed(d affair.Deed) {
	for _, f := range p.Inquiry.strict(d.Message) {
		p.breaks(f.line, d.Message.Path, f.why)
	}
}

// along are all lines that are broken with one.
func along(line string, v Inquiry, d affair.Deed) []string {
	all := []string{line}
	gate := ""
	if w, err := protocol.AskInquiry.Parse(d.Body); err == nil && d.Act == protocol.ActFrameGate {
		gate = w.Gate
	}
	switch {
	case line == "F30": // what its prompt says is not known
		all = append(all, "F13", "F33", "F34", "F35")
	case line == "F31" || line == "F29" && d.Act == protocol.ActFrameTask:
		all = append(all, "F1")
	case line == "F71" && gate == protocol.GateBrief && v.Mode == "":
		all = append(all, "F6", "F7")
	case line == "F71" && gate == protocol.GateBrief:
		all = append(all, "F6", "F9")
	case line == "F71" && gate == protocol.GatePerspectives:
		all = append(all, "F15", "F16", "F17")
	case line == "F71" && gate == protocol.GateRoute:
		all = append(all, "F73")
	case line == "F71" && gate == protocol.GateExtend:
		all = append(all, "F76")
	case line == "F17" && len(v.novel()) == 0:
		all = append(all, "F19")
	case line == "F44" && v.State == Preview && d.Act == protocol.ActFramePreview:
		all = append(all, "F41")
	case line == "F5" && v.Opening.AcceptBrief && !v.asked():
		all = append(all, "F10")
	case line == "F52" && talkedEarly(v, d):
		all = append(all, "F53")
	case line == "F59" || line == "F61" && d.Act == protocol.ActFrameSynthesis:
		all = append(all, "F62", "F64")
	}
	return all
}

// talkedEarly reports whether the pair of a dialogue had ended it before its third message.
func talkedEarly(v Inquiry, d affair.Deed) bool {
	w, err := protocol.ExchangeWords.Parse(d.Body)
	t := v.tension(w.Tension)
	return err == nil && t != nil && t.Talked() && len(t.Messages) < inquiry.MaxMessages
}

// look notes a deed that counts: which stage it shows, and who was at work from when to when.
func (p *prover) look(after Inquiry, d affair.Deed) {
	before := p.Inquiry
	at := d.Message.Path
	p.reached[string(d.Act)] = at
	p.chairs[protocol.Name(after.Coordinator.Host)] = true
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
		m := after.Member(w.Perspective)
		p.runs[run{w.Perspective, w.Attempt}] = &span{from: d.Position, agent: m.Agent, cycle: after.Cycle}
		if len(w.Carries) > 0 {
			p.reached[stageDeeper] = at
		}
		if before.State == Spawn && slices.ContainsFunc(before.Members, func(o *Member) bool { return o.Cycle == after.Cycle && o.Signal != nil }) {
			p.breaks("F28", at, "another member had ended before this one was started")
		}
	case protocol.ActFrameSignal:
		w, _ := protocol.SignalEnd.Parse(d.Body) // it counts
		if s := p.runs[run{w.Perspective, w.Attempt}]; s != nil {
			s.to = d.Position
		}
	case protocol.ActFrameTopic:
		w, _ := protocol.SignalTopic.Parse(d.Body) // it counts
		p.talks[w.Tension] = &span{from: d.Position}
	case protocol.ActFrameOutcomes:
		for _, t := range p.talks {
			if t.to.Path.IsZero() {
				t.to = d.Position
			}
		}
	case protocol.ActFrameSynthesis:
		if len(before.Inputs) > 0 {
			p.reached[stageInput] = at
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
	own := v.Hosts()
	for h := range p.chairs {
		own = append(own, h)
	}
	for _, d := range p.voids {
		if !slices.Contains(own, d.Host) || d.Standing != affair.Signed || p.overtaken(d) {
			p.Faults = append(p.Faults, inquiry.Fault{At: d.Message.Path, Why: "it does not count: " + d.err.Error()})
			continue
		}
		for _, line := range d.lines() {
			p.breaks(line, d.Message.Path, d.err.Error())
		}
	}
	if !v.Contested.IsZero() {
		p.breaks(gateLine(v.Gate(v.Contested).Gate), v.Contested, "a human has answered it in two ways, and has taken neither back")
	}
}

// Hosts are the hosts that have a part in an inquiry.
func (v Inquiry) Hosts() []protocol.Name {
	all := []protocol.Name{protocol.Name(v.By.Host), protocol.Name(v.Coordinator.Host)}
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
	w, _ := protocol.InquiryForm(d.Act, d.Body)
	switch {
	case d.v.State == Escaped, !d.v.Contested.IsZero() && d.Act != protocol.ActFrameAnswer:
		return true
	case w.Epoch > 0 && w.Epoch < d.v.Epoch && p.chairs[d.Host], d.Act == protocol.ActFrameResume && w.Epoch <= d.v.Epoch:
		return true
	}
	switch d.Act {
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

// outOfTurn are the lines that an act breaks if it does not count, by the state in which it came;
// None stands for all other states.
var outOfTurn = map[protocol.Act]map[State][]string{
	protocol.ActFrame:            {None: {"F1"}},
	protocol.ActFrameBrief:       {None: {"F9"}},
	protocol.ActFrameContext:     {None: {"F12"}},
	protocol.ActFrameProposals:   {None: {"F14"}},
	protocol.ActFrameEstablished: {GatePerspectives: {"F14"}, GateUnderMinimum: {"F21"}, None: {"F25"}},
	protocol.ActFrameMap:         {GatePerspectives: {"F14"}, GateUnderMinimum: {"F21"}, GateZero: {"F24"}, None: {"F27"}},
	protocol.ActFrameStart:       {GateMap: {"F26"}, GatePerspectives: {"F14"}, None: {"F28", "F27"}},
	protocol.ActFrameTask:        {None: {"F29"}},
	protocol.ActFrameSignal:      {None: {"F42"}},
	protocol.ActFrameReveal:      {None: {"F42"}},
	protocol.ActFramePreview:     {Spawn: {"F39", "F40"}, Await: {"F39", "F40"}, Collect: {"F41", "F39"}, None: {"F44"}},
	protocol.ActFrameDetection:   {Spawn: {"F39", "F40"}, Await: {"F39", "F40"}, Collect: {"F41"}, Preview: {"F44"}, None: {"F46"}},
	protocol.ActFrameTopic:       {Synthesize: {"F48"}, None: {"F51"}},
	protocol.ActFrameExchange:    {None: {"F52", "F54"}},
	protocol.ActFrameReport:      {None: {"F55"}},
	protocol.ActFrameFollowUp:    {None: {"F56", "F57"}},
	// An answer that nobody asked for is as much as a question.
	protocol.ActFrameFollowAnswer: {None: {"F56"}},
	protocol.ActFrameOutcomes:     {None: {"F58"}},
	protocol.ActFrameSynthesis:    {Await: {"F39", "F40"}, Dialogue: {"F58"}, Outcomes: {"F58"}, Present: {"F75"}, GateRoute: {"F75"}, None: {"F61", "F46"}},
	protocol.ActFrameTrace:        {None: {"F78"}},
	protocol.ActFrameShutdown:     {Trace: {"F78"}, GatePreserve: {"F80", "F79"}, Shutdown: {"F80"}, None: {"F43"}},
	protocol.ActFrameTeamEnd:      {None: {"F80"}},
	protocol.ActFrameFindings:     {None: {"F80"}},
	protocol.ActFrameEsc:          {None: {"F82"}},
	protocol.ActFrameResume:       {None: {""}},
}

// lines are the lines that a void deed breaks by coming when it does, or from whom.
func (d void) lines() []string {
	switch {
	case slices.Contains(ofMember, d.Act) && writes(d.Deed, d.v.Coordinator):
		return []string{"F36"}
	case d.v.State == Recommended:
		return []string{"F25"}
	case d.v.State == Withdrawn && d.Act == protocol.ActFrameFindings:
		return []string{"F81", "F80"}
	case d.v.State.Over():
		return []string{"F84"}
	case d.Act == protocol.ActFrameGate:
		return d.gate()
	case d.Act == protocol.ActFrameAnswer:
		w, _ := protocol.AnswerInquiry.Parse(d.Body) // without words it answers no gate
		if w.Gate == protocol.GateBrief {
			return []string{"F5", "F6", "F7"}
		}
		return []string{cmp.Or(gateLine(w.Gate), "F71")}
	}
	if lines := outOfTurn[d.Act][d.v.State]; lines != nil {
		return lines
	}
	return outOfTurn[d.Act][None]
}

// gate are the lines that a gate breaks which is not to be asked.
func (d void) gate() []string {
	w, err := protocol.AskInquiry.Parse(d.Body)
	switch {
	case err != nil:
		return []string{"F67", "F71"}
	case d.v.State == Synthesize && w.Gate == protocol.GateRoute && len(d.v.Inputs) > 0:
		return []string{"F75", "F66"}
	case w.Gate == protocol.GateRoute:
		return []string{"F66", "F73"}
	}
	return []string{cmp.Or(gateLine(w.Gate), "F71")}
}

// beside looks at a message that is no deed: whether it tells a member what it is not to know, or
// takes part in a dialogue.
func (p *prover) beside(m Mail) {
	v := p.Inquiry
	from := protocol.Address{Name: m.Author().Name, Host: m.Host.String()}
	chair := p.chairs[m.Host] && (from.Name == from.Host || from.Name == v.Coordinator.Name)
	to := func(a protocol.Address) bool {
		return m.ToAll() || slices.ContainsFunc(m.To, func(o protocol.Address) bool {
			return o.Name == a.Name && (o.Host == a.Host || o.Host == "" && from.Host == a.Host)
		})
	}
	for r, s := range p.runs {
		if !s.has(m.Position) {
			continue
		}
		if chair && to(s.agent) {
			p.breaks("F37", m.Message.Path, "the coordinator wrote to "+s.agent.Shown()+", who works")
		}
		for o, other := range p.runs {
			if o.perspective != r.perspective && other.cycle == s.cycle && from == other.agent && to(s.agent) {
				p.breaks("F42", m.Message.Path, "a member wrote to "+s.agent.Shown()+", who works")
			}
		}
	}
	for r, s := range p.runs {
		member := v.Member(r.perspective)
		if member != nil && member.Attempt == r.attempt && m.Host.String() == s.agent.Host && s.from.Before(m.Position) && p.working(s.cycle, m.Position) && tells(m.Body, member.Result, v.Prompt(r.perspective, member.Orientation)) {
			p.breaks("F42", m.Message.Path, "it tells what "+r.perspective+" found, before all have signalled")
		}
	}
	for id, s := range p.talks {
		t := v.tension(id)
		one, other := v.Member(t.Peers[0]).Agent, v.Member(t.Peers[1]).Agent
		switch {
		case m.Message.Path.Channel() == protocol.TensionChannel(p.record, v.Channel, id):
			p.breaks("F54", m.Message.Path, "it lies in a dialogue, and is none of its words")
		case !s.has(m.Position):
		case chair && (to(one) || to(other)):
			p.breaks("F54", m.Message.Path, "the coordinator wrote to a peer of a dialogue")
			p.breaks("F57", m.Message.Path, "the coordinator wrote to a peer of a dialogue")
		case from == one && to(other), from == other && to(one):
			p.breaks("F52", m.Message.Path, "the two of a dialogue talk besides it")
		}
	}
}

// working reports whether somebody of a cycle had not signalled yet.
func (p *prover) working(cycle int, at affair.Position) bool {
	for _, s := range p.runs {
		if s.cycle == cycle && (s.to.Path.IsZero() || at.Before(s.to)) {
			return true
		}
	}
	return false
}

// tells reports whether a text has a sentence of a result that is not from what the member was given.
func tells(text, result, given string) bool {
	return slices.ContainsFunc(Sentences(result), func(s string) bool {
		s = bare(s)
		return letters(s) >= 24 && strings.Contains(text, s) && !strings.Contains(given, s)
	})
}

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
