package control

import "time"

// FrameProof is what can be proved about an inquiry from git alone.
type FrameProof struct {
	Record    string       `json:"record"`    // the record's id
	Frame     string       `json:"frame"`     // the inquiry's channel
	Question  string       `json:"question"`  // word for word
	State     string       `json:"state"`     // its state by its deeds
	StateText string       `json:"stateText"` // the same in words
	Deeds     int          `json:"deeds"`     // how many deeds were read
	Holds     bool         `json:"holds"`     // nothing is broken
	Lines     []FrameLine  `json:"lines"`     // the lines of the form of inquiries
	Faults    []FrameFault `json:"faults"`    // what breaks a line, and what does not count for another reason
}

// FrameLine is one thing that must hold for every inquiry.
type FrameLine struct {
	Line   string `json:"line"`   // such as F42
	Text   string `json:"text"`   // what must hold
	Result string `json:"result"` // holds, broken, or not reached: there is no deed yet to which it applies
	Shown  string `json:"shown"`  // the last deed to which it applies; "" for none
}

// FrameFault is a deed that breaks a line, or does not count.
type FrameFault struct {
	Line string `json:"line"` // "" if it only does not count
	At   string `json:"at"`   // the message
	Why  string `json:"why"`  // the reason in words
}

// FrameDocument is everything about an inquiry, for its readers.
type FrameDocument struct {
	Record     string            `json:"record"`     // the record's id
	Frame      Frame             `json:"frame"`      // how it stands
	Context    string            `json:"context"`    // the context that was gathered; no member was given it
	Dialogues  []FrameDialogue   `json:"dialogues"`  // what peers said and reported
	Agreements []FrameAgreement  `json:"agreements"` // points on which perspectives agree
	Basis      []FrameBasis      `json:"basis"`      // the basis of each claim of the synthesis
	Inputs     []string          `json:"inputs"`     // what the human added
	Decisions  []FrameDecision   `json:"decisions"`  // the decisions of humans, in their order
	Findings   []FrameFinding    `json:"findings"`   // what the human preserved
	Late       []FrameLateSignal `json:"late"`       // signals that came when they no longer counted
	Attempts   []FrameAttempt    `json:"attempts"`   // attempts of members that another attempt followed
}

// FrameDialogue is what two peers said to each other, and reported.
type FrameDialogue struct {
	ID       string             `json:"id"`       // id of the tension
	Topics   []string           `json:"topics"`   // what it was about
	Messages []FrameSaid        `json:"messages"` // three at most
	Reports  []FrameReport      `json:"reports"`  // one for each peer
	Asked    []FrameSaid        `json:"asked"`    // what the coordinator asked a peer once more
	Answers  []FrameSaid        `json:"answers"`  // the answers to that
	Quotes   []FrameQuoteOfPeer `json:"quotes"`   // the words on which the tension rests
}

// FrameSaid is what a peer said, or was asked.
type FrameSaid struct {
	Perspective string `json:"perspective"` // its name
	Text        string `json:"text"`        // word for word
	Message     string `json:"message"`     // the message that says it
}

// FrameReport is what a peer reports of a dialogue.
type FrameReport struct {
	Perspective string `json:"perspective"` // its name
	Position    string `json:"position"`    // its position at the end
	Agreement   string `json:"agreement"`   // what both agree on
	Divergence  string `json:"divergence"`  // what is left; "" for nothing
	Rationale   string `json:"rationale"`   // why
}

// FrameQuoteOfPeer is words of a result on which a tension rests.
type FrameQuoteOfPeer struct {
	Kind        string `json:"kind"`        // kind of the tension; peers were not told it
	Perspective string `json:"perspective"` // its name
	Section     string `json:"section"`     // section of its result
	Words       string `json:"words"`       // as they stand there
}

// FrameAgreement is something on which perspectives agree.
type FrameAgreement struct {
	Point        string   `json:"point"`        // as it stands in the synthesis
	Perspectives []string `json:"perspectives"` // names of the perspectives that agree
	Strength     string   `json:"strength"`     // strong, moderate, weak, or independent convergence
}

// FrameBasis is the basis of a claim of the synthesis.
type FrameBasis struct {
	Claim   string        `json:"claim"`   // as it stands in the synthesis
	Kind    string        `json:"kind"`    // result, dialogue-agreement, dialogue-divergence, user_input or synthesis
	Sources []FrameSource `json:"sources"` // the sources of the claim
}

// FrameSource is a source of a claim.
type FrameSource struct {
	Perspective string `json:"perspective"` // "" for the human
	Words       string `json:"words"`       // as they stand there; "" if the coordinator joined sources
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

// FrameFinding is what a human preserved.
type FrameFinding struct {
	Category string `json:"category"` // convergence, divergence or assessment
	Words    string `json:"words"`    // as they stand in the synthesis
}

// FrameLateSignal says that a member ended when it no longer counted.
type FrameLateSignal struct {
	Perspective string `json:"perspective"` // its name
	Attempt     int    `json:"attempt"`     // number of the attempt
	Message     string `json:"message"`     // the message that says so
	Result      string `json:"result"`      // hex SHA-256 of what it found
}

// FrameAttempt is an attempt of a member that another one followed.
type FrameAttempt struct {
	Perspective string `json:"perspective"` // its name
	Attempt     int    `json:"attempt"`     // from 1
	Agent       string `json:"agent"`       // AGENT@HOST
	Result      string `json:"result"`      // what it found, if that was told
}
