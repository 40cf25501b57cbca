package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// MakeInvitation makes an invitation line (R76). Invitations lists the lines and who came by them.
// AnswerKnock says whether a newcomer whose words were compared is let in. RevokeInvitation ends a
// line. All are for whoever operates the host, listing too: who asks to be let in is their affair.
var (
	MakeInvitation = NewVerb[InvitationRequest, Invitation](VerbSpec{
		Name: "make-invitation", Access: Operates, Doing: "invite a host",
		Doc: "Makes an invitation line, by which another machine can ask to join the fleet.",
	})
	Invitations = NewVerb[InvitationsRequest, InvitationList](VerbSpec{
		Name: "invitations", Access: Operates, Doing: "list invitation lines", Long: true,
		Doc: "Lists the invitation lines of this host and who came by them, or waits until there is something new.",
	})
	AnswerKnock = NewVerb[KnockAnswer, Knock](VerbSpec{
		Name: "answer-knock", Access: Operates, Doing: "let a host in",
		Doc: "Says whether a newcomer is let in, whose three words a person has compared.",
	})
	RevokeInvitation = NewVerb[InvitationName, Invitation](VerbSpec{
		Name: "revoke-invitation", Access: Operates, Doing: "revoke an invitation line",
		Doc: "Ends an invitation line.",
	})
)

// Bounds of invitation lines.
const (
	MaxInvitationUses = 100
	MaxInvitationFor  = 30 * 24 * time.Hour
	// MaxUnasked is how long a line may count whose newcomers nobody is asked about.
	MaxUnasked = 10 * time.Minute
)

// InvitationRequest asks for an invitation line.
type InvitationRequest struct {
	Uses int     `json:"uses,omitempty"` // how many machines may join by it; 0: one
	For  Seconds `json:"for,omitempty"`  // how long it counts; 0: MaxUnasked
	// Unasked lets everybody in who proves to have the line: nobody compares words. Such a line
	// counts for MaxUnasked at most.
	Unasked bool `json:"unasked,omitempty"`
	// Listen is where this host takes links from now on, address:port, if it takes none yet.
	Listen string `json:"listen,omitempty"`
	// Advertise are the addresses, host:port, that the line names; none: those at which this host
	// says that others reach it.
	Advertise []string `json:"advertise,omitempty"`
}

// InvitationsRequest asks for the lines. With After it waits until there is a list with a higher
// number.
type InvitationsRequest struct {
	After int `json:"after,omitempty"`
}

// InvitationList are the lines of a host, the newest last.
type InvitationList struct {
	Number int          `json:"number"` // rises with every change
	Lines  []Invitation `json:"lines"`  // the lines
}

// InvitationName names a line by its id.
type InvitationName struct {
	ID string `json:"id"`
}

// The states of an invitation line.
const (
	LineOpen    = "open"
	LineUsed    = "used up"
	LineExpired = "expired"
	LineRevoked = "revoked"
	LineBurnt   = "burnt" // a use of it has failed
)

// Invitation is an invitation line as its host knows it. The host does not keep the secret.
type Invitation struct {
	ID      string    `json:"id"`               // eight digits by which people tell lines apart
	Line    string    `json:"line,omitempty"`   // the line; present only in the answer to make-invitation
	State   string    `json:"state"`            // open, used up, expired, revoked or burnt
	Why     string    `json:"why,omitempty"`    // why it is burnt
	Uses    int       `json:"uses"`             // how often it may be used
	Used    int       `json:"used"`             // how often it was
	Unasked bool      `json:"unasked"`          // nobody is asked before somebody is let in
	Made    time.Time `json:"made,omitzero"`    // UTC
	Expires time.Time `json:"expires,omitzero"` // UTC
	Knocks  []Knock   `json:"knocks"`           // the uses, the first one first
}

// The states of a knock.
const (
	KnockAsks    = "asks"    // a person has to compare the words
	KnockAllowed = "allowed" // it may join, and is not in the record yet
	KnockJoined  = "joined"
	KnockRefused = "refused"
	KnockGone    = "gone" // it went before anybody answered
)

// Knock is one use of a line: a machine that asks to join.
type Knock struct {
	ID          string        `json:"id"`          // eight digits by which an answer names it
	State       string        `json:"state"`       // asks, allowed, joined, refused or gone
	Alias       protocol.Name `json:"alias"`       // what it wants to be called; once it is allowed, what it is called
	Human       protocol.Name `json:"human"`       // who decides there, by its own words
	Key         string        `json:"key"`         // its public nkey, which it has proved
	Fingerprint string        `json:"fingerprint"` // of the key
	Address     string        `json:"address"`     // where it came from
	Version     string        `json:"version"`     // of parley there, by its own words
	Takes       bool          `json:"takes"`       // it takes links, by its own words
	Words       string        `json:"words"`       // the three words to compare
	At          time.Time     `json:"at,omitzero"` // UTC
}

// KnockAnswer says whether a newcomer is let in.
type KnockAnswer struct {
	ID  string `json:"id"` // of the knock
	Yes bool   `json:"yes"`
}
