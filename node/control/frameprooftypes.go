package control

import (
	"time"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/protocol"
)

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
	Faults    []inquiry.Fault `json:"faults"`     // what breaks a line, and what does not count for another reason
}

// FrameLine is one thing that must hold for every inquiry.
type FrameLine struct {
	Line   string `json:"line"`   // such as F42
	Text   string `json:"text"`   // what must hold
	Result string `json:"result"` // holds, broken, or not reached: there is no deed yet to which it applies
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
