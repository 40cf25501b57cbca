package protocol

import (
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Act is what a message does. A reader that does not know an act treats the
// message as mail.
type Act string

// Class is what becomes of the messages of an act.
type Class int

// The classes of acts.
const (
	ClassMail     Class = iota // taken to the agents that it is for
	ClassNotice                // shown to those it is for, and runs nobody
	ClassReceipt               // says that a message was read
	ClassDeed                  // changes what is agreed, and is mail besides; deeds that no agent should get are notices
	ClassHostWord              // the fleet's own book-keeping, signed by a host
)

// String is the class in words, after "is a".
func (c Class) String() string {
	return [...]string{"mail", "notice", "receipt", "deed", "word of a host"}[c]
}

// ActSpec is all that there is to know of an act. The table of ActSpecs alone decides what the
// program does with acts, and what the page about them says (DESIGN, section 10).
type ActSpec struct {
	Act Act
	// Heading is the words before " | " by which a body says its act in files without the field
	// "act". It is "" if only the field can say the act.
	Heading string
	Class   Class
	Wakes   bool   // an agent's command is run for it, unless the agent's wakes_on says otherwise (R63)
	Doc     string // what it does, in one line

	parse   func(body string) (any, error)
	format  func(words any) string
	example func() string
}

func deed(act Act, heading, doc string) ActSpec {
	return ActSpec{Act: act, Heading: heading, Class: ClassDeed, Doc: doc}
}

// wordOfHost is an act of the fleet's own book-keeping.
func wordOfHost(act Act, doc string) ActSpec {
	return ActSpec{Act: act, Heading: strings.ToUpper(string(act)), Class: ClassHostWord, Doc: doc}
}

// Example is a body of the act as it is written, or "" if the body is free text. It is written only
// when somebody asks for it: to write all examples took a quarter of the start of each command.
func (s ActSpec) Example() string {
	if s.example == nil {
		return ""
	}
	return s.example()
}

// WordAct is an act whose body has a form: a body says a value of type W.
type WordAct[W any] struct {
	ActSpec
	Parse  func(body string) (W, error)
	Format func(W) string
}

// NewAct makes an act from the functions that read and write its bodies. `parse` must read the same
// words from a body that `format` wrote, and pass over lines that it does not know.
func NewAct[W any](spec ActSpec, parse func(body string) (W, error), format func(W) string, example W) WordAct[W] {
	spec.example = func() string { return format(example) }
	spec.parse = func(body string) (any, error) { return parse(body) }
	spec.format = func(words any) string {
		w, ok := words.(W)
		if !ok {
			return ""
		}
		return format(w)
	}
	return WordAct[W]{spec, parse, format}
}

// Acts are all acts that parley knows.
func Acts() []ActSpec {
	return []ActSpec{
		hey, tell, broadcast, note, reply, Failed.ActSpec, read,
		RunRetry.ActSpec, RunDrop.ActSpec, RunClaim.ActSpec, RunHeld.ActSpec, TalkHeld.ActSpec, Resume.ActSpec,
		introduction, statusRequest,
		OpenTopic.ActSpec, CloseTopic.ActSpec, RequestJoin.ActSpec,
		Agree.ActSpec, Accept.ActSpec, Reject.ActSpec, Defer.ActSpec, Revoke.ActSpec, ReAccept.ActSpec, Validate.ActSpec, ObserveTimeout.ActSpec,
		Ask.ActSpec, Resolve.ActSpec, TeachBack.ActSpec, Disagree.ActSpec,
		CheckSync.ActSpec, AnswerSync.ActSpec,
		Sum.ActSpec, Ratify.ActSpec, Amend.ActSpec, RejectSum.ActSpec,
		SetPolicy.ActSpec, Redact.ActSpec,
		Organize.ActSpec, Invite.ActSpec, JoinParty.ActSpec, AskHuman.ActSpec, AcceptGate.ActSpec, RejectGate.ActSpec, DeferGate.ActSpec,
		LeaveParty.ActSpec, RemoveMember.ActSpec, SetRules.ActSpec, SayPresence.ActSpec, ProposeToParty.ActSpec, VoteInParty.ActSpec,
		AddTask.ActSpec, TakeTask.ActSpec, FinishTask.ActSpec, GiveTaskBack.ActSpec, Lease.ActSpec, Release.ActSpec,
		OpenInquiry.ActSpec, DraftBrief.ActSpec, AskInquiry.ActSpec, AnswerInquiry.ActSpec, GatherContext.ActSpec, ProposePerspectives.ActSpec, EstablishLens.ActSpec,
		MapAgents.ActSpec, StartMember.ActSpec, NoteTask.ActSpec, SignalEnd.ActSpec, RevealResult.ActSpec, PreviewResults.ActSpec, DetectTensions.ActSpec,
		SignalTopic.ActSpec, ExchangeWords.ActSpec, ReportDialogue.ActSpec, FollowUp.ActSpec, AnswerFollowUp.ActSpec, ShowOutcomes.ActSpec,
		Synthesize.ActSpec, ShowTrace.ActSpec, ShutDownTeam.ActSpec, EndTeam.ActSpec, KeepFindings.ActSpec, ResumeInquiry.ActSpec, EscInquiry.ActSpec,
		HostJoin.ActSpec, HostAgents.ActSpec, HostVouch.ActSpec, HostRotate.ActSpec, HostRevoke.ActSpec, HostWithhold.ActSpec, SayHumanKey.ActSpec, RevokeHuman.ActSpec,
	}
}

var (
	actPattern  = pattern.New(`^[a-z][a-z-]{0,31}$`)
	headPattern = pattern.New(`^([A-Z][A-Z-]*(?: [A-Z][A-Z-]*){0,2}) \|`)
	handPattern = pattern.New(`(?i)^\s*([A-Z][A-Z-]*(?: [A-Z][A-Z-]*){0,2})\s*\|\s*from\s*:`)

	byName, byHeading = tables()
)

// tables are the acts by their names, and by their headings in the form that headingKey gives.
func tables() (names map[Act]ActSpec, headings map[string]ActSpec) {
	names, headings = map[Act]ActSpec{}, map[string]ActSpec{}
	for _, spec := range Acts() {
		names[spec.Act] = spec
		if spec.Heading != "" {
			headings[headingKey(spec.Heading)] = spec
		}
	}
	return names, headings
}

// headingKey is a heading with a dash in place of each blank: the seeds write some headings both
// ways.
func headingKey(heading string) string { return strings.ReplaceAll(heading, " ", "-") }

// FindAct is the act of that name.
func FindAct(a Act) (spec ActSpec, known bool) {
	spec, known = byName[a]
	return spec, known
}

// ParseAct reads the field "act". Text that does not look like an act gives "", and then the body
// decides.
func ParseAct(s string) Act {
	if !actPattern.MatchString(s) {
		return ""
	}
	return Act(s)
}

// actOfBody reads the act from the words that a body begins with, the form of the seeds:
// "SYNC-CHECK | from: …". If "from:" follows the bar, as in all of the protocol's forms, capitals
// and blanks in the heading do not matter, because people write it by hand.
func actOfBody(t Type, body string) Act {
	if t == TypeRead {
		return ActRead
	}
	if strings.IndexByte(body, '|') < 0 { // most talk; both patterns have a bar
		return ActHey
	}
	head := headPattern.FindStringSubmatch(body)
	if head == nil {
		head = handPattern.FindStringSubmatch(body)
	}
	if head != nil {
		if spec, known := byHeading[headingKey(strings.ToUpper(head[1]))]; known {
			return spec.Act
		}
	}
	return ActHey
}

// Class is what becomes of messages of the act. An act that is not known is mail.
func (a Act) Class() Class { return byName[a].Class }

// HostWord reports whether the act is the fleet's own book-keeping.
func (a Act) HostWord() bool { return a.Class() == ClassHostWord }

// OfNodes reports whether only nodes write messages of the act, each for a verb of its own. These
// are words of hosts, receipts, and notices whose body has a form; `failed` is an exception. Nobody
// can have a node say such a thing by sending text.
func (a Act) OfNodes() bool {
	spec := byName[a]
	return spec.Class == ClassHostWord || spec.Class == ClassReceipt || spec.Class == ClassNotice && spec.parse != nil && a != ActFailed
}

// OfInquiry reports whether the act is a deed of an inquiry. It is nobody's mail: the commands of
// inquiries show it, and its gates are told with the others.
func (a Act) OfInquiry() bool {
	return strings.HasPrefix(string(a), "frame-") && byName[a].Act == a
}

// Mail reports whether messages of the act are taken to the agents that they are for.
func (a Act) Mail() bool { return a.Class() == ClassMail || a.Class() == ClassDeed }

// Wakes reports whether an agent's command is run for messages of the act if the agent's settings
// do not say otherwise (R63). An act that is not known wakes, like other mail.
func (a Act) Wakes() bool {
	spec, known := byName[a]
	return !known || spec.Wakes
}
