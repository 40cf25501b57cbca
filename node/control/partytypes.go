package control

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Parties lists the parties of the fleet, and ShowParty shows one with its members (R23).
// Nobody is asked for it: all of it follows from the record.
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

// Organize begins a party and DoInParty does something in one, for whom it is asked alone
// (R59). What an agent asks for that needs its human becomes a gate (R64).
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

// Gates lists what humans are asked, and AnswerGate is what one of them decides (R35, R38).
// The signature is made in the program at which the human sits: no node has their key.
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
	Fleet  bool   `json:"fleet,omitempty"`  // all that are in the record
	Team   string `json:"team,omitempty"`   // only those with that tag
	Closed bool   `json:"closed,omitempty"` // those that are over too
}

// PartyList are parties, the last one in which something was done first.
type PartyList struct {
	Me      string  `json:"me"`               // whose they are; "" for those of the fleet
	Chosen  string  `json:"chosen,omitempty"` // why it is theirs, where nobody was named
	Current string  `json:"current"`          // the message that began the one that is meant where none is named; "" for none
	Parties []Party `json:"parties"`          // those that were asked for
}

// PartyRequest names a party: by its short form or name, by its channel, or by the message
// that began it. Without a name the current one is meant.
type PartyRequest struct {
	Viewing
	Party string `json:"party,omitempty"`
}

// Party is a party as one sees it now.
type Party struct {
	Name         string              `json:"name"`                  // what it is called
	Slug         string              `json:"slug"`                  // the name's short form
	Short        string              `json:"short"`                 // what names it alone: the slug, with a part of its id where there are two of that slug
	Channel      protocol.ChannelID  `json:"channel"`               // where its words are
	Organized    string              `json:"organized"`             // the message that began it
	Host         protocol.Name       `json:"host"`                  // where that was
	State        string              `json:"state"`                 // proposed (its leader has not agreed), active or closed
	Current      bool                `json:"current"`               // it is meant where none is named
	Leader       string              `json:"leader"`                // the human who leads it
	Via          string              `json:"via"`                   // the agent through which they do
	Team         string              `json:"team"`                  // its tag; "" for none
	Anchor       string              `json:"anchor"`                // the issue that it hangs on; "" for none
	AnchorURL    string              `json:"anchorUrl"`             // that address; "" where that is not known
	Rules        protocol.PartyRules `json:"rules"`                 // by which it goes
	Created      time.Time           `json:"created,omitzero"`      // UTC
	LastActivity time.Time           `json:"lastActivity,omitzero"` // when something was said or done in it last, UTC
	Ended        time.Time           `json:"ended,omitzero"`        // when the last one left, UTC
	Members      []PartyMember       `json:"members"`               // in the order in which they came
	Gates        []Gate              `json:"gates"`                 // what humans were asked in it
	Proposals    []PartyProposal     `json:"proposals"`             // what was put to it
	Tasks        []PartyTask         `json:"tasks"`                 // what is to be done
	Leases       []PartyLease        `json:"leases"`                // what is reserved now
	Left         []PartyDeparture    `json:"left"`                  // who was a member
	Synced       int                 `json:"synced"`                // how many members have a score
	Mean         *float64            `json:"mean,omitempty"`        // of their decayed scores; absent where none has one
	SyncDue      bool                `json:"syncDue"`               // by the rule sync_cadence its members should check how far they are in sync
	Void         []TopicVoid         `json:"void"`                  // what was said in it last that does not count
}

// PartyMember is an agent in a party.
type PartyMember struct {
	ID        string        `json:"id"`                // the agent
	Node      protocol.Name `json:"node"`              // its host
	Status    string        `json:"status"`            // active, idle, compacted, away, dormant, hidden or busy
	Note      string        `json:"note"`              // what it said of that; "" for nothing
	Role      string        `json:"role"`              // initiator or member
	Joined    time.Time     `json:"joined,omitzero"`   // UTC
	Raw       *float64      `json:"raw,omitempty"`     // its last score on the party's topic, 0 to 1; absent: it was never synced
	Decayed   *float64      `json:"decayed,omitempty"` // what that is worth now
	Colour    string        `json:"colour"`            // of the decayed score: green, amber, cyan or gray; "" for none
	Lambda    float64       `json:"lambda"`            // how fast it loses its worth, an hour
	LastSync  time.Time     `json:"lastSync,omitzero"` // when it had that score, UTC
	Trust     string        `json:"trust"`             // high, medium, initial or uncalibrated
	Sparkline []float64     `json:"sparkline"`         // its last scores, decayed to now
	Stale     bool          `json:"stale"`             // its decayed score is below kick_threshold; only people remove members
	OutOfSync bool          `json:"outOfSync"`         // its decayed score is below accept_threshold
	Resync    bool          `json:"resync"`            // a sync is suggested
	Heard     time.Time     `json:"heard,omitzero"`    // when it or its host was heard last, UTC
	Connected bool          `json:"connected"`         // its host is there now
	Since     time.Time     `json:"since,omitzero"`    // since when it has that status, as far as it said so, UTC
}

// Gate is what humans are asked, and what they said.
type Gate struct {
	ID        string          `json:"id"`                  // what names it in commands
	Path      string          `json:"path"`                // the message that asks
	For       string          `json:"for"`                 // organize, invite, join, broadcast, wish to invite, or wish to join
	Title     string          `json:"title"`               // that in words
	Party     string          `json:"party"`               // the party's name
	Channel   string          `json:"channel"`             // its channel
	By        string          `json:"by"`                  // who asks
	Human     string          `json:"human"`               // on whose behalf; "" for nobody's
	Whom      string          `json:"whom"`                // whom it is about; "" for nobody
	Host      protocol.Name   `json:"host"`                // whose human decides
	Deciders  []protocol.Name `json:"deciders"`            // who that is; none: any human of that host
	Here      bool            `json:"here"`                // this host's human decides it
	NoKey     bool            `json:"noKey"`               // it waits, because none of them has a key of their own
	Outcome   string          `json:"outcome"`             // pending, accepted, declined, deferred, contested or expired
	Time      time.Time       `json:"time,omitzero"`       // when it was asked, UTC
	AnswerBy  time.Time       `json:"answerBy,omitzero"`   // until then silence is no expiry, UTC; a later answer counts
	Until     time.Time       `json:"until,omitzero"`      // until when it is put off, UTC
	Reason    string          `json:"reason"`              // of what was decided; "" for none
	DecidedBy string          `json:"decidedBy"`           // who decided; "" for nobody yet
	Decided   time.Time       `json:"decided,omitzero"`    // when, UTC
	Answer    string          `json:"answer"`              // the message that says so; "" for none
	Proof     string          `json:"proof"`               // own-key, or open-key where that is kept without a passphrase; "" where nobody decided
	Shown     string          `json:"shown"`               // all that is shown to who decides: the body of the message
	Hash      string          `json:"hash"`                // hex SHA-256 of the message's file
	File      string          `json:"file,omitempty"`      // the message's file, base64; only where it was asked for
	TakesBack string          `json:"takesBack,omitempty"` // what a decision has to take back to say something else: the hash of the one that counts
}

// PartyProposal is an agreement that was put to a party.
type PartyProposal struct {
	ID      string      `json:"id"`            // its label
	Path    string      `json:"path"`          // the message that put it
	Text    string      `json:"text"`          // what is agreed
	By      string      `json:"by"`            // who put it
	Time    time.Time   `json:"time,omitzero"` // UTC
	Mode    string      `json:"mode"`          // who has to accept it: all, majority or leader-only
	Outcome string      `json:"outcome"`       // pending, accepted or declined
	Voters  []string    `json:"voters"`        // who may vote
	Votes   []PartyVote `json:"votes"`         // the last one of each
}

// PartyVote is a vote.
type PartyVote struct {
	Who    string    `json:"who"`           // whose it is
	Accept bool      `json:"accept"`        // or it declines
	Reason string    `json:"reason"`        // "" for none
	Time   time.Time `json:"time,omitzero"` // UTC
	Path   string    `json:"path"`          // the message
}

// PartyTask is something that is to be done.
type PartyTask struct {
	ID      string    `json:"id"`             // its label
	Path    string    `json:"path"`           // the message that put it on the list
	Text    string    `json:"text"`           // what is to be done
	By      string    `json:"by"`             // who put it there
	Time    time.Time `json:"time,omitzero"`  // UTC
	State   string    `json:"state"`          // free, taken or done
	Taker   string    `json:"taker"`          // who has it, or did it; "" for nobody
	Until   time.Time `json:"until,omitzero"` // when it is free again, unless its taker goes on, UTC
	Lapsed  bool      `json:"lapsed"`         // it is free because its taker's time was over
	Outcome string    `json:"outcome"`        // of what is done; "" for nothing said
	Done    time.Time `json:"done,omitzero"`  // UTC
}

// PartyLease is a reservation: advice to others, no lock.
type PartyLease struct {
	Path   string    `json:"path"`           // the message that reserved it
	Holder string    `json:"holder"`         // whose it is
	Things []string  `json:"things"`         // what is reserved
	Fence  int       `json:"fence"`          // a number that rises with each reservation of the party
	Time   time.Time `json:"time,omitzero"`  // UTC
	Until  time.Time `json:"until,omitzero"` // UTC
	Reason string    `json:"reason"`         // "" for none
}

// PartyDeparture is the end of a membership.
type PartyDeparture struct {
	ID      string        `json:"id"`            // the agent
	Node    protocol.Name `json:"node"`          // its host
	Time    time.Time     `json:"time,omitzero"` // UTC
	By      string        `json:"by"`            // itself, or who removed it
	Reason  string        `json:"reason"`        // "" for none
	Removed bool          `json:"removed"`       // another one removed it
	Path    string        `json:"path"`          // the message
}

// OrganizeRequest begins a party. Try asks what of it a human would sign: the plan of the
// answer, and nothing is written.
type OrganizeRequest struct {
	Acting
	Topic  string   `json:"topic"`
	With   []string `json:"with,omitempty"`   // agents to invite
	Team   string   `json:"team,omitempty"`   // a tag
	Anchor string   `json:"anchor,omitempty"` // the issue that it hangs on
	Origin string   `json:"origin,omitempty"` // the repository that a bare number is of
	Rules  string   `json:"rules,omitempty"`  // a JSON object with those that are not the usual ones
	Announcing
	Try  bool      `json:"try,omitempty"`  // only say what would be signed
	At   time.Time `json:"at,omitzero"`    // of the plan, UTC
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
	Introduce bool         `json:"introduce,omitempty"` // say who one is, before an invite
	Announcing
	Try  bool      `json:"try,omitempty"`  // only say what would be signed
	At   time.Time `json:"at,omitzero"`    // of the plan, UTC
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
	Tier    string    `json:"tier"`    // team, or fleet
	Text    string    `json:"text"`    // what was said
	Message string    `json:"message"` // that message; "" for none
	To      []ToldOne `json:"to"`      // whom it was for, and what became of it
	Skipped string    `json:"skipped"` // why nobody was told; "" where somebody was
}

// PartyPlan is what a human signs, before it is done. Act and Decides are all that the
// signature is about; it is about nothing where no signature is needed.
type PartyPlan struct {
	Me      string       `json:"me"`          // for whom it is done
	Leader  string       `json:"leader"`      // the human who leads the party
	Party   string       `json:"party"`       // the message that began it; "" where it is to be
	Act     protocol.Act `json:"act"`         // what is signed
	Decides string       `json:"decides"`     // of what; "" where no human has to sign it
	With    []string     `json:"with"`        // who is invited, as AGENT@HOST
	Anchor  string       `json:"anchor"`      // the issue, in full
	Consent bool         `json:"consent"`     // a human has to agree that agents of other hosts are told, as was asked for
	At      time.Time    `json:"at,omitzero"` // when it is said to begin or to be decided, UTC
}

// PartyDeed is what was done in a party.
type PartyDeed struct {
	Me        string        `json:"me"`                  // for whom it was done
	Chosen    string        `json:"chosen,omitempty"`    // why for that one, where nobody was named
	Messages  []string      `json:"messages"`            // what was written
	Party     Party         `json:"party"`               // as it is now
	Gate      *Gate         `json:"gate,omitempty"`      // what now waits for a human, of what was asked
	Failed    []string      `json:"failed"`              // of several things those that were not done, and why
	Announced *Announcement `json:"announced,omitempty"` // who was told, where somebody was to be
	Plan      PartyPlan     `json:"plan"`                // what was, or is to be, signed
}

// UsePartyRequest chooses a party for whom it is asked.
type UsePartyRequest struct {
	Acting
	Party string `json:"party"` // as in PartyRequest
}

// GatesRequest asks for gates: those that wait for this host's human, or all.
type GatesRequest struct {
	ID    string `json:"id,omitempty"`    // one alone, by its id or its message's path
	Fleet bool   `json:"fleet,omitempty"` // those of all hosts
	All   bool   `json:"all,omitempty"`   // those that are decided too
	Files bool   `json:"files,omitempty"` // with the files of their messages
}

// GateList are gates.
type GateList struct {
	Human  protocol.Name `json:"human"`  // of this host
	HasKey bool          `json:"hasKey"` // they can decide: they have a key of their own
	Gates  []Gate        `json:"gates"`  // the oldest first
}

// AnswerGateRequest is what this host's human decides.
type AnswerGateRequest struct {
	Path      string       `json:"path"`                // the message that asks
	Act       protocol.Act `json:"act"`                 // party-accept, party-reject or party-defer
	Reason    string       `json:"reason,omitempty"`    // may be empty
	Until     time.Time    `json:"until,omitzero"`      // of what is put off, UTC
	TakesBack string       `json:"takesBack,omitempty"` // the hash of the decision that this one takes back
	Hsig      string       `json:"hsig"`                // the human's signature, base64url
}
