package control

import (
	"time"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/protocol"
)

// These verbs begin, show and decide inquiries. The signature of a human is made in the program
// that they use: no node has their key (R35).
var (
	OpenFrame = NewVerb[FrameRequest, FrameOpened](VerbSpec{
		Name: "frame", Access: Speaks, Doing: "begin an inquiry",
		Doc: "Begins an inquiry into a question, or says what a human would sign for that.",
	})
	Frames = NewVerb[FramesRequest, FrameList](VerbSpec{
		Name: "frames", Access: Reads, Doing: "list inquiries",
		Doc: "Lists inquiries: those that go on, or all.",
	})
	ShowFrame = NewVerb[ShowFrameRequest, Frame](VerbSpec{
		Name: "show-frame", Access: Reads, Doing: "show the inquiry", Long: true,
		Doc: "Shows an inquiry, at once or when something has happened in it.",
	})
	DescribeFrame = NewVerb[ShowFrameRequest, FrameDocument](VerbSpec{
		Name: "describe-frame", Access: Operates, Doing: "show the inquiry",
		Doc: "Shows an inquiry as a document, with what each claim of its synthesis rests on. It never waits.",
	})
	AnswerFrame = NewVerb[AnswerFrameRequest, Frame](VerbSpec{
		Name: "answer-frame", Access: Operates, Doing: "answer the gate",
		Doc: "Decides what a gate of an inquiry asks this host's human.",
	})
	EscFrame = NewVerb[EndFrameRequest, Frame](VerbSpec{
		Name: "esc-frame", Access: Operates, Doing: "end the inquiry",
		Doc: "Ends an inquiry at once.",
	})
	ResumeFrame = NewVerb[ResumeFrameRequest, FrameOpened](VerbSpec{
		Name: "resume-frame", Access: Operates, Doing: "resume the inquiry",
		Doc: "Has this host coordinate an inquiry from now on.",
	})
)

// FrameRequest begins an inquiry. The question is Text. If that is empty, it is the message that Re
// names, or else the human's last message in the channel. With Try, the answer says what a human
// would sign, and nothing is written.
type FrameRequest struct {
	Acting
	Question     string    `json:"question,omitempty"`
	Re           string    `json:"re,omitempty"`           // the message that asks the question
	In           string    `json:"in,omitempty"`           // what is investigated: a folder, or REPOSITORY@COMMIT
	Mode         string    `json:"mode,omitempty"`         // recommend or inquire: what is chosen with the brief unless the human chooses otherwise; empty: the human is asked
	Perspectives []string  `json:"perspectives,omitempty"` // perspectives that the human names
	Agents       []string  `json:"agents,omitempty"`       // agents that may investigate; none: any
	Coordinator  string    `json:"coordinator,omitempty"`  // the agent of this host that makes its calls; empty: as the fleet's policy says
	AcceptBrief  bool      `json:"accept_brief,omitempty"` // the human accepts the brief beforehand
	Try          bool      `json:"try,omitempty"`          // only say what would be signed
	At           time.Time `json:"at,omitzero"`            // the time in the answer to Try, UTC
	Hsig         string    `json:"hsig,omitempty"`         // the human's signature of that, base64url
}

// FrameOpened is an inquiry that was begun, or would be begun.
type FrameOpened struct {
	Decides string    `json:"decides"`     // what the human's signature is about; "" if an agent asks
	At      time.Time `json:"at,omitzero"` // UTC
	Message string    `json:"message"`     // the message that began it; "" with Try
	Frame   Frame     `json:"frame"`       // as it is now; with Try, only what would be investigated and who may be given it
}

// FramesRequest asks for inquiries.
type FramesRequest struct {
	All bool `json:"all,omitempty"` // also those that are over
}

// FrameList are inquiries, the newest first.
type FrameList struct {
	Frames []Frame `json:"frames"` // without the texts of their parts
}

// ShowFrameRequest asks for an inquiry: by its id, the beginning of its id, or the message that
// began it; empty: the newest. With Since, the answer waits until the last deed is another one, or
// until the time Within is over.
type ShowFrameRequest struct {
	ID     string  `json:"id,omitempty"`
	Since  string  `json:"since,omitempty"`  // the field `last` of an earlier answer
	Within Seconds `json:"within,omitempty"` // how long the answer may wait; 0: half a minute
}

// AnswerFrameRequest is what this host's human decides at a gate.
type AnswerFrameRequest struct {
	ID        string                   `json:"id"`                   // id of the inquiry
	Gate      string                   `json:"gate"`                 // the message that asks
	Chosen    []protocol.InquiryChoice `json:"chosen,omitempty"`     // options by question
	Text      string                   `json:"text,omitempty"`       // in one's own words
	TakesBack string                   `json:"takes_back,omitempty"` // hash of the human's own answer that counts no more
	Hsig      string                   `json:"hsig"`                 // the human's signature, base64url
	Seen      string                   `json:"seen,omitempty"`       // their signature of what they were shown of the asker, base64url
}

// EndFrameRequest ends an inquiry.
type EndFrameRequest struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
	Hsig   string `json:"hsig,omitempty"` // the human's signature, base64url
}

// ResumeFrameRequest has this host coordinate an inquiry. With Try, the answer says what a human
// would sign.
type ResumeFrameRequest struct {
	ID          string `json:"id"`
	Coordinator string `json:"coordinator,omitempty"` // the agent that makes its calls; empty: as the fleet's policy says
	Try         bool   `json:"try,omitempty"`
	Hsig        string `json:"hsig,omitempty"` // the human's signature, base64url
}

// Frame is the present state of an inquiry.
type Frame struct {
	ID           string                        `json:"id"`             // the beginning of its channel's id, as much as identifies it
	Channel      protocol.ChannelID            `json:"channel"`        // the channel of its deeds
	Path         string                        `json:"path"`           // the message that began it
	Hash         string                        `json:"hash"`           // hex SHA-256 of that message's file
	Question     string                        `json:"question"`       // word for word
	QuestionHash string                        `json:"question_hash"`  // hex SHA-256 of it
	State        string                        `json:"state"`          // such as AWAIT
	StateText    string                        `json:"state_text"`     // the same in words
	Over         bool                          `json:"over"`           // nothing follows any more
	Waits        string                        `json:"waits"`          // for whom or what it waits, in words; "" if it is over
	Trouble      string                        `json:"trouble"`        // why it does not go on, as far as this host knows; "" if nothing is wrong
	Helps        string                        `json:"helps"`          // the command by which a decider has it go on; "" if nothing is wrong
	Began        time.Time                     `json:"began,omitzero"` // UTC
	Ended        time.Time                     `json:"ended,omitzero"` // UTC
	By           string                        `json:"by"`             // the one who asked
	Deciders     []string                      `json:"deciders"`       // those who decide, as HUMAN@HOST
	Coordinator  string                        `json:"coordinator"`    // the agent that makes its calls
	Epoch        int                           `json:"epoch"`          // number of its coordination, from 1: each change of the coordinator begins another one
	Mode         string                        `json:"mode"`           // recommend or inquire; "" before it is chosen
	AskedMode    string                        `json:"asked_mode"`     // the mode that it was begun with; "" for none. A human still chooses, with the brief
	In           string                        `json:"in"`             // what is investigated; "" for nothing
	Snapshot     string                        `json:"snapshot"`       // hex SHA-256 of that; "" for nothing
	Receivers    []string                      `json:"receivers"`      // who may be given it, as AGENT@HOST: the coordinator (only the names of its files), agents, and what members are made after
	Cycle        int                           `json:"cycle"`          // 1, and one more for each extension
	Cost         int                           `json:"cost"`           // how many calls of agents its first pass makes, as far as this is known
	Last         string                        `json:"last"`           // its last deed
	Gate         *FrameGate                    `json:"gate,omitempty"` // what a human is now asked
	Members      []FrameMember                 `json:"members"`        // one for each perspective
	Brief        protocol.InquiryBrief         `json:"brief"`          // the last brief
	Perspectives []protocol.InquiryPerspective `json:"perspectives"`   // the perspectives that were last proposed
	Base         []string                      `json:"base"`           // the perspectives that the human named
	Chosen       []string                      `json:"chosen"`         // all perspectives of the inquiry
	Previews     []protocol.InquiryGlance      `json:"previews"`       // short forms of the results
	NoneProposed string                        `json:"none_proposed"`  // why no perspective was proposed; "" if some were
	Detection    string                        `json:"detection"`      // why no tension was found; "" if some were
	Tensions     []FrameTension                `json:"tensions"`       // of all cycles
	FrameOutcome
	Here bool `json:"here"` // this host coordinates it
	Mine bool `json:"mine"` // this host's human decides it
}

// FrameOutcome is what came of an inquiry.
type FrameOutcome struct {
	Synthesis string                     `json:"synthesis"` // the last synthesis; "" if there is none yet
	Syntheses int                        `json:"syntheses"` // how many there were
	Trace     []protocol.InquiryTraceRow `json:"trace"`     // what each perspective contributed
	Gaps      []string                   `json:"gaps"`      // limits that nobody addressed
	Tier      string                     `json:"tier"`      // of an inquiry that recommends: modifier, narrowing or escalate; "" otherwise
	Note      string                     `json:"note"`      // how to go on after a recommendation
	Findings  []string                   `json:"findings"`  // the findings that were preserved
	Remarks   []string                   `json:"remarks"`   // what humans should see: a lost difference, early unanimity, and at the end what is proposed after several inquiries
}

// FrameGate is what humans are asked, and who has answered.
type FrameGate struct {
	Path        string                     `json:"path"`          // the message that asks
	Hash        string                     `json:"hash"`          // hex SHA-256 of its file
	Gate        string                     `json:"gate"`          // brief, perspectives, route and so on
	Perspective string                     `json:"perspective"`   // the perspective that it is about; "" for none
	Set         string                     `json:"set"`           // hash of its options
	Questions   []protocol.InquiryQuestion `json:"questions"`     // what is asked
	Contested   bool                       `json:"contested"`     // two answers contradict each other: one has to be taken back
	Answers     []string                   `json:"answers"`       // hashes of the answers that count, if it is contested
	Said        []FrameAnswer              `json:"said"`          // the same answers, in the order of the record
	Time        time.Time                  `json:"time,omitzero"` // UTC
	NoKey       bool                       `json:"no_key"`        // no decider has a key of their own, which the gate needs
	Proposal    string                     `json:"proposal"`      // what the coordinator proposed to extend, where that is asked; "" elsewhere
	Cost        string                     `json:"cost"`          // how many runs of agents an answer leads to, in words; "" if it is not about that
	Asker       protocol.Asker             `json:"asker"`         // who asks, as the record tells it, whatever the message says
	File        string                     `json:"file"`          // the message's file, base64
}

// FrameAnswer is what a human said at a gate.
type FrameAnswer struct {
	Hash   string                   `json:"hash"`          // hex SHA-256 of its file
	By     string                   `json:"by"`            // the human
	Time   time.Time                `json:"time,omitzero"` // UTC
	Chosen []protocol.InquiryChoice `json:"chosen"`        // options by question
	Text   string                   `json:"text"`          // their own words; "" for none
}

// FrameMember is the agent that investigates a perspective, and its present state. Nothing of what
// it finds is told before all members have ended (R53).
type FrameMember struct {
	Perspective string    `json:"perspective"`      // its name
	Agent       string    `json:"agent"`            // AGENT@HOST
	Attempt     int       `json:"attempt"`          // from 1
	State       string    `json:"state"`            // waiting, working, completed, failed, skipped, dropped or told
	Started     time.Time `json:"started,omitzero"` // UTC
	Ended       time.Time `json:"ended,omitzero"`   // UTC
	Grade       string    `json:"grade"`            // how it was isolated: process, user, walls or host; "" before it has ended
	Degraded    string    `json:"degraded"`         // what is worse than it should be, and why; "" for nothing
	Problem     string    `json:"problem"`          // why it has no result: its last errors; "" for none
	Flags       []string  `json:"flags"`            // what its result lacks of its form
	Result      string    `json:"result"`           // the text of its result, when it is told
}

// FrameTension is what two perspectives differ on, and the outcome.
type FrameTension struct {
	ID         string   `json:"id"`         // its cycle and number
	Topics     []string `json:"topics"`     // one line each
	Peers      []string `json:"peers"`      // the two perspectives
	Messages   int      `json:"messages"`   // how many messages they have exchanged: three at most
	Closed     bool     `json:"closed"`     // nothing more is to come of it
	Resolution string   `json:"resolution"` // agreed, partial or persistent; "" before
	Strength   string   `json:"strength"`   // strong, moderate or weak; "" before
	Basis      string   `json:"basis"`      // why the coordinator judges it like this
	Agreement  string   `json:"agreement"`  // what the peers report that they agree on
	Divergence string   `json:"divergence"` // what they report that is left
}

// FrameProof is what can be proved about an inquiry from git alone.
type FrameProof struct {
	Record    string          `json:"record"`     // the record's id
	Frame     string          `json:"frame"`      // the inquiry's channel
	Question  string          `json:"question"`   // word for word
	State     string          `json:"state"`      // its state by its deeds
	StateText string          `json:"state_text"` // the same in words
	Deeds     int             `json:"deeds"`      // how many deeds were read
	Holds     bool            `json:"holds"`      // nothing is broken
	Lines     []FrameLine     `json:"lines"`      // the lines of the form of inquiries
	Faults    []inquiry.Fault `json:"faults"`     // what breaks it, and what only does not count
}

// FrameLine is one thing that must hold for every inquiry.
type FrameLine struct {
	Line   string `json:"line"`   // such as F42
	Text   string `json:"text"`   // what must hold
	Result string `json:"result"` // holds, broken, not reached (there is no deed yet to which it applies), not checked (the record cannot show that it is broken)
	Shown  string `json:"shown"`  // the last deed to which it applies; "" for none
}

// FrameDocument is everything about an inquiry, for its readers.
type FrameDocument struct {
	Record     string                      `json:"record"`     // the record's id
	Frame      Frame                       `json:"frame"`      // how it stands
	Context    string                      `json:"context"`    // the context that was gathered; no member was given it
	Dialogues  []*inquiry.Tension          `json:"dialogues"`  // what peers said and reported
	Agreements []protocol.InquiryAgreement `json:"agreements"` // points on which perspectives agree
	Basis      []protocol.InquiryBasis     `json:"basis"`      // the basis of each claim of the synthesis
	Inputs     []string                    `json:"inputs"`     // what the human added
	Decisions  []FrameDecision             `json:"decisions"`  // the decisions of humans, in their order
	Findings   []protocol.InquiryFinding   `json:"findings"`   // what the human preserved
	Late       []inquiry.Late              `json:"late"`       // signals that came when they no longer counted
	Attempts   []FrameAttempt              `json:"attempts"`   // attempts of members that another attempt followed
}

// FrameDecision is what a human decided at a gate.
type FrameDecision struct {
	Gate    string    `json:"gate"`          // the gate
	About   string    `json:"about"`         // the perspective that the gate was about; "" for none
	Chosen  []string  `json:"chosen"`        // the options that were chosen
	Text    string    `json:"text"`          // in their own words; "" for none
	Human   string    `json:"human"`         // HUMAN@HOST
	Time    time.Time `json:"time,omitzero"` // UTC
	Message string    `json:"message"`       // the message that says it
	Key     string    `json:"key"`           // public key that signed it
	Counts  bool      `json:"counts"`        // nobody has taken it back
}

// FrameAttempt is an attempt of a member that another one followed.
type FrameAttempt struct {
	Perspective string `json:"perspective"` // its name
	Attempt     int    `json:"attempt"`     // from 1
	Agent       string `json:"agent"`       // AGENT@HOST
	Result      string `json:"result"`      // what it found, if that was told
}
