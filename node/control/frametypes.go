package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Inquiries are begun, shown and decided by these verbs. What a human decides is signed in the
// program at which they sit: no node has their key (R35).
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

// FrameRequest begins an inquiry. The question is the text; where there is none it is the
// message named, or the human's last message in the channel. Try asks what of it a human would
// sign: nothing is written.
type FrameRequest struct {
	Acting
	Question     string    `json:"question,omitempty"`
	Re           string    `json:"re,omitempty"`           // the message that asks it
	Channel      string    `json:"channel,omitempty"`      // where it is asked: by id or name
	In           string    `json:"in,omitempty"`           // what is investigated: a folder, or REPOSITORY@COMMIT
	Mode         string    `json:"mode,omitempty"`         // recommend or inquire; empty: asked with the brief
	Perspectives []string  `json:"perspectives,omitempty"` // that the human names
	Agents       []string  `json:"agents,omitempty"`       // that may investigate; none: any
	Coordinator  string    `json:"coordinator,omitempty"`  // the agent of this host that makes its calls; empty: the fleet's policy
	AcceptBrief  bool      `json:"acceptBrief,omitempty"`  // the human accepts the brief beforehand
	Try          bool      `json:"try,omitempty"`          // only say what would be signed
	At           time.Time `json:"at,omitzero"`            // of what was said with Try, UTC
	Hsig         string    `json:"hsig,omitempty"`         // the human's signature of that, base64url
}

// FrameOpened is an inquiry that was begun, or would be.
type FrameOpened struct {
	Decides string    `json:"decides"`     // what the human's signature is about; "" where an agent asks
	At      time.Time `json:"at,omitzero"` // UTC
	Message string    `json:"message"`     // that began it; "" with Try
	Frame   Frame     `json:"frame"`       // as it is now
}

// FramesRequest asks for inquiries.
type FramesRequest struct {
	All bool `json:"all,omitempty"` // those that are over too
}

// FrameList are inquiries, the newest first.
type FrameList struct {
	Frames []Frame `json:"frames"` // without the texts of their parts
}

// ShowFrameRequest asks for an inquiry: by its id, the beginning of that, or the message that
// began it; empty: the newest. With Since the answer waits until that deed is not the last one
// any more, or for as long as it may.
type ShowFrameRequest struct {
	ID     string  `json:"id,omitempty"`
	Since  string  `json:"since,omitempty"`  // Frame.Last as it was
	Within Seconds `json:"within,omitempty"` // how long the answer may wait; 0: half a minute
}

// AnswerFrameRequest is what this host's human decides at a gate.
type AnswerFrameRequest struct {
	ID        string                   `json:"id"`                  // of the inquiry
	Gate      string                   `json:"gate"`                // the message that asks
	Chosen    []protocol.InquiryChoice `json:"chosen,omitempty"`    // options by question
	Text      string                   `json:"text,omitempty"`      // in one's own words
	TakesBack string                   `json:"takesBack,omitempty"` // hash of an answer of one's own that counts no more
	Hsig      string                   `json:"hsig"`                // the human's signature, base64url
}

// EndFrameRequest ends an inquiry.
type EndFrameRequest struct {
	ID     string `json:"id"`
	Reason string `json:"reason,omitempty"`
	Hsig   string `json:"hsig,omitempty"` // the human's signature, base64url
}

// ResumeFrameRequest has this host coordinate an inquiry. Try asks what a human would sign.
type ResumeFrameRequest struct {
	ID          string `json:"id"`
	Coordinator string `json:"coordinator,omitempty"` // the agent that makes its calls; empty: the fleet's policy
	Try         bool   `json:"try,omitempty"`
	Hsig        string `json:"hsig,omitempty"` // the human's signature, base64url
}

// Frame is an inquiry as one sees it now.
type Frame struct {
	ID           string             `json:"id"`             // the beginning of its channel, as far as that names it alone
	Channel      protocol.ChannelID `json:"channel"`        // where its deeds are
	Path         string             `json:"path"`           // the message that began it
	Hash         string             `json:"hash"`           // hex SHA-256 of that message's file
	Question     string             `json:"question"`       // word for word
	QuestionHash string             `json:"questionHash"`   // hex SHA-256 of it
	State        string             `json:"state"`          // such as AWAIT
	StateText    string             `json:"stateText"`      // the same in words
	Over         bool               `json:"over"`           // nothing follows any more
	Waits        string             `json:"waits"`          // for whom or what, in words; "" where it is over
	Trouble      string             `json:"trouble"`        // why it does not go on here; "" where nothing is wrong
	Began        time.Time          `json:"began,omitzero"` // UTC
	Ended        time.Time          `json:"ended,omitzero"` // UTC
	By           string             `json:"by"`             // who asked
	Deciders     []string           `json:"deciders"`       // HUMAN@HOST who decide
	Coordinator  string             `json:"coordinator"`    // the agent that makes its calls
	Epoch        int                `json:"epoch"`          // of its coordinator, from 1
	Mode         string             `json:"mode"`           // recommend or inquire; "" before it is chosen
	In           string             `json:"in"`             // what is investigated; "" for nothing
	Cycle        int                `json:"cycle"`          // 1, and one more for each extension
	Cost         int                `json:"cost"`           // how many calls of agents its first pass makes, as far as that is known
	Last         string             `json:"last"`           // its last deed
	Gate         *FrameGate         `json:"gate,omitempty"` // what a human is asked now
	Members      []FrameMember      `json:"members"`        // one for each perspective
	Brief        FrameBrief         `json:"brief"`          // the last one
	Perspectives []FramePerspective `json:"perspectives"`   // that were proposed last
	Base         []string           `json:"base"`           // that the human named
	Chosen       []string           `json:"chosen"`         // all of the inquiry
	Previews     []FramePreview     `json:"previews"`       // of the results
	NoneProposed string             `json:"noneProposed"`   // why no perspective was proposed; "" otherwise
	Detection    string             `json:"detection"`      // why no tension was found; "" otherwise
	Tensions     []FrameTension     `json:"tensions"`       // of all cycles
	Synthesis    string             `json:"synthesis"`      // the last one; "" before
	Syntheses    int                `json:"syntheses"`      // how many there were
	Trace        []FrameTrace       `json:"trace"`          // what each perspective gave
	Gaps         []string           `json:"gaps"`           // limits that nobody addressed
	Tier         string             `json:"tier"`           // of what is recommended: modifier, narrowing or escalate; "" otherwise
	Note         string             `json:"note"`           // how to go on from there
	Findings     []string           `json:"findings"`       // that were preserved
	Remarks      []string           `json:"remarks"`        // what humans should see: a lost difference, early unanimity, and at the end what is proposed after several inquiries
	Here         bool               `json:"here"`           // this host coordinates it
	Mine         bool               `json:"mine"`           // this host's human decides it
}

// FrameGate is what humans are asked, and who has answered.
type FrameGate struct {
	Path        string          `json:"path"`          // the message that asks
	Hash        string          `json:"hash"`          // hex SHA-256 of its file
	Gate        string          `json:"gate"`          // brief, perspectives, route and so on
	Perspective string          `json:"perspective"`   // that it is about; "" for none
	Set         string          `json:"set"`           // hash of its options
	Questions   []FrameQuestion `json:"questions"`     // what is asked
	Contested   bool            `json:"contested"`     // two answers contradict each other: one is to be taken back
	Answers     []string        `json:"answers"`       // hashes of the answers that count, where it is contested
	Time        time.Time       `json:"time,omitzero"` // UTC
	NoKey       bool            `json:"noKey"`         // no decider has a key of their own, which it needs
	File        string          `json:"file"`          // the message's file, base64
}

// FrameQuestion is one question of a gate.
type FrameQuestion struct {
	ID      string        `json:"id"`      // what it asks follows from it
	Multi   bool          `json:"multi"`   // several may be chosen
	Options []FrameOption `json:"options"` // in their order
}

// FrameOption is one thing that can be chosen.
type FrameOption struct {
	Key   string `json:"key"`   // what names it in an answer
	About string `json:"about"` // what it means here
}

// FrameBrief is what the question is taken to ask.
type FrameBrief struct {
	Intent      string `json:"intent"`      // what is investigated, and why
	Deliverable string `json:"deliverable"` // what form the answer has
	Scope       string `json:"scope"`       // what belongs to it and what does not
	Mode        string `json:"mode"`        // the recommended one
	Why         string `json:"why"`         // it is
}

// FramePerspective is a perspective that was proposed.
type FramePerspective struct {
	Name         string `json:"name"`         // of a discipline or framework
	Contribution string `json:"contribution"` // what it alone reveals
	TensionWith  string `json:"tensionWith"`  // the other one with which it may disagree; "" in a document, of an earlier proposal
}

// FrameMember is who investigates a perspective, and how that stands. Nothing of what it finds
// is told before all have ended (R53).
type FrameMember struct {
	Perspective string    `json:"perspective"`      // its name
	Agent       string    `json:"agent"`            // AGENT@HOST
	Attempt     int       `json:"attempt"`          // from 1
	State       string    `json:"state"`            // waiting, working, completed, failed, skipped, dropped or told
	Started     time.Time `json:"started,omitzero"` // UTC
	Ended       time.Time `json:"ended,omitzero"`   // UTC
	Grade       string    `json:"grade"`            // how it was isolated: process, user, walls or host; "" before it ended
	Degraded    string    `json:"degraded"`         // what is worse than it should be, and why; "" for nothing
	Problem     string    `json:"problem"`          // why it has no result: its last errors; "" for none
	Flags       []string  `json:"flags"`            // what its result lacks of its form
	Result      string    `json:"result"`           // its text, once it is told
}

// FramePreview sums up a result.
type FramePreview struct {
	Perspective string   `json:"perspective"` // its name
	Title       string   `json:"title"`       // what it reveals, in a few words
	Summary     string   `json:"summary"`     // its key findings and its assessment
	Limits      string   `json:"limits"`      // what this perspective does not see
	Flags       []string `json:"flags"`       // what the result lacks of its form
}

// FrameTension is what two perspectives differ on, and what came of it.
type FrameTension struct {
	ID         string   `json:"id"`         // its cycle and number
	Topics     []string `json:"topics"`     // a line each
	Peers      []string `json:"peers"`      // the two perspectives
	Messages   int      `json:"messages"`   // that they have exchanged: three at most
	Closed     bool     `json:"closed"`     // nothing more comes of it
	Resolution string   `json:"resolution"` // agreed, partial or persistent; "" before
	Strength   string   `json:"strength"`   // strong, moderate or weak; "" before
	Basis      string   `json:"basis"`      // of that
	Agreement  string   `json:"agreement"`  // what the peers report that they agree on
	Divergence string   `json:"divergence"` // what they report that is left
}

// FrameTrace is what a perspective gave to the synthesis.
type FrameTrace struct {
	Perspective string   `json:"perspective"` // its name
	Sections    []string `json:"sections"`    // that it influenced
	Survived    bool     `json:"survived"`    // what it alone found is in it
	Unaddressed []string `json:"unaddressed"` // of its limits
}
