package control

import "github.com/parleyfleet/parley/protocol"

// TellParty says something to all members of a party (seed, "tell"), and SayPresence says how
// reachable an agent is in its parties from now on.
var (
	TellParty = NewVerb[TellPartyRequest, Told](VerbSpec{
		Name: "tell-party", Access: Speaks, Doing: "tell the party",
		Doc: "Says something to all members of a party, and what became of it for each.",
	})
	SayPresence = NewVerb[SayPresenceRequest, SaidPresence](VerbSpec{
		Name: "party-presence", Access: Speaks, Doing: "say how reachable an agent is",
		Doc: "Says how reachable an agent is in its parties from now on.",
	})
	BroadcastStats = NewVerb[BroadcastStatsRequest, BroadcastUse](VerbSpec{
		Name: "broadcast-stats", Access: Reads, Doing: "count what broadcasts were good for",
		Doc: "Counts how many broadcasts of parties and topics somebody joined or answered.",
	})
)

// TellPartyRequest says a text to a party.
type TellPartyRequest struct {
	Acting
	Party   string `json:"party,omitempty"`   // as in PartyRequest
	Text    string `json:"text"`              // what is said
	Persist bool   `json:"persist,omitempty"` // on the party's issue too
}

// What becomes of a message for one of those whom it was for.
const (
	ToldDelivered = "delivered" // its host has it
	ToldSent      = "sent"      // it is stored and on its way
	ToldQueued    = "queued"    // it is busy: it gets it when it is free
	ToldKept      = "kept"      // it is away: it reads it when it is back
	ToldSkipped   = "skipped"   // it is hidden
	ToldFailed    = "failed"
)

// Told is what was said to several, and what became of it.
type Told struct {
	Me      string        `json:"me"`                // who said it
	Chosen  string        `json:"chosen,omitempty"`  // why for that one, where nobody was named
	Party   string        `json:"party"`             // the party's name
	Message string        `json:"message"`           // what was written; "" where it reaches nobody
	To      []ToldOne     `json:"to"`                // those whom it was for
	Comment *IssueComment `json:"comment,omitempty"` // on the issue, where that was asked for
}

// ToldOne is what became of it for one.
type ToldOne struct {
	Who     string `json:"who"`     // as AGENT@HOST
	Outcome string `json:"outcome"` // delivered, sent, queued, kept, skipped or failed
	Why     string `json:"why"`     // in words; "" where there is nothing to say
}

// SayPresenceRequest says how reachable an agent is: in all its parties, or in one.
type SayPresenceRequest struct {
	Acting
	State protocol.Presence `json:"state"`
	Note  string            `json:"note,omitempty"`
	Party string            `json:"party,omitempty"` // as in PartyRequest; empty: all
}

// SaidPresence is in which parties that was said.
type SaidPresence struct {
	Me      string            `json:"me"`               // who it is of
	Chosen  string            `json:"chosen,omitempty"` // why for that one, where nobody was named
	State   protocol.Presence `json:"state"`            // what it is
	Parties []string          `json:"parties"`          // where that is new
	Failed  []string          `json:"failed"`           // where it could not be said, and why
}

// BroadcastStatsRequest asks what broadcasts were good for.
type BroadcastStatsRequest struct{}

// BroadcastUse counts broadcasts. One was useful if somebody joined or answered within 7 days.
type BroadcastUse struct {
	Sent   int     `json:"sent"`   // broadcasts
	Useful int     `json:"useful"` // that somebody joined or answered
	Share  float64 `json:"share"`  // of them, 0 to 1
}

// Recruits lists whom one could ask into a party (seed, "--recruit").
var Recruits = NewVerb[RecruitsRequest, RecruitList](VerbSpec{
	Name: "recruits", Access: Reads, Doing: "list whom one could ask",
	Doc: "Lists whom one could ask into a party: agents that hosts serve, and contacts.",
})

// RecruitsRequest asks for whom one could ask.
type RecruitsRequest struct {
	Viewing
	Party string `json:"party,omitempty"` // as in PartyRequest
}

// RecruitList is whom one could ask into a party.
type RecruitList struct {
	Agents   []Recruit        `json:"agents"`   // that hosts serve
	Contacts []RecruitContact `json:"contacts"` // of contacts.json, that no host serves
}

// Recruit is an agent that some host serves.
type Recruit struct {
	Name     string        `json:"name"`     // what it is called
	Host     protocol.Name `json:"host"`     // where
	Live     bool          `json:"live"`     // its host is there now
	Standing string        `json:"standing"` // member or invited; "" where it has nothing to do with the party
}

// RecruitContact is one that an agent keeps in its contacts.json.
type RecruitContact struct {
	Name string `json:"name"` // what it is called
	Node string `json:"node"` // where it is said to be
}

// BroadcastTopic tells the fleet of a topic of two, so that others can ask to join (seed,
// "--broadcast").
var BroadcastTopic = NewVerb[BroadcastTopicRequest, Announcement](VerbSpec{
	Name: "broadcast-topic", Access: Speaks, Doing: "tell the fleet of a topic",
	Doc: "Tells all agents of a topic of two, so that they can ask to join.",
})

// BroadcastTopicRequest names a topic. Try only says whether a human has to agree: nobody is
// told then.
type BroadcastTopicRequest struct {
	Acting
	With    string `json:"with"`
	Topic   string `json:"topic,omitempty"`
	Consent bool   `json:"consent,omitempty"` // the human agrees that agents of other hosts are told
	Try     bool   `json:"try,omitempty"`
}
