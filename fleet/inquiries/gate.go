package inquiries

import (
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// The ids of questions. Other questions have the name of a perspective as their id.
const (
	AskBrief       = "brief"
	AskMode        = "mode"
	AskOnwards     = "onwards"
	AskPerspective = "perspective"
	AskKeep        = "keep"
)

// The options that are the same in every inquiry.
const (
	Confirm           = "confirm"
	ModifyIntent      = "modify-intent"
	ModifyDeliverable = "modify-deliverable"
	ModifyScope       = "modify-scope"
	ModifyBrief       = "modify-brief"
	SupplyPerspective = "supply-perspectives"
	ExtendSelection   = "extend-selection"
	RecommendInstead  = "recommend-instead"
	KeepWaiting       = "keep-waiting"
	RunElsewhere      = "run-elsewhere"
	GoOnWithout       = "go-on-without"
	Esc               = "esc"
	Extend            = "extend"
	AddInput          = "add-input"
	WrapUp            = "wrap-up"
	Withdraw          = "withdraw"
	AddPerspective    = "add-perspective"
	Deepen            = "deepen"
	Review            = "review"
	KeepConvergence   = "convergence"
	KeepDivergence    = "divergence"
	KeepAssessment    = "assessment"
)

// AboutWithdraw is what is said about withdrawing, always.
const AboutWithdraw = "End with what there is now: the team ends, nothing is preserved"

// Gate is a question to humans, and what they said.
type Gate struct {
	Path        protocol.Path // the message that asks
	Hash        string        // hash of its file
	Gate        string
	Perspective string // whose member is lost, or has no result
	Set         string
	Questions   []protocol.InquiryQuestion
	At          time.Time
	Opens       string        // what a yes has read, and who may be given it
	From        affair.Origin // whose key asks
	Moot        bool          // the question has answered itself: a lost member has signalled
	Answers     []Answer      // in the order of the record; the first that nobody has taken back counts
	done        string        // the decision that the inquiry has followed
}

// Answer is what a human said at a gate.
type Answer struct {
	Path      protocol.Path
	Hash      string
	Human     string
	Host      protocol.Name
	Key       string
	At        time.Time
	Words     protocol.InquiryAnswer
	TakesBack string
	Seen      string // what they signed to have seen of the asker (protocol.Asker); empty if they did not
}

// Asks is what a gate asks, in words.
func (g *Gate) Asks() string {
	if g.Perspective != "" {
		return gateWords[g.Gate] + ": " + g.Perspective
	}
	return gateWords[g.Gate]
}

var gateWords = map[string]string{
	protocol.GateBrief: "confirm the brief", protocol.GateZero: "no perspective was found", protocol.GatePerspectives: "choose perspectives",
	protocol.GateUnderMinimum: "one perspective alone", protocol.GateMap: "choose who investigates", protocol.GateLost: "a member does not answer",
	protocol.GateFailed: "a member has no result", protocol.GateRoute: "how to go on", protocol.GateExtend: "what to extend", protocol.GatePreserve: "what to preserve",
}

// Counted are the answers that nobody has taken back.
func (g *Gate) Counted() []Answer {
	return slices.DeleteFunc(slices.Clone(g.Answers), func(a Answer) bool {
		return slices.ContainsFunc(g.Answers, func(b Answer) bool { return b.TakesBack == a.Hash && b.Key == a.Key })
	})
}

// Verdict is the answer that counts; nil if there is none.
func (g *Gate) Verdict() *Answer {
	if said := g.Counted(); len(said) > 0 {
		return &said[0]
	}
	return nil
}

// contested reports whether answers that count say different things.
func (g *Gate) contested() bool {
	said := g.Counted()
	return slices.ContainsFunc(said, func(a Answer) bool { return a.Words.Decides() != said[0].Words.Decides() })
}

// Gate is the gate that the message at `path` asks; nil if it asks none.
func (v Inquiry) Gate(path protocol.Path) *Gate {
	return each.Find(v.Gates, func(g *Gate) bool { return g.Path == path })
}

// Open is the gate that waits for a human; nil if none does. A contested gate waits too.
func (v Inquiry) Open() *Gate {
	if v.State.Over() {
		return nil
	}
	if !v.Contested.IsZero() {
		return v.Gate(v.Contested)
	}
	for _, g := range slices.Backward(v.Gates) {
		if !g.Moot && len(g.Answers) == 0 {
			return g
		}
	}
	return nil
}

// Due is the gate that is to be asked now, and the perspective about which it is. It is "" if none
// is.
func (v Inquiry) Due() (gate, perspective string) {
	if v.Open() != nil {
		return "", ""
	}
	for _, m := range v.Members {
		if v.State == Await && m.Failed() && v.settled() {
			return protocol.GateFailed, m.Perspective
		}
	}
	return dueIn[v.State], ""
}

// dueIn are the gates that are asked in states.
var dueIn = map[State]string{
	BriefDraft: protocol.GateBrief, GateZero: protocol.GateZero, GatePerspectives: protocol.GatePerspectives, GateUnderMinimum: protocol.GateUnderMinimum,
	GateMap: protocol.GateMap, Present: protocol.GateRoute, GateExtend: protocol.GateExtend, GatePreserve: protocol.GatePreserve,
}

// Questions are the questions of a gate as it has to be asked now. Their options are constants. If
// options are things, they are exactly those of the record (R55).
func (v Inquiry) Questions(gate string) []protocol.InquiryQuestion {
	one := func(id string, keys ...string) protocol.InquiryQuestion {
		q := protocol.InquiryQuestion{ID: id}
		for _, k := range keys {
			q.Options = append(q.Options, protocol.InquiryOption{Key: k})
		}
		return q
	}
	many := func(q protocol.InquiryQuestion) []protocol.InquiryQuestion {
		q.Multi = true
		return []protocol.InquiryQuestion{q}
	}
	switch gate {
	case protocol.GateBrief:
		list := []protocol.InquiryQuestion{one(AskBrief, Confirm, ModifyIntent, ModifyDeliverable, ModifyScope)}
		if v.Mode != "" {
			return list // a modification repeats only the question about the brief, and the mode stays
		}
		if v.Brief.Mode == protocol.ModeInquire {
			return append(list, one(AskMode, protocol.ModeInquire, protocol.ModeRecommend))
		}
		return append(list, one(AskMode, protocol.ModeRecommend, protocol.ModeInquire))
	case protocol.GateZero:
		return []protocol.InquiryQuestion{one(AskOnwards, ModifyBrief, SupplyPerspective, Esc)}
	case protocol.GatePerspectives:
		return many(one(protocol.GatePerspectives, v.novel()...))
	case protocol.GateUnderMinimum:
		return []protocol.InquiryQuestion{one(AskOnwards, ExtendSelection, RecommendInstead, Esc)}
	case protocol.GateMap:
		var list []protocol.InquiryQuestion
		for _, f := range v.Fits {
			if len(f.Candidates) > 1 {
				q := protocol.InquiryQuestion{ID: f.Perspective}
				for _, c := range f.Candidates {
					q.Options = append(q.Options, protocol.InquiryOption{Key: c.Key, About: c.About})
				}
				list = append(list, q)
			}
		}
		return list
	case protocol.GateLost:
		return []protocol.InquiryQuestion{one(AskOnwards, KeepWaiting, RunElsewhere, Esc)}
	case protocol.GateFailed:
		return []protocol.InquiryQuestion{one(AskOnwards, GoOnWithout, RunElsewhere, Esc)}
	case protocol.GateRoute:
		return []protocol.InquiryQuestion{one(AskOnwards, Extend, AddInput, WrapUp, Withdraw)}
	case protocol.GateExtend:
		return []protocol.InquiryQuestion{one(AskOnwards, AddPerspective, Deepen, Review), one(AskPerspective, v.investigated()...)}
	case protocol.GatePreserve:
		return many(one(AskKeep, KeepConvergence, KeepDivergence, KeepAssessment))
	}
	return nil
}

// Proposed is what the coordinator proposed to extend, at the gate that asks what to extend; "" at
// others.
func (v Inquiry) Proposed(g *Gate) (about string) {
	if g.Gate != protocol.GateExtend {
		return ""
	}
	for _, before := range v.Gates {
		if before == g {
			break
		}
		for _, q := range before.Questions {
			for _, o := range q.Options {
				if before.Gate == protocol.GateRoute && o.Key == Extend {
					about = o.About
				}
			}
		}
	}
	return about
}

// ask opens a gate. Its options must be exactly the right ones. The words about options are the
// only thing that a model adds.
func (s *step) ask(w protocol.InquiryGate) error {
	due, perspective := s.Due()
	if w.Gate == protocol.GateLost {
		m := s.Member(w.Perspective)
		switch {
		case s.State != Await && s.State != Collect && s.State != Dialogue || s.Open() != nil:
			return refusal.New(refusal.Forbidden, "see: parley frame show", "nobody is waited for, or a human is asked already: %s", s.State)
		case m == nil || !s.Awaits(m):
			return senseless("nobody waits for %q", w.Perspective)
		}
	} else if w.Gate != due || w.Perspective != perspective {
		return refusal.New(refusal.Forbidden, "see: parley frame show", "the gate %q is not to be asked now: %s", w.Gate, s.State)
	}
	if want := s.Questions(w.Gate); protocol.InquirySet(w.Gate, want) != w.Set {
		return breach("F71", "its options are not those of the gate %q: nothing is added, left out or replaced", w.Gate)
	}
	if o := s.Opening; w.Gate == protocol.GateBrief && len(o.Receivers) > 0 && (w.In != o.In || w.Snapshot != o.Snapshot || !slices.Equal(w.Receivers, o.Receivers)) {
		return senseless("it does not say what is investigated and who may be given it")
	}
	if err := s.said(w); err != nil {
		return err
	}
	s.Gates = affair.Added(s.Gates, &Gate{
		Path: s.deed.Message.Path, Hash: s.deed.Hash, Gate: w.Gate, Perspective: w.Perspective, Set: w.Set, Questions: w.Questions, Opens: w.Opens(), At: s.deed.Timestamp, From: s.deed.Origin(),
	})
	switch s.State {
	case BriefDraft:
		s.State = GateBrief
	case Present:
		s.State = GateRoute
	}
	return nil
}

// said returns an error if something is wrong with the words about options.
func (v Inquiry) said(w protocol.InquiryGate) error {
	for _, q := range w.Questions {
		for _, o := range q.Options {
			if len(o.About) > 500 {
				return senseless("the words about %q are too many for a line", o.Key)
			}
			switch {
			case w.Gate == protocol.GatePerspectives && o.About != v.contribution(o.Key):
				return breach("F71", "the words about %q are not those of the proposal", o.Key)
			case w.Gate != protocol.GateRoute:
			case o.Key == Withdraw && o.About != AboutWithdraw:
				return breach("F74", "withdrawing has words of its own: %s", AboutWithdraw)
			case o.Key != Withdraw && !v.grounded(o.About):
				return breach("F74", "the words about %q are of no part of the synthesis", o.Key)
			}
		}
	}
	return nil
}

// grounded reports whether a proposal is about this synthesis: it names a perspective, or has three
// words of the synthesis in a row.
func (v Inquiry) grounded(text string) bool {
	lower, lens := strings.ToLower(text), strings.Join(strings.Fields(strings.ToLower(v.Synthesis.Text)), " ")
	if slices.ContainsFunc(v.Chosen, func(p string) bool { return strings.Contains(lower, strings.ToLower(p)) }) {
		return true
	}
	words := strings.Fields(lower)
	for i := 0; i+3 <= len(words); i++ {
		if strings.Contains(lens, strings.Join(words[i:i+3], " ")) {
			return true
		}
	}
	return false
}

// answer notes what a human decides at a gate, and what follows. The first decision in the order of
// the record counts. If one key says two different things, nothing more is done until one of them
// is taken back. What followed from the first is not undone by that.
func (s *step) answer(w protocol.InquiryAnswer) error {
	re, ok := s.deed.AnsweredPath()
	g := s.Gate(re)
	switch {
	case !ok || g == nil:
		return refusal.New(refusal.Unknown, "see what waits: parley gates", "it answers no gate of the inquiry")
	case s.State.Over():
		return refusal.New(refusal.Forbidden, "", "the inquiry is over: %s", s.State)
	case g.Moot:
		return refusal.New(refusal.Forbidden, "", "the gate has answered itself")
	case w.Gate != g.Gate || w.Set != g.Set:
		return refusal.New(refusal.Senseless, "look at the gate again: parley gates", "it answers other options than those of the gate")
	}
	if err := s.mayAnswer(g, w); err != nil {
		return err
	}
	if err := s.fits(g, w); err != nil {
		return err
	}
	a := Answer{s.deed.Message.Path, s.deed.Hash, s.deed.Message.Human, s.deed.Host, s.deed.Hand.Key, s.deed.Timestamp, w, w.TakesBack, s.deed.Saw(w.Sight)}
	before, next := g.Verdict(), *g
	next.Answers = affair.Added(g.Answers, a)
	switch {
	case before == nil:
		next.done = w.Decides()
		s.Gates = affair.Edited(s.Gates, g, func(g *Gate) { *g = next })
		undo := s.Inquiry
		undo.Gates = affair.Edited(s.Gates, s.Gate(re), func(g *Gate) { g.Answers = nil })
		s.follow(&next, a, &undo)
		return nil
	case before.Key != a.Key:
		return refusal.New(refusal.Forbidden, "", "%s decided it before", before.Human)
	case w.TakesBack == "" && before.Words.Decides() == w.Decides():
		return refusal.New(refusal.Forbidden, "", "it is decided so already")
	case w.TakesBack == "":
		s.Gates, s.Contested = affair.Edited(s.Gates, g, func(g *Gate) { *g = next }), g.Path
		return nil
	}
	return s.settle(g, &next)
}

// settle takes back an answer to a contested gate, and does what follows.
func (s *step) settle(g, next *Gate) error {
	last := next.Answers[len(next.Answers)-1]
	switch {
	case s.Contested != g.Path:
		return refusal.New(refusal.Forbidden, "", "nothing is contested at this gate")
	case !slices.ContainsFunc(g.Counted(), func(a Answer) bool { return a.Hash == last.TakesBack && a.Key == last.Key }):
		return refusal.New(refusal.Unknown, "", "it takes back what was not said there")
	}
	if next.contested() {
		s.Gates = affair.Edited(s.Gates, g, func(g *Gate) { *g = *next })
		return nil
	}
	now := next.Verdict()
	if g.done == now.Words.Decides() { // what followed from the first decision stays
		s.Gates, s.Contested = affair.Edited(s.Gates, g, func(g *Gate) { *g = *next }), protocol.Path{}
		return nil
	}
	if s.undo == nil {
		return refusal.New(refusal.Forbidden, "choose what was done, or end it: parley frame esc", "what %s decided first was done already", now.Human)
	}
	next.done = now.Words.Decides()
	undo := s.undo
	s.Inquiry = *undo
	s.Gates = affair.Edited(s.Gates, s.Gate(g.Path), func(g *Gate) { *g = *next })
	s.follow(next, *now, undo)
	return nil
}

// mayAnswer returns an error if somebody's answer does not count. A gate needs the human's own key.
func (s *step) mayAnswer(g *Gate, w protocol.InquiryAnswer) error {
	if err := s.decides(); err != nil {
		return err
	}
	if s.deed.Hand.Key == "" && !s.deed.Hand.Had {
		return refusal.New(refusal.Forbidden, "make one: parley gates key add "+s.deed.Message.Human, "%s has no key of their own, which a gate needs", s.deed.Message.Human)
	}
	if err := s.deed.Decided(g.Path, g.Hash, w.Decides(), time.Time{}, w.TakesBack); err != nil {
		return refusal.New(refusal.Forbidden, "", "%s", err)
	}
	return nil
}

// fits returns an error if an answer does not fit the options of a gate.
func (v Inquiry) fits(g *Gate, w protocol.InquiryAnswer) error {
	for _, c := range w.Chosen {
		i := slices.IndexFunc(g.Questions, func(q protocol.InquiryQuestion) bool { return q.ID == c.Question })
		if i < 0 {
			return senseless("the gate does not ask %q", c.Question)
		}
		for _, o := range c.Options {
			if !slices.ContainsFunc(g.Questions[i].Options, func(p protocol.InquiryOption) bool { return p.Key == o }) {
				return senseless("%q is no option of %q", o, c.Question)
			}
		}
	}
	for _, q := range g.Questions {
		n := len(chosen(w, q.ID))
		switch {
		case q.Multi:
		case g.Gate == protocol.GateExtend && q.ID == AskPerspective:
			if deepens := first(w, AskOnwards) == Deepen; deepens != (n == 1) || n > 1 {
				return senseless("to deepen is to choose one perspective, and nothing else is")
			}
		case n != 1:
			return senseless("it chooses %d options of %q, and one is to be chosen", n, q.ID)
		}
	}
	return v.fitsText(g, w)
}

func (v Inquiry) fitsText(g *Gate, w protocol.InquiryAnswer) error {
	written := strings.TrimSpace(w.Text) != ""
	needs := false
	switch o := first(w, AskOnwards); g.Gate {
	case protocol.GateBrief:
		needs = first(w, AskBrief) != Confirm
	case protocol.GateZero:
		needs = o != Esc
		if o == SupplyPerspective {
			return v.supplies(w.Text)
		}
	case protocol.GateRoute:
		needs = o == AddInput
	case protocol.GatePerspectives:
		if written {
			return v.supplies(w.Text)
		}
		if len(chosen(w, g.Gate))+len(v.Base) == 0 {
			return senseless("it chooses no perspective")
		}
	case protocol.GateFailed:
		if o == GoOnWithout && len(v.Standing()) < 3 {
			return refusal.New(refusal.Senseless, "have it run elsewhere, or esc", "fewer than two perspectives are left without it")
		}
	}
	switch {
	case needs && !written:
		return refusal.New(refusal.Senseless, "say it with the answer", "it does not say what is to be different")
	case !needs && written && g.Gate != protocol.GatePerspectives:
		return senseless("its choice takes no words of one's own")
	}
	return nil
}

// chosen are the options that an answer chooses for a question. first is the first of them.
func chosen(w protocol.InquiryAnswer, question string) []string {
	for _, c := range w.Chosen {
		if c.Question == question {
			return c.Options
		}
	}
	return nil
}

func first(w protocol.InquiryAnswer, question string) string {
	if list := chosen(w, question); len(list) > 0 {
		return list[0]
	}
	return ""
}

func (s *step) follow(g *Gate, a Answer, undo *Inquiry) {
	w := a.Words
	s.undo, s.Contested = undo, protocol.Path{}
	onwards := first(w, AskOnwards)
	if onwards == Esc {
		s.escaped()
		return
	}
	switch g.Gate {
	case protocol.GateBrief:
		if mode := first(w, AskMode); mode != "" {
			s.Mode = mode
		}
		if first(w, AskBrief) == Confirm {
			s.State = Gather
		} else {
			s.State, s.Changes = Opened, first(w, AskBrief)+": "+w.Text
		}
	case protocol.GateZero:
		if onwards == ModifyBrief {
			s.State, s.Changes = Opened, w.Text
		} else {
			s.State, s.Base = Propose, affair.Added(s.Base, named(w.Text)...)
		}
	case protocol.GatePerspectives:
		s.choose(w)
	case protocol.GateUnderMinimum:
		if onwards == RecommendInstead {
			s.Mode, s.State = protocol.ModeRecommend, Established
		} else {
			s.State = GatePerspectives
		}
	case protocol.GateMap:
		s.assign(func(f protocol.InquiryFit) string { return first(w, f.Perspective) })
	case protocol.GateLost, protocol.GateFailed:
		s.lost(g.Perspective, onwards)
	case protocol.GateRoute:
		s.route(onwards, w.Text)
	case protocol.GateExtend:
		s.extend(onwards, first(w, AskPerspective))
	case protocol.GatePreserve:
		s.End.Preserve, s.State = chosen(w, AskKeep), Shutdown
	}
}

// route goes on as the human has chosen.
func (s *step) route(onwards, text string) {
	switch onwards {
	case Extend:
		s.State = GateExtend
	case AddInput:
		s.Inputs, s.State = affair.Added(s.Inputs, text), Synthesize
	case WrapUp:
		s.End.wraps, s.State = true, Trace
	case Withdraw:
		s.State = Shutdown
	}
}

// extend begins another cycle, or shows the previews again and changes nothing (R45).
func (s *step) extend(how, perspective string) {
	switch how {
	case AddPerspective:
		s.Cycle, s.Base, s.State = s.Cycle+1, s.Chosen, Propose
	case Deepen:
		s.Cycle, s.State = s.Cycle+1, Spawn
		s.Members = affair.Edited(s.Members, s.Member(perspective), (*Member).again)
	case Review:
		s.State = Present
	}
}
