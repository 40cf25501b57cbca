// Package inquiries is the affair of questions that are looked at from several perspectives. A
// human confirms a brief and chooses the perspectives. Members investigate each perspective by
// itself, and talk out their tensions within bounds. Every claim of the synthesis has a basis.
//
// The channel of an inquiry follows from its first deed, and the channel of each tension follows
// from that. One host coordinates at a time: it makes the calls that Next names and writes what
// came of them. What only humans decide is a gate with a fixed set of options (R38, R55). Nobody's
// result is told before the hashes of all results are in the record (R53).
//
// Values say what the record says. Which hosts are reachable and which agents would fit, the host
// that carries the calls out must find out.
package inquiries

import (
	"errors"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/fleet/refusal"
	"github.com/parleyfleet/parley/protocol"
)

// State is how far an inquiry is.
type State string

// The states, in the order in which an inquiry goes through them. In a state that belongs to a
// gate, the gate is still to be asked if none is open.
const (
	None             State = ""
	Opened           State = "OPENED"      // the brief is to be drafted
	BriefDraft       State = "BRIEF_DRAFT" // the brief is shown, and its gate is to be asked
	GateBrief        State = "GATE_BRIEF"
	Gather           State = "GATHER"
	Propose          State = "PROPOSE"
	GateZero         State = "GATE_ZERO"
	GatePerspectives State = "GATE_PERSPECTIVES"
	GateUnderMinimum State = "GATE_UNDER_MINIMUM"
	Established      State = "ESTABLISHED"
	Recommended      State = "RECOMMENDED"
	Map              State = "MAP"
	GateMap          State = "GATE_MAP"
	Spawn            State = "SPAWN"
	Await            State = "AWAIT"
	Collect          State = "COLLECT"
	Preview          State = "PREVIEW"
	Detect           State = "DETECT"
	Dialogue         State = "DIALOGUE"
	Outcomes         State = "OUTCOMES"
	Synthesize       State = "SYNTHESIZE"
	Present          State = "PRESENT" // the synthesis is shown, and the humans are to be asked how to go on
	GateRoute        State = "GATE_ROUTE"
	GateExtend       State = "GATE_EXTEND"
	Trace            State = "TRACE"
	GatePreserve     State = "GATE_PRESERVE"
	Shutdown         State = "SHUTDOWN"
	WrappedUp        State = "WRAPPED_UP"
	Withdrawn        State = "WITHDRAWN"
	Escaped          State = "ESCAPED"
)

// String is a state in words for people: what is done in it, or what is to be decided.
func (s State) String() string { return stateWords[s] }

var stateWords = map[State]string{
	Opened: "the brief is drafted", BriefDraft: "the brief is drafted", GateBrief: gateWords[protocol.GateBrief], Gather: "context is gathered",
	Propose: "perspectives are proposed", GateZero: gateWords[protocol.GateZero], GatePerspectives: gateWords[protocol.GatePerspectives],
	GateUnderMinimum: gateWords[protocol.GateUnderMinimum], Established: "perspectives are settled",
	Recommended: "perspectives recommended, none investigated", Map: "agents that fit are looked for", GateMap: gateWords[protocol.GateMap],
	Spawn: "members are started", Await: "members investigate", Collect: "results are collected", Preview: "the results are summed up",
	Detect: "tensions are looked for", Dialogue: "those in tension talk", Outcomes: "what came of the dialogues is summed up",
	Synthesize: "what was found is joined", Present: "the ways to go on are worded", GateRoute: gateWords[protocol.GateRoute],
	GateExtend: gateWords[protocol.GateExtend], Trace: "what each perspective gave is listed", GatePreserve: gateWords[protocol.GatePreserve],
	Shutdown: "the team ends", WrappedUp: "wrapped up", Withdrawn: "withdrawn", Escaped: "ended early",
}

// Over reports whether nothing follows any more.
func (s State) Over() bool {
	return s == Recommended || s == WrappedUp || s == Withdrawn || s == Escaped
}

// Inquiry is one inquiry. It does not change.
type Inquiry struct {
	Path     protocol.Path // the message that began it; zero if there is no inquiry
	Hash     string        // of its file
	Channel  protocol.ChannelID
	Began    time.Time
	Opening  protocol.InquiryOpening
	By       protocol.Address // who asked
	Deciders []Decider

	Last        protocol.Path // the last deed that counts
	State       State
	Coordinator protocol.Address // the agent that makes the calls, and its host
	Epoch       int              // from 1; deeds of the coordinator that have an older epoch are void
	Gates       []*Gate          // in the order of the record
	Contested   protocol.Path    // the gate at which one key said two things: nothing follows until one of them is taken back
	undo        *Inquiry         // the inquiry before the last answer, as long as nothing has followed from that answer

	Brief    protocol.InquiryBrief
	Briefs   int    // how often a brief was drafted
	Mode     string // the chosen one; empty before
	Changes  string // what the human wants to change in the brief; empty: it was drafted since
	Context  protocol.InquiryContext
	Proposal protocol.InquiryProposals // the last proposals
	Base     []string                  // perspectives that the human named, and those of earlier cycles
	Chosen   []string                  // all perspectives of the inquiry, in the order in which they came
	Fits     []protocol.InquiryFit     // those of the last mapping
	Members  []*Member                 // one for each perspective

	Cycle     int // 1, and one more for each extension (R51)
	Preview   protocol.InquiryPreview
	Detection protocol.InquiryDetection
	Tensions  []*inquiry.Tension // of all cycles
	Outcomes  []protocol.InquiryOutcome
	Inputs    []string // what the human added, in order (R48)
	Synthesis protocol.InquirySynthesis
	Syntheses int
	Lens      protocol.InquiryEstablished // the result of an inquiry that recommends
	Trace     protocol.InquiryTrace
	Late      []inquiry.Late // signals that came too late to count; they are kept
	End       End
}

// Decider is a human who decides.
type Decider struct {
	Human protocol.Name
	Host  protocol.Name
	Key   string // their key when the inquiry began; empty: none is known
}

// Address is the decider as mail reaches them.
func (d Decider) Address() protocol.Address {
	return protocol.Address{Name: d.Human.String(), Host: d.Host.String()}
}

// KindName is the name of the kind.
const KindName = "inquiry"

// Kind is the kind of affair that inquiries are, in the record with that id. There is at most one
// in a channel.
func Kind(recordID string) *affair.Kind[Inquiry] {
	return &affair.Kind[Inquiry]{
		Name: KindName,
		Acts: []protocol.ActSpec{
			protocol.OpenInquiry.ActSpec, protocol.DraftBrief.ActSpec, protocol.AskInquiry.ActSpec, protocol.AnswerInquiry.ActSpec, protocol.GatherContext.ActSpec,
			protocol.ProposePerspectives.ActSpec, protocol.EstablishLens.ActSpec, protocol.MapAgents.ActSpec, protocol.StartMember.ActSpec, protocol.NoteTask.ActSpec,
			protocol.SignalEnd.ActSpec, protocol.RevealResult.ActSpec, protocol.PreviewResults.ActSpec, protocol.DetectTensions.ActSpec, protocol.SignalTopic.ActSpec,
			protocol.ExchangeWords.ActSpec, protocol.ReportDialogue.ActSpec, protocol.FollowUp.ActSpec, protocol.AnswerFollowUp.ActSpec, protocol.ShowOutcomes.ActSpec,
			protocol.Synthesize.ActSpec, protocol.ShowTrace.ActSpec, protocol.ShutDownTeam.ActSpec, protocol.EndTeam.ActSpec, protocol.KeepFindings.ActSpec,
			protocol.ResumeInquiry.ActSpec, protocol.EscInquiry.ActSpec,
		},
		Hands: true,
		Of:    nameOf,
		Begin: func(string) Inquiry { return Inquiry{} },
		Step: func(v Inquiry, d affair.Deed) (Inquiry, error) {
			s := step{v, recordID, d}
			if err := s.take(); err != nil {
				return v, err
			}
			s.Last = d.Message.Path
			return s.Inquiry, nil
		},
	}
}

// nameOf is the inquiry to which a deed belongs. The words of a dialogue name it; any other deed
// lies in its channel.
func nameOf(m *protocol.Message) (string, bool) {
	switch m.Act {
	case protocol.ActFrameTopic, protocol.ActFrameExchange, protocol.ActFrameReport, protocol.ActFrameFollowUp, protocol.ActFrameFollowAnswer:
		c, ok := protocol.InquiryOf(m)
		return c.String(), ok
	}
	return m.Path.Channel().String(), true
}

// step takes one deed into an inquiry. Its methods change the copy that it holds. If they return an
// error, which says why the deed is void, the copy counts for nothing.
type step struct {
	Inquiry
	record string // the record's id
	deed   affair.Deed
}

// take takes the deed. A host must sign every deed.
func (s *step) take() error {
	if s.deed.Standing != affair.Signed {
		return errors.New("no host has signed it, as all deeds of inquiries are")
	}
	if s.deed.Act == protocol.ActFrame {
		return said(protocol.OpenInquiry, (*step).open)(s)
	}
	if s.Path.IsZero() {
		return refusal.New(refusal.Unknown, "begin one: parley frame", "there is no inquiry in this channel")
	}
	switch s.deed.Act {
	case protocol.ActFrameSignal: // its run was paid for, so it is kept whenever it comes
		s.undo = nil
		return said(protocol.SignalEnd, (*step).signal)(s)
	case protocol.ActFrameAnswer:
		return said(protocol.AnswerInquiry, (*step).answer)(s)
	}
	if s.State.Over() {
		return refusal.New(refusal.Forbidden, "begin another one", "the inquiry is over: %s", s.State)
	}
	switch s.deed.Act {
	case protocol.ActFrameEsc:
		return said(protocol.EscInquiry, (*step).esc)(s)
	case protocol.ActFrameResume:
		return said(protocol.ResumeInquiry, (*step).resume)(s)
	}
	if !s.Contested.IsZero() {
		return refusal.New(refusal.Forbidden, "take back one of the answers", "a human has answered a gate in two ways")
	}
	s.undo = nil // after a deed that follows from a decision, the decision can no longer be undone
	return advances[s.deed.Act](s)
}

// advances are the steps of the deeds of the coordinator and of members.
var advances = map[protocol.Act]func(*step) error{
	protocol.ActFrameBrief:        coordinated(protocol.DraftBrief, (*step).brief, Opened),
	protocol.ActFrameGate:         coordinated(protocol.AskInquiry, (*step).ask),
	protocol.ActFrameContext:      coordinated(protocol.GatherContext, (*step).gathered),
	protocol.ActFrameProposals:    coordinated(protocol.ProposePerspectives, (*step).propose),
	protocol.ActFrameEstablished:  coordinated(protocol.EstablishLens, (*step).establish, Established),
	protocol.ActFrameMap:          coordinated(protocol.MapAgents, (*step).mapped, Map),
	protocol.ActFrameStart:        coordinated(protocol.StartMember, (*step).start, Spawn, Await, Dialogue),
	protocol.ActFrameTask:         coordinated(protocol.NoteTask, (*step).task, Spawn, Await),
	protocol.ActFrameReveal:       said(protocol.RevealResult, (*step).reveal),
	protocol.ActFramePreview:      coordinated(protocol.PreviewResults, (*step).preview, Preview),
	protocol.ActFrameDetection:    coordinated(protocol.DetectTensions, (*step).detect, Detect),
	protocol.ActFrameTopic:        coordinated(protocol.SignalTopic, (*step).topic),
	protocol.ActFrameExchange:     said(protocol.ExchangeWords, (*step).exchange),
	protocol.ActFrameReport:       said(protocol.ReportDialogue, (*step).report),
	protocol.ActFrameFollowUp:     coordinated(protocol.FollowUp, (*step).followUp),
	protocol.ActFrameFollowAnswer: said(protocol.AnswerFollowUp, (*step).followAnswer),
	protocol.ActFrameOutcomes:     coordinated(protocol.ShowOutcomes, (*step).outcomes, Outcomes),
	protocol.ActFrameSynthesis:    coordinated(protocol.Synthesize, (*step).synthesize),
	protocol.ActFrameTrace:        coordinated(protocol.ShowTrace, (*step).trace, Trace),
	protocol.ActFrameShutdown:     coordinated(protocol.ShutDownTeam, (*step).shutDown, Shutdown),
	protocol.ActFrameTeamEnd:      coordinated(protocol.EndTeam, (*step).endTeam, Shutdown),
	protocol.ActFrameFindings:     coordinated(protocol.KeepFindings, (*step).keep, Shutdown),
}

// said reads the words of a deed and calls `then` with them.
func said[W any](act protocol.WordAct[W], then func(*step, W) error) func(*step) error {
	return func(s *step) error {
		w, err := act.Parse(s.deed.Body)
		if err != nil {
			return affair.Malformed(err)
		}
		return then(s, w)
	}
}

// epochOf finds the epoch in the words of the coordinator.
type epochOf interface{ WrittenIn() int }

// coordinated reads the words of a deed that only the coordinator does, in its epoch, and calls
// `then` with them. It is done in one of these states; if none is named, `then` says in which.
func coordinated[W epochOf](act protocol.WordAct[W], then func(*step, W) error, states ...State) func(*step) error {
	return func(s *step) error {
		w, err := act.Parse(s.deed.Body)
		switch {
		case !writes(s.deed, s.Coordinator):
			return refusal.New(refusal.Forbidden, "a human has another host do it: parley frame resume", "%s coordinates the inquiry, and %s@%s does not", s.Coordinator, s.deed.Author().Name, s.deed.Host)
		case err != nil:
			return breaks(rules[s.deed.Act].form, affair.Malformed(err))
		case w.WrittenIn() != s.Epoch:
			return refusal.New(refusal.Forbidden, "", "it is of epoch %d, and this is %d", w.WrittenIn(), s.Epoch)
		}
		if len(states) > 0 {
			if err := s.in(states...); err != nil {
				return err
			}
		}
		return then(s, w)
	}
}

// writes reports whether a deed is an agent's: the agent's host wrote it, in the agent's name or in
// the host's own. No host declares a member that was made for a perspective, so its host speaks for
// it.
func writes(d affair.Deed, agent protocol.Address) bool {
	name := d.Author().Name
	return d.Host.String() == agent.Host && (name == agent.Name || name == agent.Host)
}

// in returns an error if a deed does not belong to the state of the inquiry.
func (v Inquiry) in(states ...State) error {
	if !slices.Contains(states, v.State) {
		return refusal.New(refusal.Forbidden, "see: parley frame show", "that is not what comes next: %s", v.State)
	}
	return nil
}

// senseless is why words that can be read are void.
func senseless(format string, args ...any) error {
	return refusal.New(refusal.Senseless, "", format, args...)
}
