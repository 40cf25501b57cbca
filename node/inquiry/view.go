package inquiry

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/inquiry/calls"
	"github.com/parleyfleet/parley/protocol"
)

// view is an inquiry as it is shown: whole, or as one of a list. It is asked while the state is
// read.
func (q *Inquiries) view(s *fleet.State, v inquiries.Inquiry, whole bool) control.Frame {
	f := control.Frame{
		ID: id8(v.Channel), Channel: v.Channel, Path: v.Path.String(), Hash: v.Hash, Question: v.Opening.Text, QuestionHash: v.Opening.Hash,
		State: string(v.State), StateText: v.State.String(), Over: v.State.Over(), Began: v.Began.UTC(), Ended: v.End.At.UTC(), By: v.By.String(),
		Coordinator: v.Coordinator.String(), Epoch: v.Epoch, Mode: v.Mode, AskedMode: v.Opening.Mode, In: v.Opening.In, Snapshot: v.Opening.Snapshot, Receivers: v.Opening.Receivers, Cycle: v.Cycle, Last: v.Last.String(),
		Base: v.Base, Chosen: v.Chosen, FrameOutcome: control.FrameOutcome{Gaps: v.Trace.Gaps, Syntheses: v.Syntheses}, Here: v.Coordinator.Host == q.Host.String(),
	}
	if n := s.Affairs(inquiries.KindName); slices.ContainsFunc(n, func(name string) bool { return strings.HasPrefix(name, f.ID) && name != v.Channel.String() }) {
		f.ID = v.Channel.String() // a short id that two inquiries have names neither of them
	}
	for _, d := range v.Deciders {
		f.Deciders = append(f.Deciders, d.Address().String())
		f.Mine = f.Mine || d.Human == q.Human
	}
	q.mu.Lock()
	f.Trouble, f.Helps = q.stands(s, v, f.ID)
	q.mu.Unlock()
	f.Cost = v.Runs()
	f.Waits = waits(v, f.Deciders)
	if g := v.Open(); g != nil {
		f.Gate = gate(s, v, g)
	}
	if !whole {
		return f
	}
	f.Brief, f.Perspectives, f.Previews, f.Trace = v.Brief, v.Proposal.Perspectives, v.Preview.Results, v.Trace.Rows
	if len(v.Proposal.Perspectives) == 0 {
		f.NoneProposed = v.Proposal.Text
	}
	for _, m := range v.Members {
		f.Members = append(f.Members, member(s, m))
	}
	if len(v.Detection.Triggers) == 0 {
		f.Detection = v.Detection.Text
	}
	for _, t := range v.Tensions {
		f.Tensions = append(f.Tensions, tension(v, t))
	}
	f.Synthesis, f.Tier, f.Note = v.Synthesis.Text, v.Lens.Tier, v.Lens.Note
	for _, one := range v.End.Findings.Findings {
		f.Findings = append(f.Findings, one.Category)
	}
	f.Remarks = calls.Notes(v, q.before(s, v))
	return f
}

// maxBefore is how many earlier inquiries are looked at for what they show together.
const maxBefore = 20

// before returns the inquiries that went before one that is over, the newest first. What they show
// together is told at its end. It is asked while the state is read.
func (q *Inquiries) before(s *fleet.State, v inquiries.Inquiry) (before []inquiries.Inquiry) {
	if !v.State.Over() {
		return nil
	}
	for _, other := range q.known.all(s) {
		if other.State.Over() && other.Path.Compare(v.Path) < 0 && len(before) < maxBefore {
			before = append(before, other)
		}
	}
	return before
}

func waits(v inquiries.Inquiry, deciders []string) string {
	if v.State.Over() {
		return ""
	}
	if v.Open() != nil {
		return strings.Join(deciders, " or ") + " to decide"
	}
	var who []string
	for _, c := range inquiries.Next(v) {
		name := c.By.String()
		if c.Perspective != "" {
			name = c.Perspective
		}
		if !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	return strings.Join(who, ", ")
}

// gate is what a gate asks humans. It is asked while the state is read.
func gate(s *fleet.State, v inquiries.Inquiry, g *inquiries.Gate) *control.FrameGate {
	view := control.FrameGate{
		Path: g.Path.String(), Hash: g.Hash, Gate: g.Gate, Perspective: g.Perspective, Set: g.Set, Questions: g.Questions,
		Contested: v.Contested == g.Path, Time: g.At.UTC(), NoKey: true, Asker: asker(s, v, g),
		Proposal: v.Proposed(g), Cost: v.CostWords(g.Gate),
	}
	if view.Contested {
		for _, a := range g.Counted() {
			view.Answers = append(view.Answers, a.Hash)
			view.Said = append(view.Said, control.FrameAnswer{Hash: a.Hash, By: a.Human, Time: a.At.UTC(), Chosen: a.Words.Chosen, Text: a.Words.Text})
		}
	}
	for _, d := range v.Deciders {
		if host, joined := s.Keys().Host(d.Host); joined {
			_, counts, _ := host.HumanKeyNow(d.Human.String())
			view.NoKey = view.NoKey && !counts
		}
	}
	return &view
}

// asker is who asks at a gate of an inquiry: the agent that makes its calls, on behalf of nobody.
func asker(s *fleet.State, v inquiries.Inquiry, g *inquiries.Gate) protocol.Asker {
	return s.Asker(v.Coordinator.Name, g.From, "")
}

// member shows the member that investigates a perspective. It is asked while the state is read.
func member(s *fleet.State, m *inquiries.Member) control.FrameMember {
	v := control.FrameMember{
		Perspective: m.Perspective, Agent: m.Agent.String(), Attempt: m.Attempt, State: "waiting", Degraded: m.Degraded, Flags: m.Flags, Result: m.Result,
	}
	if it, ok := s.Ledger.Item(m.Given); ok {
		v.State, v.Started = "working", it.Timestamp.UTC()
	}
	if m.Signal != nil {
		v.State, v.Grade, v.Problem = m.Signal.Outcome, m.Signal.Grade, m.Signal.Text
		if it, ok := s.Ledger.Item(m.SignalPath); ok {
			v.Ended = it.Timestamp.UTC()
		}
	}
	switch {
	case m.Dropped:
		v.State = "dropped"
	case m.Result != "":
		v.State = "told"
	}
	return v
}

// tension shows a point on which two perspectives differ.
func tension(v inquiries.Inquiry, t *inquiry.Tension) control.FrameTension {
	f := control.FrameTension{ID: t.ID, Topics: t.Topics(), Peers: t.Peers[:], Messages: len(t.Messages), Closed: t.Closed()}
	for _, o := range v.Outcomes {
		if o.Tension == t.ID {
			f.Resolution, f.Strength, f.Basis = o.Resolution, o.Strength, o.Basis
		}
	}
	var agreement, divergence []string
	for _, r := range t.Reports {
		agreement = append(agreement, fmt.Sprintf("%s: %s", r.Perspective, r.Agreement))
		if strings.TrimSpace(r.Divergence) != "" {
			divergence = append(divergence, fmt.Sprintf("%s: %s", r.Perspective, r.Divergence))
		}
	}
	f.Agreement, f.Divergence = strings.Join(agreement, "\n"), strings.Join(divergence, "\n")
	return f
}

// Waiting returns how many gates of inquiries wait for each human, by HUMAN@HOST. It is asked while
// the state is read.
func (q *Inquiries) Waiting(s *fleet.State) map[string]int {
	waiting := map[string]int{}
	for _, v := range q.known.open(s) {
		if v.Open() == nil {
			continue
		}
		for _, d := range v.Deciders {
			waiting[d.Address().String()]++
		}
	}
	return waiting
}

// GateChange says which gate a message opens or answers. It is nil if the message does neither. It
// is asked while the state is read.
func (q *Inquiries) GateChange(s *fleet.State, it *fleet.Item) *control.GateChange {
	if it.Act != protocol.ActFrameGate && it.Act != protocol.ActFrameAnswer || s.Void(it) != nil {
		return nil
	}
	v := q.known.in(s, it.Path.Channel())
	at, change := it.Path, control.GateOpened
	if re, answers := it.AnsweredPath(); answers && it.Act == protocol.ActFrameAnswer {
		at, change = re, control.GateAnswered
	}
	g := v.Gate(at)
	if g == nil || len(v.Deciders) == 0 {
		return nil
	}
	outcome := "pending"
	if g.Verdict() != nil {
		outcome = "answered"
	}
	return &control.GateChange{Change: change, Path: g.Path, Title: g.Asks(), Party: oneLine(v.Opening.Text), Host: v.Deciders[0].Host, From: asker(s, v, g).Short(), Outcome: outcome}
}

// oneLine is the beginning of a question, in one line of at most 80 characters.
func oneLine(text string) string {
	line := strings.Join(strings.Fields(text), " ")
	if r := []rune(line); len(r) > 80 {
		return string(r[:79]) + "…"
	}
	return line
}

// Gates returns the gates of inquiries, to be listed with the gates of parties. They are answered
// by control.AnswerFrame.
func (q *Inquiries) Gates(r control.GatesRequest) ([]control.Gate, error) {
	list := []control.Gate{}
	var items []*fleet.Item
	q.Folded(func(s *fleet.State) {
		for _, v := range q.known.those(s, r.All || r.ID != "") {
			open := v.Open()
			for _, g := range v.Gates {
				one := q.listed(s, v, g)
				named := r.ID == one.ID || r.ID == one.Path
				if !named && (r.ID != "" || !r.All && g != open || !one.Here) {
					continue
				}
				if it, ok := s.Ledger.Item(g.Path); ok {
					list, items = append(list, one), append(items, it)
				}
			}
		}
	})
	for i, it := range items {
		if !r.Files {
			break
		}
		file, err := q.File(it)
		if err != nil {
			return nil, err
		}
		list[i].File = base64.StdEncoding.EncodeToString(file)
	}
	return list, nil
}

// GateAt returns the gate that a message opens, if that gate waits for this host's human. It is
// asked while the state is read.
func (q *Inquiries) GateAt(s *fleet.State, path protocol.Path) (control.Gate, bool) {
	it, ok := s.Ledger.Item(path)
	if !ok || it.Act != protocol.ActFrameGate {
		return control.Gate{}, false
	}
	v := q.known.in(s, path.Channel())
	g := v.Gate(path)
	if g == nil || v.Open() != g {
		return control.Gate{}, false
	}
	one := q.listed(s, v, g)
	return one, one.Here
}

// GateOfInquiry is the value of Gate.For for gates of inquiries.
const GateOfInquiry = "inquiry"

// listed is a gate as one of a list. It is asked while the state is read.
func (q *Inquiries) listed(s *fleet.State, v inquiries.Inquiry, g *inquiries.Gate) control.Gate {
	view := gate(s, v, g)
	one := control.Gate{
		ID: g.Path.Short(), Path: view.Path, For: GateOfInquiry, Title: g.Asks(), Party: oneLine(v.Opening.Text), Channel: v.Channel.String(), By: v.Coordinator.String(),
		NoKey: view.NoKey, Outcome: "pending", Time: view.Time, Hash: g.Hash, Shown: shown(v, g), Asker: view.Asker,
	}
	for _, d := range v.Deciders {
		one.Host, one.Here = d.Host, one.Here || d.Human == q.Human && d.Host == q.Host
		one.Deciders = append(one.Deciders, d.Human)
	}
	if a := g.Verdict(); a != nil {
		one.Outcome, one.DecidedBy, one.Decided, one.Answer, one.Seen = "answered", a.Human, a.At.UTC(), a.Path.String(), a.Seen
	}
	if view.Contested {
		one.Outcome = "contested"
	}
	return one
}

// shown is all that a gate asks, as text. Words that an agent chose stand in quotes.
func shown(v inquiries.Inquiry, g *inquiries.Gate) string {
	var b strings.Builder
	b.WriteString(g.Opens)
	if g == v.Open() && g.Gate == protocol.GatePerspectives && len(v.Base) > 0 {
		fmt.Fprintf(&b, "chosen already: %q\n", v.Base)
	}
	if g == v.Open() {
		if p := v.Proposed(g); p != "" {
			fmt.Fprintf(&b, "the coordinator proposed: %q\n", p)
		}
		if c := v.CostWords(g.Gate); c != "" {
			b.WriteString(c + "\n")
		}
	}
	for _, q := range g.Questions {
		fmt.Fprintf(&b, "%s:\n", protocol.Address{Name: q.ID}.Shown())
		for i, o := range q.Options {
			fmt.Fprintf(&b, "%d. %s", i+1, protocol.Address{Name: o.Key}.Shown())
			if o.About != "" {
				fmt.Fprintf(&b, ": %s", o.About)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
