package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/protocol"
)

// asking is an inquiry in a fleet of two hosts: nat of a asks, m of a coordinates, k and l of b
// and members that are made for a perspective investigate.
type asking struct {
	*gathering
	channel  protocol.ChannelID
	quiet    []string                        // perspectives whose members do not signal
	fails    []string                        // whose runs fail
	agents   []string                        // who fits each perspective; empty: each is made
	tensions bool                            // whether one is found between the first two
	divided  bool                            // whether peers report what divides them
	colludes bool                            // whether all members answer the same
	skew     map[protocol.Name]time.Duration // how far the clocks of hosts are ahead
}

const question = "Which of the two stores should we keep?\n"

func newAsking(t *testing.T) *asking { return &asking{gathering: newGathering(t)} }

// open has nat ask; change says what is different of the call.
func (q *asking) open(change func(o *protocol.InquiryOpening)) {
	q.Helper()
	o := protocol.InquiryOpening{InquiryWords: protocol.InquiryWords{FormHead: protocol.FormHead{At: q.at}, Text: question}, Source: protocol.FromArgument, Coordinator: "m"}
	if change != nil {
		change(&o)
	}
	o.Hash = protocol.Hash([]byte(o.Text))
	c, channel := q.human("nat", "a", protocol.HumanDecision{Act: protocol.ActFrame, Reason: o.Decides()}).Open(o)
	q.must("a", c)
	q.channel = channel
}

// do carries out a command as a host does, by its clock; the error is why it is refused, or void.
func (q *asking) do(host protocol.Name, c affair.Command) (protocol.Path, error) {
	q.Helper()
	drafts, err := q.state.Decide(Do{c}, q.at.Add(q.skew[host]))
	if err != nil {
		return protocol.Path{}, err
	}
	q.at = q.at.Add(q.skew[host])
	p := q.say(q.wide[host], drafts[0])
	q.at = q.at.Add(-q.skew[host])
	it, _ := q.state.Ledger.Item(p)
	return p, q.state.Void(it)
}

func (q *asking) must(host protocol.Name, c affair.Command) {
	q.Helper()
	if _, err := q.do(host, c); err != nil {
		q.Fatal(err)
	}
}

// human is one who decides that, with their key where they have one.
func (q *asking) human(name string, host protocol.Name, about protocol.HumanDecision) inquiries.Actor {
	q.Helper()
	a := inquiries.Actor{Record: testRecord, Me: name, Host: host, Human: name}
	if key := q.keys[name]; key != nil {
		about.RecordID, about.Human, about.Host = testRecord, protocol.Name(name), host
		var err error
		if a.Hsig, err = about.Sign(key); err != nil {
			q.Fatal(err)
		}
		a.Key = about.Key
	}
	return a
}

func (q *asking) value() inquiries.Inquiry {
	return Value(q.state, inquiries.Kind(testRecord), q.channel.String(), q.at)
}

// as is an agent of a host. For members that were made for a perspective their host speaks: it
// declares no such agent.
func (q *asking) as(a protocol.Address) inquiries.Actor {
	if strings.HasPrefix(a.Name, "lens-") {
		a.Name = a.Host
	}
	return inquiries.Actor{Record: testRecord, Me: a.Name, Host: protocol.Name(a.Host)}
}

// decide has a human answer the gate that is open: options by question, and their own words.
func (q *asking) decide(name string, host protocol.Name, text string, options ...string) (protocol.Path, error) {
	q.Helper()
	g := q.value().Open()
	if g == nil {
		q.Fatalf("no gate is open in %s", q.value().State)
	}
	return q.decideAt(g, name, host, protocol.InquiryAnswer{InquiryWords: protocol.InquiryWords{Text: text}}, options...)
}

func (q *asking) decideAt(g *inquiries.Gate, name string, host protocol.Name, w protocol.InquiryAnswer, options ...string) (protocol.Path, error) {
	q.Helper()
	w.Gate, w.Set = g.Gate, g.Set
	for _, ask := range g.Questions {
		c := protocol.InquiryChoice{Question: ask.ID}
		for _, o := range ask.Options {
			if slices.Contains(options, o.Key) {
				c.Options = append(c.Options, o.Key)
			}
		}
		if len(c.Options) > 0 {
			w.Chosen = append(w.Chosen, c)
		}
	}
	about := protocol.HumanDecision{Gate: g.Path, GateHash: g.Hash, Act: protocol.ActFrameAnswer, Reason: w.Decides(), TakesBack: w.TakesBack}
	return q.do(host, q.human(name, host, about).Answer(q.channel, g.Path, w))
}

// yes answers the open gate as nat.
func (q *asking) yes(options ...string) {
	q.Helper()
	if _, err := q.decide("nat", "a", "", options...); err != nil {
		q.Fatalf("%v at gate %q: %v", options, q.value().Open().Gate, err)
	}
}

// until does what Next names, as good agents do, until nothing is to be done without a human or
// a member that does not signal, or until a state is reached.
func (q *asking) until(state inquiries.State) {
	q.Helper()
	for range 200 {
		v := q.value()
		if v.State == state {
			return
		}
		calls := slices.DeleteFunc(inquiries.Next(v), func(c inquiries.Call) bool {
			return c.Do == protocol.ActFrameSignal && slices.Contains(q.quiet, c.Perspective)
		})
		if len(calls) == 0 {
			if state != "" {
				q.Fatalf("it waits in %s, and not in %s", v.State, state)
			}
			return
		}
		for _, c := range calls {
			if p, err := q.do(protocol.Name(c.By.Host), q.perform(v, c)); err != nil {
				q.Fatalf("%+v in %s: %v (%s)", c, v.State, err, p)
			}
		}
	}
	q.Fatalf("it goes on for ever, in %s", q.value().State)
}

// waits drives the inquiry until it waits.
func (q *asking) waits(want inquiries.State) {
	q.Helper()
	q.until("")
	if got := q.value().State; got != want {
		q.Fatalf("it waits in %s, want %s", got, want)
	}
}

// resultOf is what the member of a perspective answers.
func (q *asking) resultOf(perspective string, attempt int) string {
	if q.colludes {
		perspective, attempt = "everything", 1
	}
	return fmt.Sprintf("## Epistemic Contribution\n\n%s sees what the others do not, in run %d.\n\n## Framework Analysis\n\nIn stores/README.md there are 2 stores.\n\n## Horizon Limits\n\nIt cannot see cost beyond %s.\n\n## Assessment\n\n%s keeps stores/first.\n", perspective, attempt, perspective, perspective)
}

// perform is the command that does a call.
func (q *asking) perform(v inquiries.Inquiry, c inquiries.Call) affair.Command {
	q.Helper()
	a, ch := q.as(c.By), q.channel
	switch c.Do {
	case protocol.ActFrameBrief:
		return inquiries.Draft(a, ch, protocol.DraftBrief, protocol.InquiryBrief{
			Intent: "Which store fits what we write", Deliverable: "a recommendation", Scope: "stores/ only" + strings.Repeat(", and no rewrite", v.Briefs), Mode: protocol.ModeInquire, Why: "cost and operation may differ",
		})
	case protocol.ActFrameGate:
		of := strings.Join(v.Chosen, ", ")
		about := map[string]string{inquiries.Extend: "Add a lens on what cannot be seen by " + of, inquiries.AddInput: "Say what it costs, which nobody sees of " + of, inquiries.WrapUp: "Do what follows from " + of}
		return a.Ask(ch, c.Gate, c.Perspective, about)
	case protocol.ActFrameContext:
		return inquiries.Draft(a, ch, protocol.GatherContext, protocol.InquiryContext{Digest: protocol.Hash([]byte("c")), Sources: []string{"stores/README.md"}})
	case protocol.ActFrameProposals:
		return inquiries.Draft(a, ch, protocol.ProposePerspectives, q.proposals(v))
	case protocol.ActFrameEstablished:
		w := protocol.InquiryEstablished{Tier: protocol.LensTier(len(v.Chosen)), Note: protocol.LensNote}
		for _, p := range v.Chosen {
			w.Lenses = append(w.Lenses, protocol.InquiryLens{Perspective: p, About: "it sees " + p})
		}
		return inquiries.Draft(a, ch, protocol.EstablishLens, w)
	case protocol.ActFrameMap:
		return inquiries.Draft(a, ch, protocol.MapAgents, q.mapping(v))
	case protocol.ActFrameStart:
		m := v.Members[slices.IndexFunc(v.Members, func(m *inquiries.Member) bool { return m.Perspective == c.Perspective })]
		who := m.Agent
		if m.Moves > 0 || m.Attempt > 1 && len(m.Earlier) > 0 && m.Earlier[len(m.Earlier)-1].Text == "" {
			who = protocol.Address{Name: "l", Host: "b"}
		}
		return a.Start(ch, c.Perspective, who, []string{"stores/"}, "")
	case protocol.ActFrameTask:
		return a.Task(ch, c.Perspective)
	case protocol.ActFrameSignal:
		w := protocol.InquirySignal{Perspective: c.Perspective, Attempt: c.Attempt, Outcome: protocol.SignalCompleted, Result: protocol.Hash([]byte(q.resultOf(c.Perspective, c.Attempt))), Grade: "process"}
		if slices.Contains(q.fails, c.Perspective) {
			w.Outcome, w.Result, w.Exit, w.Text = protocol.SignalFailed, "", 1, "out of memory"
		}
		return a.Signal(ch, w)
	case protocol.ActFrameReveal:
		return a.Reveal(ch, c.Perspective, q.resultOf(c.Perspective, c.Attempt))
	}
	return q.performLater(v, c)
}

// performLater is perform of what comes after the results.
func (q *asking) performLater(v inquiries.Inquiry, c inquiries.Call) affair.Command {
	q.Helper()
	a, ch := q.as(c.By), q.channel
	switch c.Do {
	case protocol.ActFramePreview:
		var w protocol.InquiryPreview
		for _, m := range standing(v) {
			w.Results = append(w.Results, protocol.InquiryGlance{Perspective: m.Perspective, Title: m.Perspective, Summary: "It keeps the first.", Limits: "cost", Flags: m.Flags})
		}
		return inquiries.Draft(a, ch, protocol.PreviewResults, w)
	case protocol.ActFrameDetection:
		return inquiries.Draft(a, ch, protocol.DetectTensions, q.detection(v))
	case protocol.ActFrameTopic:
		return a.Topic(ch, c.Tension)
	case protocol.ActFrameExchange:
		return a.Exchange(ch, c.Tension, c.Perspective, fmt.Sprintf("Message %d of %s.", c.Number, c.Perspective), false)
	case protocol.ActFrameReport:
		r := protocol.InquiryReport{Perspective: c.Perspective, Position: c.Perspective + " holds its ground.", Agreement: "There are 2 stores.", Rationale: "It is so."}
		if q.divided {
			r.Divergence = "Which one."
		}
		return a.Report(ch, c.Tension, r)
	case protocol.ActFrameFollowUp:
		return a.FollowUp(ch, c.Tension, c.Perspective, "What follows from that?")
	case protocol.ActFrameFollowAnswer:
		return a.FollowAnswer(ch, c.Tension, c.Perspective, c.Perspective+" answers that it costs a night.")
	case protocol.ActFrameOutcomes:
		var w protocol.InquiryOutcomes
		for _, t := range v.Tensions {
			if t.Cycle == v.Cycle {
				w.Outcomes = append(w.Outcomes, protocol.InquiryOutcome{Tension: t.ID, Resolution: "partial", Strength: "moderate", Basis: "both count 2 stores"})
			}
		}
		return inquiries.Draft(a, ch, protocol.ShowOutcomes, w)
	case protocol.ActFrameSynthesis:
		return inquiries.Draft(a, ch, protocol.Synthesize, q.synthesis(v))
	case protocol.ActFrameTrace:
		return inquiries.Draft(a, ch, protocol.ShowTrace, traceOf(v))
	case protocol.ActFrameShutdown, protocol.ActFrameTeamEnd:
		return a.End(ch)
	case protocol.ActFrameFindings:
		w := protocol.InquiryFindings{Gaps: v.Trace.Gaps}
		words, _ := inquiries.Sections(v.Synthesis.Text, inquiries.SynthesisSections()...)
		for _, k := range v.End.Preserve {
			w.Findings = append(w.Findings, protocol.InquiryFinding{Category: k, Words: words[inquiries.SectionOf(k)]})
		}
		return inquiries.Draft(a, ch, protocol.KeepFindings, w)
	}
	q.Fatalf("nobody knows how to do %+v", c)
	return affair.Command{}
}

func (q *asking) proposals(v inquiries.Inquiry) protocol.InquiryProposals {
	names := []string{"Operations", "Cost accounting"}
	if v.Cycle > 1 {
		names = []string{fmt.Sprintf("Security %d", v.Cycle)}
	}
	var w protocol.InquiryProposals
	for i, n := range names {
		other := names[len(names)-1-i]
		if other == n {
			other = v.Base[0]
		}
		w.Perspectives = append(w.Perspectives, protocol.InquiryPerspective{Name: n, Contribution: "what " + n + " sees", TensionWith: other, Referent: "the second store"})
	}
	return w
}

func (q *asking) mapping(v inquiries.Inquiry) protocol.InquiryMapping {
	var w protocol.InquiryMapping
	for i, p := range v.Chosen {
		if slices.ContainsFunc(v.Members, func(m *inquiries.Member) bool { return m.Perspective == p }) {
			continue
		}
		f := protocol.InquiryFit{Perspective: p}
		for _, a := range q.agents {
			f.Candidates = append(f.Candidates, protocol.InquiryOption{Key: a, About: "knows " + p})
		}
		if len(q.agents) == 0 {
			f.Made, f.Candidates = true, []protocol.InquiryOption{{Key: fmt.Sprintf("lens-%d@b", i+1)}}
		}
		w.Fits = append(w.Fits, f)
	}
	return w
}

func (q *asking) detection(v inquiries.Inquiry) protocol.InquiryDetection {
	if !q.tensions {
		return protocol.InquiryDetection{InquiryWords: protocol.InquiryWords{Text: "No contradiction, no horizon intersection, and no claim that is high-stakes and uncorroborated."}}
	}
	one, other := standing(v)[0].Perspective, standing(v)[1].Perspective
	return protocol.InquiryDetection{Triggers: []protocol.InquiryTrigger{
		{Kind: protocol.TriggerContradiction, Peers: []string{one, other}, Topic: "the first store", Quotes: []protocol.InquiryQuote{
			{Perspective: one, Section: "Assessment", Words: one + " keeps stores/first"}, {Perspective: other, Section: "Assessment", Words: other + " keeps stores/first"},
		}},
		{Kind: protocol.TriggerHorizon, Peers: []string{other, one}, Topic: "cost", Quotes: []protocol.InquiryQuote{
			{Perspective: one, Section: "Horizon Limits", Words: "It cannot see cost"}, {Perspective: other, Section: "Epistemic Contribution", Words: "sees what the others do not"},
		}},
	}}
}

func (q *asking) synthesis(v inquiries.Inquiry) protocol.InquirySynthesis {
	first := standing(v)[0].Perspective
	w := protocol.InquirySynthesis{InquiryWords: protocol.InquiryWords{Text: "## Framed Analysis\n\n### Convergence (Shared Horizon)\n\nThere are 2 stores.\n\n### Divergence (Horizon Conflicts)\n\nThey differ on cost.\n\n### Integrated Assessment\n\n" + first + " keeps stores/first.\n\n### Synthesis Basis\n\n" + first + " says so.\n"}}
	w.Basis = []protocol.InquiryBasis{{Claim: first + " keeps stores/first.", Kind: protocol.BasisResult, Sources: []protocol.InquirySource{{Perspective: first, Words: "keeps stores/first."}}}}
	w.Others = []protocol.InquiryBasis{
		{Claim: "There are 2 stores.", Kind: protocol.BasisResult, Sources: []protocol.InquirySource{{Perspective: first, Words: "there are 2 stores."}}},
		{Claim: "They differ on cost.", Kind: protocol.BasisFusion, Sources: []protocol.InquirySource{{Perspective: first}}},
	}
	if len(v.Inputs) > 0 {
		w.Text = strings.Replace(w.Text, "\n\n### Synthesis Basis", "\n\nThe human says so too.\n\n### Synthesis Basis", 1)
		w.Basis = append(w.Basis, protocol.InquiryBasis{Claim: "The human says so too.", Kind: protocol.BasisInput, Sources: []protocol.InquirySource{{Words: v.Inputs[0]}}})
	}
	return w
}

func traceOf(v inquiries.Inquiry) protocol.InquiryTrace {
	w := protocol.InquiryTrace{Gaps: []string{"It cannot see cost"}}
	for _, m := range standing(v) {
		r := v.Row(m)
		r.Unaddressed = []string{"It cannot see cost"}
		w.Rows = append(w.Rows, r)
	}
	return w
}

// standing are the members without those whose results a human goes on without.
func standing(v inquiries.Inquiry) []*inquiries.Member {
	return slices.DeleteFunc(slices.Clone(v.Members), func(m *inquiries.Member) bool { return m.Dropped })
}
