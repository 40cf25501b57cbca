package protocol

import (
	"regexp"
	"strings"
)

// Act is what a message does. A reader that does not know an act treats the
// message as mail.
type Act string

// The acts of plain conversation and of the fleet's own book-keeping. The acts
// of work-with are recognised by the words their bodies begin with.
const (
	ActHey        Act = "hey"         // a message from one to one
	ActTell       Act = "tell"        // a message to a list or a party
	ActBroadcast  Act = "broadcast"   // a message to all
	ActNote       Act = "note"        // for the eyes of those addressed: it runs nobody
	ActReply      Act = "reply"       // an answer
	ActFailed     Act = "failed"      // an answer that says why there is none (R16)
	ActRead       Act = "read"        // a receipt
	ActHostJoin   Act = "host-join"   // a host and its key enter the fleet
	ActHostAgents Act = "host-agents" // who is served on a host, and its humans
	ActHostVouch  Act = "host-vouch"  // which keys of other hosts a host has seen first
	ActHostRotate Act = "host-rotate" // a new key takes the place of a host's old one
	ActHostRevoke Act = "host-revoke" // a key counts no more, but for what is named
)

var (
	actPattern  = regexp.MustCompile(`^[a-z][a-z-]{0,31}$`)
	headPattern = regexp.MustCompile(`^([A-Z][A-Z-]*(?: [A-Z][A-Z-]*){0,2}) \|`)
)

// ParseAct reads the field "act". What does not look like an act is none, so
// that the body decides.
func ParseAct(s string) Act {
	if !actPattern.MatchString(s) {
		return ""
	}
	return Act(s)
}

// actOfBody reads the act from the words a body begins with, the form of the
// seeds: "SYNC-CHECK | from: …".
func actOfBody(t Type, body string) Act {
	if t == TypeRead {
		return ActRead
	}
	head := headPattern.FindStringSubmatch(body)
	if head == nil {
		return ActHey
	}
	switch act := Act(strings.ReplaceAll(strings.ToLower(head[1]), " ", "-")); act {
	case "party-invite":
		return "invite"
	case "sync-check", "sync-result", "checkpoint", "accept", "reject", "defer", "revoke", "re-accept",
		"introduction", "validate", "work-with-status-request",
		ActHostJoin, ActHostAgents, ActHostVouch, ActHostRotate, ActHostRevoke:
		return act
	}
	return ActHey
}

// HostWord reports whether the act is the fleet's own book-keeping.
func (a Act) HostWord() bool {
	switch a {
	case ActHostJoin, ActHostAgents, ActHostVouch, ActHostRotate, ActHostRevoke:
		return true
	}
	return false
}

// Mail reports whether the act is one for which an agent's command is run. Notes,
// receipts, failures and the book-keeping of the fleet are shown and run nobody.
func (a Act) Mail() bool {
	return a != ActNote && a != ActRead && a != ActFailed && !a.HostWord()
}
