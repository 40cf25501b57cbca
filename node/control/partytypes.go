package control

import (
	"time"

	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// Parties lists the parties of the fleet, and ShowParty shows one with its members (R23).
// Everything follows from the record, so nobody is asked.
var (
	Parties = NewVerb[PartiesRequest, PartyList](VerbSpec{
		Name: "parties", Access: Reads, Doing: "list parties",
		Doc: "Lists parties: those of an agent, or all.",
	})
	ShowParty = NewVerb[PartyRequest, Party](VerbSpec{
		Name: "party", Access: Reads, Doing: "show a party",
		Doc: "Shows a party: members, scores, invites, agreements, tasks, and what does not count.",
	})
)

// Organize begins a party, and DoInParty does something in one, only for the agent for which it is
// asked (R59). If an agent asks for something that its human has to decide, that becomes a gate
// (R64).
var (
	Organize = NewVerb[OrganizeRequest, PartyDeed](VerbSpec{
		Name: "organize", Access: Speaks, Doing: "organize a party",
		Doc: "Begins a party, or says what a human would sign for that.",
	})
	DoInParty = NewVerb[PartyDeedRequest, PartyDeed](VerbSpec{
		Name: "party-deed", Access: Speaks, Doing: "do that in a party",
		Doc: "Does something in a party: invite, leave, agree, take a task and so on.",
	})
	UseParty = NewVerb[UsePartyRequest, Party](VerbSpec{
		Name: "use-party", Access: Speaks, Doing: "choose a party",
		Doc: "Chooses the party that is meant where none is named.",
	})
)

// Gates lists what humans are asked. AnswerGate says what one of them decides (R35, R38). The
// signature is made in the program that the human uses: no node has their key.
var (
	Gates = NewVerb[GatesRequest, GateList](VerbSpec{
		Name: "gates", Access: Reads, Doing: "list gates",
		Doc: "Lists what humans are asked to decide, with what is shown to them.",
	})
	AnswerGate = NewVerb[AnswerGateRequest, Gate](VerbSpec{
		Name: "answer-gate", Access: Operates, Doing: "answer a gate",
		Doc: "Decides what a gate asks this host's human.",
	})
)

// PartiesRequest asks for parties: those of an agent, or of the whole fleet.
type PartiesRequest struct {
	Viewing
	Fleet  bool   `json:"fleet,omitempty"`  // all parties of the record
	Team   string `json:"team,omitempty"`   // only those with that tag
	Closed bool   `json:"closed,omitempty"` // also those that are over
}

// PartyList are parties. The one in which something was done last comes first.
type PartyList struct {
	Me      string  `json:"me"`               // whose parties they are; "" for those of the fleet
	Chosen  string  `json:"chosen,omitempty"` // why those, if nobody was named
	Current string  `json:"current"`          // the message that began the current party, which is meant if none is named; "" for none
	Parties []Party `json:"parties"`          // those that were asked for
}

// PartyRequest names a party: by its short form or name, by its channel, or by the message
// that began it. Without a name the current one is meant.
type PartyRequest struct {
	Viewing
	Party string `json:"party,omitempty"`
}

// Party is the present state of a party.
type Party struct {
	Name         string              `json:"name"`                   // its name
	Slug         string              `json:"slug"`                   // the name's short form
	Short        string              `json:"short"`                  // what identifies it: the slug, with a part of its id if two parties have that slug
	Channel      protocol.ChannelID  `json:"channel"`                // the channel of the party
	Organized    string              `json:"organized"`              // the message that began it
	Host         protocol.Name       `json:"host"`                   // the host on which it was organized
	State        string              `json:"state"`                  // proposed (its leader has not agreed), active or closed
	Current      bool                `json:"current"`                // it is the party that is meant if none is named
	Leader       string              `json:"leader"`                 // the human who leads it
	Via          string              `json:"via"`                    // the agent through which they lead it
	Team         string              `json:"team"`                   // its tag; "" for none
	Anchor       string              `json:"anchor"`                 // the issue of the party; "" for none
	AnchorURL    string              `json:"anchor_url"`             // the address of the issue; "" if it is not known
	Rules        protocol.PartyRules `json:"rules"`                  // its rules
	Created      time.Time           `json:"created,omitzero"`       // UTC
	LastActivity time.Time           `json:"last_activity,omitzero"` // when something was last said or done in it, UTC
	Ended        time.Time           `json:"ended,omitzero"`         // when the last member left, UTC
	Members      []PartyMember       `json:"members"`                // in the order in which they came
	Gates        []Gate              `json:"gates"`                  // what humans were asked in it
	Proposals    []PartyProposal     `json:"proposals"`              // agreements that were put to it
	Tasks        []PartyTask         `json:"tasks"`                  // tasks, also those that are done
	Leases       []*party.Lease      `json:"leases"`                 // what is reserved now
	Left         []party.Departure   `json:"left"`                   // former members
	Synced       int                 `json:"synced"`                 // how many members have a score
	Mean         protocol.Score      `json:"mean,omitzero"`          // the mean of the decayed scores; absent if no member has one
	SyncDue      bool                `json:"sync_due"`               // its members should check how far they are in sync, by the rule sync_cadence
	Void         []TopicVoid         `json:"void"`                   // what was last said in it that does not count
}

// Gate is what humans are asked, and what they said.
type Gate struct {
	ID        string          `json:"id"`                   // its name in commands
	Path      string          `json:"path"`                 // the message that asks
	For       string          `json:"for"`                  // organize, invite, join, broadcast, wish to invite, wish to join, or inquiry: then `parley frame answer` decides it
	Title     string          `json:"title"`                // the same in words
	Party     string          `json:"party"`                // the party's name
	Channel   string          `json:"channel"`              // its channel
	By        string          `json:"by"`                   // who asks
	Asker     protocol.Asker  `json:"asker"`                // who that is, as the record tells it, whatever the message says
	Human     string          `json:"human"`                // on whose behalf; "" if on nobody's
	Whom      string          `json:"whom"`                 // the agent that it is about; "" for none
	Host      protocol.Name   `json:"host"`                 // the host whose human decides
	Deciders  []protocol.Name `json:"deciders"`             // those who may decide; none: any human of that host
	Here      bool            `json:"here"`                 // this host's human decides it
	NoKey     bool            `json:"no_key"`               // it waits because none of them has a key of their own
	Outcome   party.Outcome   `json:"outcome"`              // what came of it
	Time      time.Time       `json:"time,omitzero"`        // when it was asked, UTC
	AnswerBy  time.Time       `json:"answer_by,omitzero"`   // silence before that time is no expiry, UTC; a later answer still counts
	Until     time.Time       `json:"until,omitzero"`       // until when it is put off, UTC
	Reason    string          `json:"reason"`               // the reason of the decision; "" for none
	DecidedBy string          `json:"decided_by"`           // who decided; "" for nobody yet
	Decided   time.Time       `json:"decided,omitzero"`     // when, UTC
	Answer    string          `json:"answer"`               // the message with the decision; "" for none
	Seen      string          `json:"seen"`                 // what the one who decided signed to have seen of the asker; "" for nothing
	Proof     string          `json:"proof"`                // own-key, or open-key if the key has no passphrase; "" if nobody has decided
	Shown     string          `json:"shown"`                // everything that is shown to the one who decides: the body of the message
	Hash      string          `json:"hash"`                 // hex SHA-256 of the message's file
	File      string          `json:"file,omitempty"`       // the message's file, base64; only if it was asked for
	TakesBack string          `json:"takes_back,omitempty"` // the hash of the decision that counts, which another decision has to take back
	Announced *Announcement   `json:"announced,omitempty"`  // who was told, in the answer to a human who has just agreed to that
}

// PartyMember is an agent in a party, and how it is.
type PartyMember struct {
	party.Member
	Status    string         `json:"status"`             // active, idle, compacted, away, dormant, hidden or busy
	Role      string         `json:"role"`               // initiator or member
	Raw       protocol.Score `json:"raw,omitzero"`       // its last score on the party's topic, 0 to 1; absent: it was never synced
	Decayed   protocol.Score `json:"decayed,omitzero"`   // what that score is worth now
	Colour    topic.Colour   `json:"colour"`             // of the decayed score; "" for none
	Lambda    float64        `json:"lambda"`             // how fast it loses its worth: the λ of the decay, for each hour
	LastSync  time.Time      `json:"last_sync,omitzero"` // when it had that score, UTC
	Trust     topic.Trust    `json:"trust"`              // how much of what it says can be taken without a check
	Sparkline []float64      `json:"sparkline"`          // its last scores, decayed to now
	Stale     bool           `json:"stale"`              // its decayed score is below kick_threshold; only people remove members
	OutOfSync bool           `json:"out_of_sync"`        // its decayed score is below accept_threshold
	Resync    bool           `json:"resync"`             // a sync is suggested
	Heard     time.Time      `json:"heard,omitzero"`     // when it or its host was last heard, UTC
	Connected bool           `json:"connected"`          // its host is there now
}

// PartyProposal is an agreement that was put to a party, and how it stands.
type PartyProposal struct {
	party.Proposal
	Outcome party.Outcome `json:"outcome"` // pending, accepted or declined
}

// PartyTask is something that is to be done, and how it stands.
type PartyTask struct {
	party.Task
	State   string    `json:"state"`         // free, taken or done
	Outcome string    `json:"outcome"`       // the outcome, if it is done; "" for nothing said
	Done    time.Time `json:"done,omitzero"` // UTC
}

// OrganizeRequest begins a party. With Try, the answer has the plan, which says what a human would
// sign, and nothing is written.
type OrganizeRequest struct {
	Acting
	Topic  string   `json:"topic"`
	With   []string `json:"with,omitempty"`   // agents to invite
	Team   string   `json:"team,omitempty"`   // a tag
	Anchor string   `json:"anchor,omitempty"` // the issue of the party
	Origin string   `json:"origin,omitempty"` // the repository to which a bare number belongs
	Rules  string   `json:"rules,omitempty"`  // a JSON object with the rules that are not the default
	Announcing
	Try  bool      `json:"try,omitempty"`  // only say what would be signed
	At   time.Time `json:"at,omitzero"`    // the time in the plan, UTC
	Hsig string    `json:"hsig,omitempty"` // the human's signature of the plan, base64url
}

// PartyDeedRequest does something in a party. Which fields it needs depends on the deed.
type PartyDeedRequest struct {
	Acting
	Party     string       `json:"party,omitempty"`  // as in PartyRequest
	Deed      protocol.Act `json:"deed"`             // invite, party-join, leave, party-remove, party-rules, party-agree, party-vote, party-task, party-take, party-done, party-give-back, party-lease or party-release
	Whom      string       `json:"whom,omitempty"`   // an agent
	Item      string       `json:"item,omitempty"`   // the label of an agreement or a task, or the path of a reservation
	Text      string       `json:"text,omitempty"`   // what is agreed or to be done, or how it ended
	Accept    bool         `json:"accept,omitempty"` // of a vote
	Reason    string       `json:"reason,omitempty"`
	Set       []string     `json:"set,omitempty"`       // rules, as RULE=VALUE
	Things    []string     `json:"things,omitempty"`    // what is reserved
	For       Seconds      `json:"for,omitempty"`       // how long
	Introduce bool         `json:"introduce,omitempty"` // introduce the author before an invite
	Announcing
	Try  bool      `json:"try,omitempty"`  // only say what would be signed
	At   time.Time `json:"at,omitzero"`    // the time in the plan, UTC
	Hsig string    `json:"hsig,omitempty"` // the human's signature of the plan, base64url
}

// Announcing says whether others are told of a party or an invite (seed, "Broadcast").
type Announcing struct {
	Broadcast bool `json:"broadcast,omitempty"` // tell all agents of the fleet
	Quiet     bool `json:"quiet,omitempty"`     // tell nobody, whatever else is said
	Consent   bool `json:"consent,omitempty"`   // the human agrees that agents of other hosts are told
}

// Announcement is who was told of a party, an invite or a topic.
type Announcement struct {
	Tier    string    `json:"tier"`           // team, or fleet
	Text    string    `json:"text"`           // what was said
	Message string    `json:"message"`        // that message; "" for none
	To      []ToldOne `json:"to"`             // whom it was for, and what became of it
	Skipped string    `json:"skipped"`        // why nobody was told; "" if somebody was
	Gate    string    `json:"gate,omitempty"` // the gate at which a human decides whether they are told
}

// PartyPlan is what a human signs before it is done. The signature is about Act and Decides alone.
// If no signature is needed, it is about nothing.
type PartyPlan struct {
	Me      string       `json:"me"`          // the one for whom it is done
	Leader  string       `json:"leader"`      // the human who leads the party
	Party   string       `json:"party"`       // the message that began the party; "" if it does not exist yet
	Act     protocol.Act `json:"act"`         // what is signed
	Decides string       `json:"decides"`     // the text that is signed; "" if no human has to sign
	With    []string     `json:"with"`        // the agents to invite, as AGENT@HOST
	Anchor  string       `json:"anchor"`      // the issue, in full
	Consent bool         `json:"consent"`     // a human has to agree to what was asked for, that agents of other hosts are told
	At      time.Time    `json:"at,omitzero"` // when the party is said to begin, or the deed to be decided, UTC
}

// PartyDeed is what was done in a party.
type PartyDeed struct {
	Me        string         `json:"me"`                  // the one for whom it was done
	Chosen    string         `json:"chosen,omitempty"`    // why for that one, if nobody was named
	Messages  []string       `json:"messages"`            // what was written
	Party     Party          `json:"party"`               // as it is now
	Gate      *Gate          `json:"gate,omitempty"`      // what now waits for a human, of what was asked
	Failed    []string       `json:"failed"`              // if several things were asked: those that were not done, and why
	Announced *Announcement  `json:"announced,omitempty"` // who was told, if somebody was to be told
	Comments  []IssueComment `json:"comments,omitempty"`  // on the party's issue: invites of those who have only that
	Plan      PartyPlan      `json:"plan"`                // what was signed, or is to be signed
}

// UsePartyRequest makes a party the current one of the agent for which it is asked.
type UsePartyRequest struct {
	Acting
	Party string `json:"party"` // as in PartyRequest
}

// GatesRequest asks for gates of this host: those that wait for its human, or all.
type GatesRequest struct {
	ID    string `json:"id,omitempty"`    // only one gate, by its id or by the path of its message
	All   bool   `json:"all,omitempty"`   // also those that are decided
	Files bool   `json:"files,omitempty"` // with the files of their messages
}

// GateList are gates.
type GateList struct {
	Human  protocol.Name `json:"human"`   // the human of this host
	HasKey bool          `json:"has_key"` // they have a key of their own, and so can decide
	Gates  []Gate        `json:"gates"`   // the oldest first
}

// AnswerGateRequest is what this host's human decides.
type AnswerGateRequest struct {
	Path      string       `json:"path"`                 // the message that asks
	Act       protocol.Act `json:"act"`                  // party-accept, party-reject or party-defer
	Reason    string       `json:"reason,omitempty"`     // may be empty
	Until     time.Time    `json:"until,omitzero"`       // until when it is put off, UTC
	TakesBack string       `json:"takes_back,omitempty"` // the hash of the decision that this one takes back
	Hsig      string       `json:"hsig"`                 // the human's signature, base64url
	Seen      string       `json:"seen,omitempty"`       // their signature of what they were shown of the asker, base64url
}

// ShowMesh is who is in parties with whom, and how far they are in sync, on all hosts, in a form
// that a program can draw (seed, "Mesh Data Contract").
var ShowMesh = NewStream[MeshRequest, Mesh](VerbSpec{
	Name: "mesh", Access: Reads, Doing: "show the mesh", Long: true,
	Doc: "Shows the parties of all hosts as a graph, and with `follow` goes on with what changes.",
}, func(r MeshRequest) bool { return r.Follow })

// MeshRequest asks for the mesh as it is now. With Follow, changes come after it. Each is a mesh
// with only what is new or different, and what is gone.
type MeshRequest struct {
	Follow bool `json:"follow,omitempty"`
}

// Mesh is a graph of parties: those that have begun and are not over.
type Mesh struct {
	Nodes []MeshNode `json:"nodes"`          // members of parties and the humans who lead them, by id
	Edges []MeshEdge `json:"edges"`          // one for each party and member, and one back where that member has asked too
	Time  time.Time  `json:"ts,omitzero"`    // the time of this state, UTC
	Gone  *MeshGone  `json:"gone,omitempty"` // of a change: what is no longer there
}

// MeshGone are the ids that a mesh no longer has.
type MeshGone struct {
	Nodes []string `json:"nodes"` // of nodes
	Edges []string `json:"edges"` // of edges
}

// MeshNode is one participant. The program that draws it decides where it is.
type MeshNode struct {
	ID    string       `json:"id"`    // the agent's name, or HUMAN@HOST
	Label string       `json:"label"` // its name
	Type  string       `json:"type"`  // agent or human
	Data  MeshNodeData `json:"data"`  // what is known of it
}

// MeshNodeData is what is known of a participant, over all its parties.
type MeshNodeData struct {
	Node     protocol.Name `json:"node"`              // its host
	Status   string        `json:"status"`            // active, idle, compacted, away, dormant, hidden or busy; "" for a human
	Trust    topic.Trust   `json:"trust"`             // by its last sync; "" for a human
	LastSync time.Time     `json:"lastSync,omitzero"` // time of its last score in any party, UTC; if it has none, when it joined; absent for a human
}

// MeshEdge is the relation of two participants of a party.
type MeshEdge struct {
	ID     string       `json:"id"`     // it stays the same as long as there is such an edge
	Source string       `json:"source"` // of a forward edge, the agent through which the party is led, or its human once that agent has left; of a back edge, the member
	Target string       `json:"target"` // the one whose score it is
	Data   MeshEdgeData `json:"data"`   // how far they are in sync
}

// MeshEdgeData is how far the target of an edge is in sync. Fields that depend on time
// (decayedScore, colour, opacity, dashed, sparkline) are as of the mesh's time. If only they
// change, there is no change to tell.
type MeshEdgeData struct {
	Direction    string             `json:"direction"`         // forward: the score of the member, whoever asked; back: the score that the member was given when it asked
	Party        string             `json:"party"`             // what identifies the party
	Channel      protocol.ChannelID `json:"channel"`           // the channel of the party
	Leader       string             `json:"leader"`            // the node of the human who leads it
	Topic        string             `json:"topic"`             // the name of the party
	Anchor       string             `json:"anchor"`            // the issue of the party; "" for none
	Team         string             `json:"team"`              // the party's tag; "" for none
	Role         string             `json:"role"`              // of the target: initiator or member
	Trust        topic.Trust        `json:"trust"`             // the trust in the target
	Synced       bool               `json:"synced"`            // there is a score; otherwise the fields below mean nothing
	Raw          float64            `json:"syncRaw"`           // the last score on the topic, 0 to 1
	Decayed      float64            `json:"decayedScore"`      // what that score is worth now
	Lambda       float64            `json:"lambda"`            // how fast it loses its worth: the λ of the decay, for each hour
	LastSync     time.Time          `json:"lastSync,omitzero"` // when it was scored, or when the member joined, UTC
	Observer     string             `json:"source"`            // the one who asked, and so observed the score; "" for nobody
	ObserverNode string             `json:"sourceNode"`        // the host of that one; "" if it is not known
	Colour       topic.Colour       `json:"colour"`            // green from 0.9, amber from 0.7, cyan from 0.5, else gray
	Opacity      float64            `json:"opacity"`           // 0.1 to 1, by the decayed score
	Dashed       bool               `json:"dashed"`            // the score is older than three half-lives
	Sparkline    []float64          `json:"sparkline"`         // the last seven scores of the member, decayed to now; empty on a back edge
}
