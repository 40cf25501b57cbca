package calls

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// walk is one inquiry that is carried out by answers as language models write them. m of a
// coordinates, members that were made on b investigate, and nat of a decides.
type walk struct {
	*testing.T
	v         inquiries.Inquiry
	channel   protocol.ChannelID
	at        time.Time
	n         uint32
	key       nkeys.KeyPair
	public    string
	around    Surroundings
	instead   map[protocol.Act]string         // fixtures that are given in place of the usual ones
	prompts   []string                        // what members were given, in order
	results   func(perspective string) string // what members find; nil: what the fixtures have
	extending string                          // what the human goes deeper into, once
}

const (
	asks   = "Which of the two stores should we keep?"
	record = "fleet-record"
)

func newWalk(t *testing.T, change func(o *protocol.InquiryOpening)) *walk {
	t.Helper()
	w := &walk{T: t, at: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), instead: map[protocol.Act]string{}}
	for i := range 4 {
		w.around.Made = append(w.around.Made, protocol.Address{Name: fmt.Sprintf("lens-%d", i+1), Host: "b"})
	}
	var err error
	if w.key, err = nkeys.CreateUser(); err == nil {
		w.public, err = w.key.PublicKey()
	}
	if err != nil {
		t.Fatal(err)
	}
	o := protocol.InquiryOpening{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{At: w.at}, Text: asks}, Source: protocol.FromArgument, Coordinator: "m"}
	if change != nil {
		change(&o)
	}
	o.Hash = protocol.Hash([]byte(o.Text))
	c, channel := w.nat(protocol.HumanDecision{Act: protocol.ActFrame, Reason: o.Decides()}).Open(o)
	w.channel = channel
	if err := w.do(c); err != nil {
		t.Fatal(err)
	}
	return w
}

// nat returns the human with the signature of a decision.
func (w *walk) nat(d protocol.HumanDecision) inquiries.Actor {
	d.RecordID, d.Human, d.Host = record, "nat", "a"
	hsig, err := d.Sign(w.key)
	if err != nil {
		w.Fatal(err)
	}
	return inquiries.Actor{Record: record, Me: "nat", Host: "a", Human: "nat", Key: w.public, Hsig: hsig}
}

// as returns the actor who makes a call. For members that were made, their host speaks.
func as(a protocol.Address) inquiries.Actor {
	if strings.HasPrefix(a.Name, "lens-") {
		a.Name = a.Host
	}
	return inquiries.Actor{Record: record, Me: a.Name, Host: protocol.Name(a.Host)}
}

// do carries out a command and folds what it wrote. The error says why the command is refused.
func (w *walk) do(c affair.Command) error {
	w.Helper()
	kind := inquiries.Kind(record)
	w.at = w.at.Add(time.Second)
	drafts, err := c.Decide(w.v, w.at)
	if err != nil {
		return err
	}
	w.n++
	m := drafts[0].Message
	m.Timestamp, m.Path = w.at, protocol.NewPath(drafts[0].Channel, w.at, w.n)
	if m.Host = "a"; m.From == "b" {
		m.Host = "b"
	}
	w.v, err = kind.Step(w.v, affair.Deed{
		Message: &m, Position: affair.Position{Place: w.at, Path: m.Path}, Hash: protocol.Hash(fmt.Append(nil, w.n)), Human: m.Human != "",
		Hand: affair.Hand{RecordID: record, Key: w.public, Had: m.Human != "", Here: m.Human != ""},
	})
	if err != nil {
		w.Fatalf("what was not refused is void: %v", err)
	}
	return nil
}

// decide has nat answer the open gate.
func (w *walk) decide(text string, options ...string) {
	w.Helper()
	g := w.v.Open()
	a := protocol.InquiryAnswer{InquiryWords: protocol.InquiryWords{Text: text}, Gate: g.Gate, Set: g.Set}
	for _, q := range g.Questions {
		c := protocol.InquiryChoice{Question: q.ID}
		for _, o := range q.Options {
			if slices.Contains(options, o.Key) {
				c.Options = append(c.Options, o.Key)
			}
		}
		if len(c.Options) > 0 {
			a.Chosen = append(a.Chosen, c)
		}
	}
	d := protocol.HumanDecision{Gate: g.Path, GateHash: g.Hash, Act: protocol.ActFrameAnswer, Reason: a.Decides()}
	if err := w.do(w.nat(d).Answer(w.channel, g.Path, a)); err != nil {
		w.Fatalf("%q at %q: %v", options, g.Gate, err)
	}
}

// yes answers a gate like a human who wants the whole inquiry, and then its end.
func (w *walk) yes() {
	w.Helper()
	switch g := w.v.Open(); g.Gate {
	case protocol.GateBrief:
		w.decide("", inquiries.Confirm, protocol.ModeInquire)
	case protocol.GatePerspectives:
		var all []string
		for _, o := range g.Questions[0].Options {
			all = append(all, o.Key)
		}
		w.decide("", all...)
	case protocol.GateMap:
		var all []string
		for _, q := range g.Questions {
			all = append(all, q.Options[0].Key)
		}
		w.decide("", all...)
	case protocol.GateRoute:
		if w.extending != "" {
			w.decide("", inquiries.Extend)
			w.decideExtend()
			return
		}
		w.decide("", inquiries.WrapUp)
	case protocol.GatePreserve:
		w.decide("", inquiries.KeepAssessment, inquiries.KeepDivergence)
	default:
		w.Fatalf("nobody expects the gate %q", g.Gate)
	}
}

func (w *walk) decideExtend() {
	w.Helper()
	for range 3 {
		if g := w.v.Open(); g != nil && g.Gate == protocol.GateExtend {
			perspective := w.extending
			w.extending = ""
			w.decide("", inquiries.Deepen, perspective)
			return
		}
		c := inquiries.Next(w.v)[0]
		if err := w.answer(c, ""); err != nil {
			w.Fatal(err)
		}
	}
}

// until carries the inquiry on until it is in a state. "" carries it to its end.
func (w *walk) until(state inquiries.State) {
	w.Helper()
	for range 300 {
		switch {
		case w.v.State == state || w.v.State.Over():
			return
		case w.v.Open() != nil:
			w.yes()
			continue
		}
		c := inquiries.Next(w.v)[0]
		if err := w.answer(c, w.fixture(c)); err != nil {
			w.Fatalf("%+v in %s: %v", c, w.v.State, err)
		}
	}
	w.Fatalf("it goes on for ever, in %s", w.v.State)
}

// answer has somebody answer a call.
func (w *walk) answer(c inquiries.Call, answer string) error {
	w.Helper()
	a := as(c.By)
	switch c.Do {
	case protocol.ActFrameSignal:
		w.prompts = append(w.prompts, w.v.Prompt(c.Perspective, w.v.Member(c.Perspective).Orientation))
		return w.do(a.Signal(w.channel, protocol.InquirySignal{
			Perspective: c.Perspective, Attempt: c.Attempt, Outcome: protocol.SignalCompleted, Grade: "process", Result: protocol.Hash([]byte(w.result(c.Perspective))),
		}))
	case protocol.ActFrameReveal:
		return w.do(a.Reveal(w.channel, c.Perspective, w.result(c.Perspective)))
	}
	s := w.around
	s.Alone = true
	text, asks := Prompt(w.v, c, s)
	if asks && c.By != w.v.Coordinator {
		w.prompts = append(w.prompts, text)
	}
	command, err := Read(a, w.channel, w.v, c, s, answer)
	if err != nil {
		return err
	}
	return w.do(command)
}

// result is what the member of a perspective found.
func (w *walk) result(perspective string) string {
	if w.results != nil {
		return w.results(perspective)
	}
	return w.file("result-" + short(perspective))
}

func short(perspective string) string {
	name, _, _ := strings.Cut(strings.ToLower(perspective), " ")
	return name
}

// fixture is the answer to a call.
func (w *walk) fixture(c inquiries.Call) string {
	w.Helper()
	if name := w.instead[c.Do]; name != "" {
		return w.file(name)
	}
	names := map[protocol.Act]string{
		protocol.ActFrameBrief: "brief", protocol.ActFrameContext: "context", protocol.ActFrameProposals: "proposals", protocol.ActFrameMap: "map",
		protocol.ActFramePreview: "preview", protocol.ActFrameDetection: "detection", protocol.ActFrameExchange: fmt.Sprint("exchange-", c.Number),
		protocol.ActFrameReport: "report-" + short(c.Perspective), protocol.ActFrameFollowUp: "question", protocol.ActFrameFollowAnswer: "answer",
		protocol.ActFrameOutcomes: "outcomes", protocol.ActFrameSynthesis: "synthesis", protocol.ActFrameTrace: "trace",
	}
	if c.Do == protocol.ActFrameGate && c.Gate == protocol.GateRoute {
		return w.file("route")
	}
	if name := names[c.Do]; name != "" {
		return w.file(name)
	}
	return ""
}

func (w *walk) file(name string) string {
	w.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".md"))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}
