// Package party has the values of parties that are shown as they are. They follow from the record
// alone, and the rules that make them are in fleet/parties.
package party

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Member is an agent that takes part.
type Member struct {
	Name      string            `json:"id"`   // the agent
	Host      protocol.Name     `json:"node"` // its host
	Initiator bool              `json:"-"`
	Joined    time.Time         `json:"joined,omitzero"` // UTC
	By        protocol.Path     `json:"-"`               // the deed that made it a member
	Presence  protocol.Presence `json:"-"`               // what it said last, or active if it said nothing
	Note      string            `json:"note"`            // what it said about its status; "" for nothing
	Since     time.Time         `json:"since,omitzero"`  // since when it has that status, as far as it has said so, UTC
}

// Address is the member as mail reaches it.
func (m Member) Address() protocol.Address {
	return protocol.Address{Name: m.Name, Host: m.Host.String()}
}

// The roles of members in a party.
const (
	RoleInitiator = "initiator"
	RoleMember    = "member"
)

// Role is what part a member has.
func (m Member) Role() string {
	if m.Initiator {
		return RoleInitiator
	}
	return RoleMember
}

// Departure is the end of a membership.
type Departure struct {
	Member
	Time    time.Time     `json:"time,omitzero"` // UTC
	By      string        `json:"by"`            // the member itself, or the one who removed it
	Reason  string        `json:"reason"`        // "" for none
	Removed bool          `json:"removed"`       // somebody else removed it
	Path    protocol.Path `json:"path"`          // the message
}

// Outcome is what came of a gate.
type Outcome string

// The outcomes.
const (
	Pending   Outcome = "pending"
	Accepted  Outcome = "accepted"
	Declined  Outcome = "declined"
	Deferred  Outcome = "deferred"
	Contested Outcome = "contested" // one key said two things, or the host's key is used in two places: the human is asked again (R38)
	Expired   Outcome = "expired"
	Answered  Outcome = "answered" // a gate of an inquiry, whose answers are no yes or no
)

// Proposal is an agreement that was put to a party.
type Proposal struct {
	Label protocol.Label `json:"id"`            // its label
	Path  protocol.Path  `json:"path"`          // the message that put it
	Text  string         `json:"text"`          // what is agreed
	By    string         `json:"by"`            // who put it
	Time  time.Time      `json:"time,omitzero"` // UTC
	Mode  string         `json:"mode"`          // whose acceptance it needs: all, majority or leader-only, as the rule was when it was put
	// Voters are those who may vote: the members when it was put, or the leader alone. Later changes
	// of the rules do not matter.
	Voters []protocol.Address `json:"voters"`
	Votes  []Vote             `json:"votes"` // the last vote of each
}

// Vote is the last vote of a voter.
type Vote struct {
	Who    protocol.Address `json:"who"`           // who votes
	Accept bool             `json:"accept"`        // it accepts; otherwise it declines
	Reason string           `json:"reason"`        // "" for none
	Time   time.Time        `json:"time,omitzero"` // UTC
	Path   protocol.Path    `json:"path"`          // the message
}

// Settled says how a proposal stands. It is accepted when all, a majority or the leader have
// accepted. It is declined when that can no longer happen. Otherwise it is pending.
func (pr *Proposal) Settled() Outcome {
	yes, no := 0, 0
	for _, b := range pr.Votes {
		if b.Accept {
			yes++
		} else {
			no++
		}
	}
	all := len(pr.Voters)
	need := all
	if pr.Mode == protocol.ConsensusMajority {
		need = all/2 + 1
	}
	switch {
	case yes >= need:
		return Accepted
	case all-no < need:
		return Declined
	}
	return Pending
}

// Task is something that a member of a party is to do.
type Task struct {
	Label   protocol.Label     `json:"id"`            // its label
	Path    protocol.Path      `json:"path"`          // the message that put it on the list
	Text    string             `json:"text"`          // what is to be done
	By      string             `json:"by"`            // who put it on the list
	Time    time.Time          `json:"time,omitzero"` // UTC
	Taker   protocol.Address   `json:"taker"`         // who has it, or has done it; "" for nobody
	Taken   time.Time          `json:"-"`
	Until   time.Time          `json:"until,omitzero"` // when it becomes free again, unless its taker extends it, UTC
	Lapsed  bool               `json:"lapsed"`         // it is free because its taker's time was over
	Done    *Done              `json:"-"`
	Earlier []protocol.Address `json:"-"` // those who had it before
}

// Done is the end of a task.
type Done struct {
	Path    protocol.Path
	By      protocol.Address
	Time    time.Time
	Outcome string
}

// Free is the task without its taker.
func (t *Task) Free() {
	t.Earlier = append(slices.Clip(t.Earlier), t.Taker)
	t.Taker, t.Taken, t.Until, t.Lapsed = protocol.Address{}, time.Time{}, time.Time{}, false
}

// Lease is a reservation: advice to others, no lock. A holder that was given up for gone is
// recognized by its lower fence.
type Lease struct {
	Path   protocol.Path    `json:"path"`           // the message that reserved it
	Holder protocol.Address `json:"holder"`         // who has reserved it
	Things []string         `json:"things"`         // what is reserved
	Fence  int              `json:"fence"`          // a number that rises with each reservation of the party
	Time   time.Time        `json:"time,omitzero"`  // UTC
	Until  time.Time        `json:"until,omitzero"` // UTC
	Ended  time.Time        `json:"-"`              // zero while it lasts
	Reason string           `json:"reason"`         // "" for none
}
