package parties

import (
	"time"

	"github.com/parleyfleet/parley/fleet/parties/party"
	"github.com/parleyfleet/parley/protocol"
)

// File is what a party's file says (contract of parties/<slug>.json, R23): a view of the party for
// other programs, written anew and never read back. It does not say what a score is worth now: its
// reader computes that from the score, its time and decay_lambda.
type File struct {
	Topic          string              `json:"topic"` // the short form: lines of sync.history.jsonl have that too
	Anchor         string              `json:"anchor"`
	AnchorURL      string              `json:"anchorUrl"`
	Rules          protocol.PartyRules `json:"rules"`
	Leader         FileLeader          `json:"leader"`
	Members        []FileMember        `json:"members"`
	PendingInvites []FileInvite        `json:"pendingInvites"`
	Created        string              `json:"created"`
	LastActivity   string              `json:"lastActivity"`
	Team           *string             `json:"team"`
}

// FileLeader is who leads the party: a human, always (R24).
type FileLeader struct {
	Human     string `json:"human"`
	ActingVia string `json:"actingVia"`
}

// FileMember is one member. A member that was never synced has the score 0, and the time when it
// joined as the time of its last sync (R23).
type FileMember struct {
	ID        string            `json:"id"`
	Node      protocol.Name     `json:"node"`
	Status    protocol.Presence `json:"status"`
	Role      string            `json:"role"`
	SyncScore float64           `json:"syncScore"`
	LastSync  string            `json:"lastSync"`
	Trust     string            `json:"trust"`
	JoinedAt  string            `json:"joinedAt"`
}

// FileInvite is an invite that a human has not answered yet. What was declined, and why, stands in
// the messages.
type FileInvite struct {
	Target        string        `json:"target"`
	InvitedAt     string        `json:"invitedAt"`
	InvitedBy     string        `json:"invitedBy"`
	Status        party.Outcome `json:"status"`
	DeferredUntil string        `json:"deferredUntil,omitempty"`
	ExpiresAt     string        `json:"expiresAt,omitempty"`
}

// Standing is what is known of a member besides the deeds of the party.
type Standing struct {
	Score  float64   // its last result on the topic of the party
	Synced time.Time // the time of that result; zero: it has none
	Trust  string    // the trust in it
}

// File makes the party's file. `said` is when something was last said in the party's channel.
func (p Party) File(said time.Time, standing func(party.Member) Standing) File {
	anchor, _ := protocol.ParseAnchor(p.Anchor, "")
	f := File{
		Topic: p.Slug.String(), Anchor: p.Anchor, AnchorURL: anchor.URL(), Rules: p.Rules, Leader: FileLeader{p.Leader.Human, p.Leader.Via},
		Members: []FileMember{}, PendingInvites: []FileInvite{}, Created: moment(p.Created),
	}
	if p.Team != "" {
		f.Team = &p.Team
	}
	last := latest(latest(p.Created, p.LastDeed), said)
	for _, m := range p.Members {
		of := standing(m)
		last = latest(last, of.Synced)
		if of.Synced.IsZero() {
			of.Synced = m.Joined
		}
		f.Members = append(f.Members, FileMember{
			ID: m.Name, Node: m.Host, Status: m.Presence, Role: m.Role(), SyncScore: of.Score, LastSync: moment(of.Synced), Trust: of.Trust, JoinedAt: moment(m.Joined),
		})
	}
	for _, g := range p.Gates {
		if g.For == ForInvite && g.Waits() {
			f.PendingInvites = append(f.PendingInvites, g.inFile())
		}
	}
	f.LastActivity = moment(last)
	return f
}

// inFile is an invite that waits, in the form of the party's file. An invite whose answers
// contradict each other waits like one without an answer.
func (g *Gate) inFile() FileInvite {
	i := FileInvite{Target: g.Whom.Name, InvitedAt: moment(g.At), InvitedBy: g.By, Status: g.Outcome(), ExpiresAt: moment(g.AnswerBy)}
	if g.Human != "" {
		i.InvitedBy = g.Human + " (via " + g.By + ")"
	}
	if a := g.Verdict(); a != nil {
		i.DeferredUntil = moment(a.Until)
	}
	if i.Status == party.Contested {
		i.Status = party.Pending
	}
	return i
}

// moment is a time in the form of the files, or "" for none. It goes to the millisecond, which
// tells apart two parties that begin in the same second.
func moment(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(protocol.TimestampLayout)
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Stems are what the files of parties are called, without .json, in the order in which the parties
// were organized. A stem is the party's slug. If an earlier party with that slug was not over when
// the party began, the beginning of the channel's id is added (R30). So a party keeps its name when
// another one ends.
func Stems(all []Party) []string {
	stems := make([]string, len(all))
	taken := func(p Party, stem string) bool {
		for i, earlier := range all {
			if stems[i] == stem && (!earlier.Over() || earlier.EndedAt().After(p.Created)) {
				return true
			}
		}
		return false
	}
	for i, p := range all {
		id := p.Organized.Channel().String()
		stem := p.Slug.String()
		for _, more := range []string{id[:8], id} { // the second one if a party's name is the same as the first
			if !taken(p, stem) {
				break
			}
			stem = p.Slug.String() + "-" + more
		}
		stems[i] = stem
	}
	return stems
}
