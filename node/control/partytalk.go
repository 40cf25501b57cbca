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
	Text    string `json:"text"`              // the text
	Persist bool   `json:"persist,omitempty"` // also put it on the party's issue
}

// What becomes of a message for one of its addressees.
const (
	ToldDelivered = "delivered" // its host has it
	ToldSent      = "sent"      // it is stored and on its way
	ToldQueued    = "queued"    // the agent is busy: it gets the message when it is free
	ToldKept      = "kept"      // the agent is away: it reads the message when it is back
	ToldSkipped   = "skipped"   // the agent is hidden
	ToldFailed    = "failed"
)

// Told is what was said to several addressees, and what became of it.
type Told struct {
	Me      string        `json:"me"`                // who said it
	Chosen  string        `json:"chosen,omitempty"`  // why for that one, if nobody was named
	Party   string        `json:"party"`             // the party's name
	Message string        `json:"message"`           // the message that was written; "" if it reaches nobody
	To      []ToldOne     `json:"to"`                // its addressees
	Comment *IssueComment `json:"comment,omitempty"` // the comment on the issue, if that was asked for
}

// ToldOne is what became of a message for one addressee.
type ToldOne struct {
	Who     string `json:"who"`     // as AGENT@HOST
	Outcome string `json:"outcome"` // delivered, sent, queued, kept, skipped or failed
	Why     string `json:"why"`     // the reason in words; "" if there is nothing to say
}

// SayPresenceRequest says how reachable an agent is: in all its parties, or in one.
type SayPresenceRequest struct {
	Acting
	State protocol.Presence `json:"state"`
	Note  string            `json:"note,omitempty"`
	Party string            `json:"party,omitempty"` // as in PartyRequest; empty: all
}

// SaidPresence says in which parties a presence was said.
type SaidPresence struct {
	Me      string            `json:"me"`               // the one whose presence it is
	Chosen  string            `json:"chosen,omitempty"` // why for that one, if nobody was named
	State   protocol.Presence `json:"state"`            // its presence
	Parties []string          `json:"parties"`          // the parties in which this is new
	Failed  []string          `json:"failed"`           // the parties in which it could not be said, and why
}

// BroadcastStatsRequest asks how useful broadcasts were.
type BroadcastStatsRequest struct{}

// BroadcastUse counts broadcasts. One was useful if somebody joined or answered within 7 days.
type BroadcastUse struct {
	Sent   int     `json:"sent"`   // broadcasts
	Useful int     `json:"useful"` // broadcasts after which somebody joined or answered
	Share  float64 `json:"share"`  // share of useful broadcasts, 0 to 1
}

// Recruits lists the agents whom one could invite into a party (seed, "--recruit").
var Recruits = NewVerb[RecruitsRequest, RecruitList](VerbSpec{
	Name: "recruits", Access: Reads, Doing: "list whom one could ask",
	Doc: "Lists whom one could ask into a party: agents that hosts serve, and contacts.",
})

// RecruitsRequest asks for agents whom one could invite.
type RecruitsRequest struct {
	Viewing
	Party string `json:"party,omitempty"` // as in PartyRequest
}

// RecruitList are the agents whom one could invite into a party.
type RecruitList struct {
	Agents   []Recruit        `json:"agents"`   // agents that hosts serve
	Contacts []RecruitContact `json:"contacts"` // entries of contacts.json that no host serves
}

// Recruit is an agent that some host serves.
type Recruit struct {
	Name     string        `json:"name"`     // its name
	Host     protocol.Name `json:"host"`     // the host that serves it
	Live     bool          `json:"live"`     // its host is there now
	Standing string        `json:"standing"` // member or invited; "" if it has nothing to do with the party
}

// RecruitContact is an entry of an agent's contacts.json.
type RecruitContact struct {
	Name string `json:"name"` // its name
	Node string `json:"node"` // the place that the entry gives
}

// BroadcastTopic tells the fleet of a topic of two, so that others can ask to join (seed,
// "--broadcast").
var BroadcastTopic = NewVerb[BroadcastTopicRequest, Announcement](VerbSpec{
	Name: "broadcast-topic", Access: Speaks, Doing: "tell the fleet of a topic",
	Doc: "Tells all agents of a topic of two, so that they can ask to join.",
})

// BroadcastTopicRequest names a topic. With Try, the answer only says whether a human has to agree,
// and nobody is told.
type BroadcastTopicRequest struct {
	Acting
	With    string `json:"with"`
	Topic   string `json:"topic,omitempty"`
	Consent bool   `json:"consent,omitempty"` // the human agrees that agents of other hosts are told
	Try     bool   `json:"try,omitempty"`
}
