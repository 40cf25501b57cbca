package fleet

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/internal/testkit/dump"
	"github.com/parleyfleet/parley/protocol"
)

// Whatever humans, coordinators and members do in an inquiry, at random, twice, late, by clocks that are
// off, while members fail and hosts are lost: there is always something to do or somebody who is
// asked, no pair says more than three things, no text is told that is not the one of its hash, and the
// order in which it arrives makes no difference.
func TestWalksThroughInquiries(t *testing.T) {
	t.Parallel()
	ended, visited := map[inquiries.State]int{}, map[inquiries.State]int{}
	for seed := range seeds(20) {
		w := &walk{asking: newAsking(t), Rand: rand.New(rand.NewPCG(uint64(seed), 17)), seed: seed}
		w.open(func(o *protocol.InquiryOpening) {
			if w.IntN(3) == 0 {
				o.Perspectives = []string{"Data modelling"}
			}
			o.AcceptBrief = w.IntN(4) == 0
			o.Mode = protocol.ModeInquire
		})
		if w.IntN(3) == 0 {
			w.agents = []string{"k@b", "l@b"}
		}
		w.divided = w.IntN(2) == 0
		for range 40 + w.IntN(160) {
			w.step()
			visited[w.check()]++
		}
		v := w.value()
		ended[v.State]++
		want := w.told(w.state)
		for range 2 {
			files := slices.Concat(w.files, w.files[:len(w.files)/3])
			w.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
			other := w.empty()
			fold(t, other, files)
			if got := w.told(other); got != want {
				t.Fatalf("walk %d: another order gives\n%s\nand not\n%s", seed, got, want)
			}
		}
	}
	if fewCases {
		return
	}
	for _, s := range []inquiries.State{inquiries.GateZero, inquiries.GateMap, inquiries.Outcomes, inquiries.GateExtend, inquiries.GateUnderMinimum, inquiries.WrappedUp, inquiries.Withdrawn, inquiries.Escaped} {
		if visited[s] == 0 { // else this would show little
			t.Errorf("no walk came to %s: %v", s, visited)
		}
	}
}

// walk is a random walk through one inquiry.
type walk struct {
	*asking
	*rand.Rand
	seed int
}

// told is what a state says of the inquiry, and which of its deeds are void.
func (w *walk) told(s *State) string {
	text := dump.Text(Value(s, inquiries.Kind(testRecord), w.channel.String(), w.at))
	void := ""
	for it := range s.Ledger.All() {
		if why := s.Void(it); why != nil && it.affair.Kind == inquiries.KindName {
			void += "\n" + it.Path.String() + " " + why.Error()
		}
	}
	return string(text) + void
}

// step does one thing.
func (w *walk) step() {
	v := w.value()
	switch w.IntN(30) {
	case 0:
		w.again()
		return
	case 1:
		about := protocol.HumanDecision{Gate: v.Path, GateHash: v.Hash, Act: protocol.ActFrameEsc, Reason: "Enough."}
		if w.IntN(8) == 0 {
			w.try("a", w.human("nat", "a", about).Esc(w.channel, "Enough."))
		} else {
			w.try("b", w.human("zoe", "b", about).Esc(w.channel, "Enough."))
		}
		return
	case 2:
		e := protocol.InquiryEpoch{InquiryWords: protocol.InquiryWords{Epoch: v.Epoch + 1}, Coordinator: "m"}
		about := protocol.HumanDecision{Gate: v.Path, GateHash: v.Hash, Act: protocol.ActFrameResume, Reason: e.Decides()}
		w.try("a", w.human("nat", "a", about).Resume(w.channel, "m"))
		return
	case 3:
		if len(v.Members) > 0 {
			w.try("a", w.as(v.Coordinator).Ask(w.channel, protocol.GateLost, v.Members[w.IntN(len(v.Members))].Perspective, nil))
		}
		return
	case 4: // an answer to a gate of before, as if it had not been
		if len(v.Gates) > 0 {
			w.answer(v.Gates[w.IntN(len(v.Gates))])
		}
		return
	}
	if v.State != inquiries.None && v.State.String() == "" {
		w.Errorf("people are told nothing of the state %q", string(v.State))
	}
	calls := inquiries.Next(v)
	if g := v.Open(); g != nil && (len(calls) == 0 || w.IntN(4) > 0) {
		w.answer(g)
		return
	}
	if len(calls) == 0 {
		return
	}
	c := calls[w.IntN(len(calls))]
	w.tensions = v.Syntheses == 0 || w.IntN(2) == 0
	w.fails = nil
	if w.IntN(5) == 0 {
		w.fails = []string{c.Perspective}
	}
	if c.Do == protocol.ActFrameProposals && w.IntN(4) == 0 {
		w.try("a", inquiries.Draft(w.as(c.By), w.channel, protocol.ProposePerspectives, protocol.InquiryProposals{InquiryWords: protocol.InquiryWords{Text: "Nothing fits."}}))
		return
	}
	if _, err := w.do(protocol.Name(c.By.Host), w.perform(v, c)); err != nil {
		w.Fatalf("walk %d: %+v in %s, which comes next, is refused: %v", w.seed, c, v.State, err)
	}
}

// again writes a message of before once more, with a clock that is off.
func (w *walk) again() {
	it, ok := w.state.Ledger.Item(w.files[4+w.IntN(len(w.files)-4)].path)
	if !ok || it.affair.Kind != inquiries.KindName {
		return
	}
	m := protocol.Message{From: it.From, To: it.To, Type: it.Type, Act: it.Act, Re: it.Re, Human: it.Human, Hsig: it.Hsig, Body: it.Body}
	at := w.at.Add(time.Duration(w.IntN(20)-15) * time.Second)
	w.at = w.at.Add(time.Second)
	f := w.wide[it.Host].write(w, Draft{Message: m, Channel: it.Path.Channel()}, at, w.Uint32())
	w.files = append(w.files, f)
	fold(w, w.state, []testFile{f})
}

// try does what may be refused.
func (w *walk) try(host protocol.Name, c affair.Command) { _, _ = w.do(host, c) }

// answer answers a gate at random, mostly as nat.
func (w *walk) answer(g *inquiries.Gate) {
	var options []string
	for _, ask := range g.Questions {
		for range 1 + w.IntN(len(ask.Options)+1) {
			if !ask.Multi && len(options) > 0 && len(g.Questions) == 1 {
				break
			}
			options = append(options, ask.Options[w.IntN(max(1, len(ask.Options)))].Key)
			if !ask.Multi {
				break
			}
		}
	}
	switch {
	case slices.Contains(options, inquiries.Esc) && w.IntN(3) > 0:
		return
	case slices.Contains(options, inquiries.AddPerspective) || slices.Contains(options, inquiries.Review):
		options = options[:1]
	}
	text := ""
	if w.IntN(3) == 0 {
		text = "Lens of " + string(rune('A'+w.IntN(26))) + string(rune('a'+w.IntN(26)))
	}
	said := protocol.InquiryAnswer{InquiryWords: protocol.InquiryWords{Text: text}}
	if len(g.Answers) > 0 && w.IntN(2) == 0 {
		said.TakesBack = g.Answers[w.IntN(len(g.Answers))].Hash
	}
	name, host := "nat", protocol.Name("a")
	if w.IntN(10) == 0 {
		name, host = "zoe", "b"
	}
	_, _ = w.decideAt(g, name, host, said, options...)
}

// check says whether the inquiry is as it must be, whatever was done, and in which state it is.
func (w *walk) check() inquiries.State {
	v := w.value()
	calls := inquiries.Next(v)
	if !v.State.Over() && v.Open() == nil && len(calls) == 0 {
		w.Fatalf("walk %d: nobody does anything in %s", w.seed, v.State)
	}
	if v.State.Over() && len(calls) > 0 || !v.Contested.IsZero() && len(calls) > 0 {
		w.Fatalf("walk %d: it goes on in %s with %+v", w.seed, v.State, calls)
	}
	for i, m := range v.Members {
		if !slices.Contains(v.Chosen, m.Perspective) || slices.ContainsFunc(v.Members[:i], func(o *inquiries.Member) bool { return o.Perspective == m.Perspective }) {
			w.Fatalf("walk %d: %q is investigated twice, or was not chosen", w.seed, m.Perspective)
		}
		if m.Result != "" && (m.Signal == nil || protocol.Hash([]byte(m.Result)) != m.Signal.Result) {
			w.Fatalf("walk %d: the result of %q is not that of its hash", w.seed, m.Perspective)
		}
		if m.Result != "" {
			for _, o := range v.Members {
				if o.Cycle == m.Cycle && o.Signal == nil && o.Degraded == "" && !o.Given.IsZero() && o.Attempt == 1 {
					w.Fatalf("walk %d: the result of %q was told before %q signalled", w.seed, m.Perspective, o.Perspective)
				}
			}
		}
	}
	for _, t := range v.Tensions {
		if len(t.Messages) > 3 || len(t.Reports) > 2 || len(t.Answers) > len(t.Asked) {
			w.Fatalf("walk %d: they talk too much: %+v", w.seed, t)
		}
	}
	return v.State
}

// It prevents: words that some program mangled stop every host that folds them, or leave an
// inquiry in which nobody does anything.
func TestMangledWordsOfInquiries(t *testing.T) {
	rng, kind, held := rand.New(rand.NewPCG(7, 7)), inquiries.Kind(testRecord), 0
	q := newAsking(t)
	q.tensions, q.divided = true, true
	q.open(nil)
	answers := map[inquiries.State][]string{
		inquiries.GateBrief: {inquiries.Confirm, protocol.ModeInquire}, inquiries.GatePerspectives: {"Operations", "Cost accounting"},
		inquiries.GateRoute: {inquiries.WrapUp}, inquiries.GatePreserve: {inquiries.KeepDivergence},
	}
	for v := q.value(); !v.State.Over(); v = q.value() {
		calls := inquiries.Next(v)
		if len(calls) == 0 {
			q.yes(answers[v.State]...)
			continue
		}
		drafts, err := q.state.Decide(Do{q.perform(v, calls[0])}, q.at)
		if err != nil {
			t.Fatal(err)
		}
		for range 100 {
			m := drafts[0].Message
			m.Host, m.Timestamp, m.Path = protocol.Name(calls[0].By.Host), q.at, protocol.NewPath(drafts[0].Channel, q.at, rng.Uint32())
			m.Body = mangled(rng, m.Body)
			next, err := kind.Step(v, affair.Deed{Message: &m, Position: affair.Position{Place: q.at, Path: m.Path}})
			if err != nil {
				continue
			}
			if held++; !next.State.Over() && next.Open() == nil && len(inquiries.Next(next)) == 0 {
				t.Fatalf("nobody does anything in %s after %s of\n%s", next.State, m.Act, m.Body)
			}
		}
		q.must(protocol.Name(calls[0].By.Host), q.perform(v, calls[0]))
	}
	if held == 0 {
		t.Error("nothing of it held") // else this would show little
	}
}

// mangled is a text with something of it left out, or put where something else of it was.
func mangled(rng *rand.Rand, text string) string {
	parts := strings.SplitAfter(text, []string{"\n", "\"", " "}[rng.IntN(3)])
	i, j := rng.IntN(len(parts)), rng.IntN(len(parts))
	switch rng.IntN(3) {
	case 0:
		parts[i] = ""
	case 1:
		parts[i] = parts[j]
	default:
		parts[i] += parts[j]
	}
	return strings.Join(parts, "")
}
