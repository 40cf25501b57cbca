package inquiries

import (
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/refusal"
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
	protocol.GateUnderMinimum: "one perspective alone", protocol.GateMap: "choose who investigates", protocol.GateLost: "the host of a member is lost",
	protocol.GateFailed: "a member has no result", protocol.GateRoute: "how to go on", protocol.GateExtend: "what to extend", protocol.GatePreserve: "what to preserve",
}

// counted are the answers that nobody has taken back.
func (g *Gate) counted() []Answer {
	return slices.DeleteFunc(slices.Clone(g.Answers), func(a Answer) bool {
		return slices.ContainsFunc(g.Answers, func(b Answer) bool { return b.TakesBack == a.Hash && b.Key == a.Key })
	})
}

// Verdict is the answer that counts; nil if there is none.
func (g *Gate) Verdict() *Answer {
	if said := g.counted(); len(said) > 0 {
		return &said[0]
	}
	return nil
}

// contested reports whether answers that count say different things.
func (g *Gate) contested() bool {
	said := g.counted()
	return slices.ContainsFunc(said, func(a Answer) bool { return a.Words.Decides() != said[0].Words.Decides() })
}

// Gate is the gate that the message at `path` asks; nil if it asks none.
func (v Inquiry) Gate(path protocol.Path) *Gate {
	for _, g := range v.Gates {
		if g.Path == path {
			return g
		}
	}
	return nil
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
	switch v.State {
	case BriefDraft:
		return protocol.GateBrief, ""
	case GateZero:
		return protocol.GateZero, ""
	case GatePerspectives:
		return protocol.GatePerspectives, ""
	case GateUnderMinimum:
		return protocol.GateUnderMinimum, ""
	case GateMap:
		return protocol.GateMap, ""
	case Present:
		return protocol.GateRoute, ""
	case GateExtend:
		return protocol.GateExtend, ""
	case GatePreserve:
		return protocol.GatePreserve, ""
	case Await:
		for _, m := range v.Members {
			if m.Failed() && v.settled() {
				return protocol.GateFailed, m.Perspective
			}
		}
	}
	return "", ""
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

// ask opens a gate. Its options must be exactly the right ones. The words about options are the
// only thing that a model adds.
func (v Inquiry) ask(d affair.Deed, w protocol.InquiryGate) (Inquiry, error) {
	due, perspective := v.Due()
	if w.Gate == protocol.GateLost {
		m := v.Member(w.Perspective)
		switch {
		case v.State != Await && v.State != Collect || v.Open() != nil:
			return v, refusal.New(refusal.Forbidden, "see: parley frame show", "nobody is waited for, or a human is asked already: %s", v.State)
		case m == nil || !v.Awaits(m):
			return v, senseless("nobody waits for %q", w.Perspective)
		}
	} else if w.Gate != due || w.Perspective != perspective {
		return v, refusal.New(refusal.Forbidden, "see: parley frame show", "the gate %q is not to be asked now: %s", w.Gate, v.State)
	}
	if want := v.Questions(w.Gate); protocol.InquirySet(w.Gate, want) != w.Set {
		return v, breach("F71", "its options are not those of the gate %q: nothing is added, left out or replaced", w.Gate)
	}
	if o := v.Opening; w.Gate == protocol.GateBrief && len(o.Receivers) > 0 && (w.In != o.In || w.Snapshot != o.Snapshot || !slices.Equal(w.Receivers, o.Receivers)) {
		return v, senseless("it does not say what is investigated and who may be given it")
	}
	if err := v.said(w); err != nil {
		return v, err
	}
	v.Gates = added(v.Gates, &Gate{
		Path: d.Message.Path, Hash: d.Hash, Gate: w.Gate, Perspective: w.Perspective, Set: w.Set, Questions: w.Questions, Opens: w.Opens(), At: d.Timestamp, From: d.Origin(),
	})
	switch v.State {
	case BriefDraft:
		v.State = GateBrief
	case Present:
		v.State = GateRoute
	}
	return v, nil
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
func (v Inquiry) answer(d affair.Deed) (Inquiry, error) {
	w, err := protocol.AnswerInquiry.Parse(d.Body)
	if err != nil {
		return v, malformed(err)
	}
	re, ok := d.AnsweredPath()
	g := v.Gate(re)
	switch {
	case !ok || g == nil:
		return v, refusal.New(refusal.Unknown, "see what waits: parley gates", "it answers no gate of the inquiry")
	case v.State.Over():
		return v, refusal.New(refusal.Forbidden, "", "the inquiry is over: %s", v.State)
	case g.Moot:
		return v, refusal.New(refusal.Forbidden, "", "the gate has answered itself")
	case w.Gate != g.Gate || w.Set != g.Set:
		return v, refusal.New(refusal.Senseless, "look at the gate again: parley gates", "it answers other options than those of the gate")
	}
	if err := v.mayAnswer(d, g, w); err != nil {
		return v, err
	}
	if err := v.fits(g, w); err != nil {
		return v, err
	}
	a := Answer{d.Message.Path, d.Hash, d.Message.Human, d.Host, d.Hand.Key, d.Timestamp, w, w.TakesBack, d.Saw(w.Sight)}
	before, next := g.Verdict(), *g
	next.Answers = added(g.Answers, a)
	switch {
	case before == nil:
		next.done = w.Decides()
		v.Gates = changed(v.Gates, g, func(g *Gate) { *g = next })
		undo := v
		undo.Gates = changed(v.Gates, v.Gate(re), func(g *Gate) { g.Answers = nil })
		return v.follow(&next, a, d, &undo)
	case before.Key != a.Key:
		return v, refusal.New(refusal.Forbidden, "", "%s decided it before", before.Human)
	case w.TakesBack == "" && before.Words.Decides() == w.Decides():
		return v, refusal.New(refusal.Forbidden, "", "it is decided so already")
	case w.TakesBack == "":
		v.Gates, v.Contested = changed(v.Gates, g, func(g *Gate) { *g = next }), g.Path
		return v, nil
	}
	return v.settle(g, &next, d)
}

// settle takes back an answer to a contested gate, and does what follows.
func (v Inquiry) settle(g, next *Gate, d affair.Deed) (Inquiry, error) {
	last := next.Answers[len(next.Answers)-1]
	switch {
	case v.Contested != g.Path:
		return v, refusal.New(refusal.Forbidden, "", "nothing is contested at this gate")
	case !slices.ContainsFunc(g.counted(), func(a Answer) bool { return a.Hash == last.TakesBack && a.Key == last.Key }):
		return v, refusal.New(refusal.Unknown, "", "it takes back what was not said there")
	}
	if next.contested() {
		v.Gates = changed(v.Gates, g, func(g *Gate) { *g = *next })
		return v, nil
	}
	now := next.Verdict()
	if g.done == now.Words.Decides() { // what followed from the first decision stays
		v.Gates, v.Contested = changed(v.Gates, g, func(g *Gate) { *g = *next }), protocol.Path{}
		return v, nil
	}
	if v.undo == nil {
		return v, refusal.New(refusal.Forbidden, "take back the other one, or esc", "what %s decided first was done already", now.Human)
	}
	next.done = now.Words.Decides()
	back := *v.undo
	back.Gates = changed(back.Gates, back.Gate(g.Path), func(g *Gate) { *g = *next })
	return back.follow(next, *now, d, v.undo)
}

// mayAnswer returns an error if somebody's answer does not count. A gate needs the human's own key.
func (v Inquiry) mayAnswer(d affair.Deed, g *Gate, w protocol.InquiryAnswer) error {
	if err := v.decides(d); err != nil {
		return err
	}
	if d.Hand.Key == "" && !d.Hand.Had {
		return refusal.New(refusal.Forbidden, "make one: parley gates key add "+d.Message.Human, "%s has no key of their own, which a gate needs", d.Message.Human)
	}
	if err := d.Decided(g.Path, g.Hash, w.Decides(), time.Time{}, w.TakesBack); err != nil {
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

// fitsText returns an error if the answer's own words are not what its choice needs.
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

// follow is the inquiry after the answer `a` to the gate `g`, which counts. `undo` is the inquiry
// before it.
func (v Inquiry) follow(g *Gate, a Answer, d affair.Deed, undo *Inquiry) (Inquiry, error) {
	w := a.Words
	v.undo, v.Contested = undo, protocol.Path{}
	onwards := first(w, AskOnwards)
	if onwards == Esc {
		return v.escaped(d), nil
	}
	switch g.Gate {
	case protocol.GateBrief:
		if mode := first(w, AskMode); mode != "" {
			v.Mode = mode
		}
		if first(w, AskBrief) == Confirm {
			v.State = Gather
		} else {
			v.State, v.Changes = Opened, first(w, AskBrief)+": "+w.Text
		}
	case protocol.GateZero:
		if onwards == ModifyBrief {
			v.State, v.Changes = Opened, w.Text
		} else {
			v.State, v.Base = Propose, added(v.Base, named(w.Text)...)
		}
	case protocol.GatePerspectives:
		v = v.choose(w)
	case protocol.GateUnderMinimum:
		if onwards == RecommendInstead {
			v.Mode, v.State = protocol.ModeRecommend, Established
		} else {
			v.State = GatePerspectives
		}
	case protocol.GateMap:
		v = v.assign(func(f protocol.InquiryFit) string { return first(w, f.Perspective) })
	case protocol.GateLost, protocol.GateFailed:
		v = v.lost(g.Perspective, onwards)
	case protocol.GateRoute:
		v = v.route(onwards, w.Text)
	case protocol.GateExtend:
		v = v.extend(onwards, first(w, AskPerspective))
	case protocol.GatePreserve:
		v.Preserve, v.State = chosen(w, AskKeep), Shutdown
	}
	return v, nil
}

// route is the inquiry after the human has chosen how to go on.
func (v Inquiry) route(onwards, text string) Inquiry {
	switch onwards {
	case Extend:
		v.State = GateExtend
	case AddInput:
		v.Inputs, v.State = added(v.Inputs, text), Synthesize
	case WrapUp:
		v.wraps, v.State = true, Trace
	case Withdraw:
		v.State = Shutdown
	}
	return v
}

// extend begins another cycle, or shows the previews again and changes nothing (R45).
func (v Inquiry) extend(how, perspective string) Inquiry {
	switch how {
	case AddPerspective:
		v.Cycle, v.Base, v.State = v.Cycle+1, v.Chosen, Propose
	case Deepen:
		v.Cycle, v.State = v.Cycle+1, Spawn
		v.Members = changed(v.Members, v.Member(perspective), (*Member).again)
	case Review:
		v.State = Present
	}
	return v
}
