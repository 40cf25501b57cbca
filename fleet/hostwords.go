package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/people"
	"github.com/parleyfleet/parley/protocol"
)

// Join brings a host and its key into the fleet, or tells the fleet that something has changed:
// whom the host serves, or where it is reached. If the record already says the same, it gives no
// message, unless Again is true.
type Join struct {
	Host  protocol.HostState
	Again bool
}

// joinAnew is what a host can do whose last key was revoked.
const joinAnew = "join again with a new home and another alias: parley --home DIR join URL --alias NAME"

func (c Join) decide(s *State, _ time.Time) ([]Draft, error) {
	h, joined := s.Keys().Host(c.Host.Host)
	switch {
	case !joined && s.Keys().Bearer(c.Host.Key) != "":
		alias := s.Keys().Bearer(c.Host.Key)
		return nil, refuse(Forbidden, "write alias: "+alias.String()+" in config.yaml; for another name, join with a new home",
			"the key of this home is that of the host %s, and a host keeps its name", alias)
	case !joined:
		return []Draft{s.hostDraft(protocol.ActHostJoin, c.Host)}, nil
	case h.Key != c.Host.Key:
		return nil, refuse(Forbidden, "choose another alias for this host",
			"the fleet has a host called %s already, with another key", c.Host.Host)
	case h.Out():
		return nil, refuse(Forbidden, joinAnew,
			"%s is out, and the fleet takes no word of it any more: %s", h.Alias, h.WhyOut())
	case !h.Announced(): // others have named it before it said a word
		return []Draft{s.hostDraft(protocol.ActHostJoin, c.Host)}, nil
	}
	if !c.Again && says(h, c.Host) {
		return nil, nil
	}
	news := c.Host
	news.Key = ""
	return []Draft{s.hostDraft(protocol.ActHostAgents, news)}, nil
}

// says reports whether the host has said all of that already.
func says(h *keys.Host, s protocol.HostState) bool {
	return len(h.Unread) == 0 && (s.Hostname == "" || h.Hostname == s.Hostname) && slices.Equal(h.Addresses, s.Addresses) &&
		slices.Equal(h.Humans, s.Humans) && slices.EqualFunc(h.Agents, s.Agents, equalAgents)
}

func equalAgents(a, b protocol.HostedAgent) bool {
	return a.Name == b.Name && slices.Equal(a.Tiers, b.Tiers) && a.TakeoverAfter == b.TakeoverAfter && a.AsksRerun == b.AsksRerun
}

// hostDraft is a message in which a host says something of itself or of others. It is addressed to
// the host's own name: every node reads it, and no program takes it for mail to a participant.
func (s *State) hostDraft(act protocol.Act, says protocol.HostWord) Draft {
	host := says.Speaker().String()
	return Draft{
		Message: protocol.Message{
			From: host,
			To:   []protocol.Address{{Name: host}},
			Type: protocol.TypeText,
			Act:  act,
			Body: protocol.FormatHostWord(act, says),
		},
		Channel: s.system,
	}
}

// Rotate gives a host a new key. The old key must sign the message.
type Rotate struct {
	Host    protocol.Name
	Old     string
	Next    protocol.Rotation // with its proof; Overlap sets its Until
	Overlap time.Duration     // how long the old key still counts
	Last    []protocol.RunEnd // the last messages of the old key that count; see Chains.Heads
}

func (c Rotate) decide(s *State, now time.Time) ([]Draft, error) {
	h, joined := s.Keys().Host(c.Host)
	switch {
	case !joined || h.Key != c.Old:
		return nil, refuse(Forbidden, "", "the key of %s cannot be changed: it is not the one that this node signs with", c.Host)
	case h.Out():
		return nil, refuse(Forbidden, joinAnew, "the key of %s cannot be changed: it is revoked", c.Host)
	case h.Has(c.Next.Key):
		return nil, refuse(Senseless, "", "the key of %s cannot be changed: the new key was its key before", c.Host)
	}
	r := c.Next
	r.Until, r.Last = now.Add(c.Overlap).Truncate(time.Millisecond), c.Last
	if err := r.Check(s.anchor.RecordID, c.Old); err != nil {
		return nil, refuse(Senseless, "", "the key of %s cannot be changed: %v", c.Host, err)
	}
	return []Draft{s.hostDraft(protocol.ActHostRotate, r)}, nil
}

// Revoke ends a key of a host: what the key signed counts no more, except the messages in Last and
// those that led to them. It cannot be undone.
type Revoke struct {
	By    protocol.Name // the host that says so
	Human string        // who decided it (invariant 6)
	Of    protocol.HostKey
	Last  []protocol.RunEnd // see Chains.Ends
	// Removed says that the host itself has ended.
	Removed bool
}

func (c Revoke) decide(s *State, _ time.Time) ([]Draft, error) {
	if err := s.MayRevoke(c.By, c.Human, c.Of); err != nil {
		return nil, err
	}
	if said := s.Keys().Revocations(c.By, c.Of); said >= keys.MaxRevocations {
		return nil, refuse(Senseless, "", "the key %s of %s cannot be revoked once more: %d revocations of it by %s count, and no more do", c.Of.Key, c.Of.Host, said, c.By)
	}
	d := s.hostDraft(protocol.ActHostRevoke, protocol.Revocation{Host: c.By, Revokes: c.Of, Last: c.Last, Removed: c.Removed})
	d.Message.Human = c.Human
	return []Draft{d}, nil
}

// MayRevoke returns a *Refusal if the host `by` may not revoke a key in the name of `human`. A host
// may revoke its own keys. The founder may revoke those of others, in the name of a human with whom
// the record was begun.
func (s *State) MayRevoke(by protocol.Name, human string, of protocol.HostKey) error {
	h, joined := s.Keys().Host(of.Host)
	switch {
	case !joined:
		return refuse(Unknown, s.People.HostsHint(), "no host is called %q", of.Host)
	case !h.Has(of.Key):
		return refuse(Unknown, "see its keys: parley fleet show "+of.Host.String(), "%s is no key of the host %s", of.Key, of.Host)
	case of.Host == by:
		return nil
	}
	founder, humans := s.Keys().Founder()
	if by != founder {
		return refuse(Forbidden, "run it on the host "+founder.String()+", which began the record, or on "+of.Host.String()+" itself",
			"this host may not revoke a key of %s", of.Host)
	}
	if !slices.Contains(humans, protocol.Name(human)) {
		return refuse(Forbidden, "they are: "+people.JoinNames(humans),
			"%q may not have a key of %s revoked: only the humans may with whom the record was begun", human, of.Host)
	}
	return nil
}

// Vouch has a host say which keys of others it has seen before any other key claimed the same
// place.
type Vouch struct {
	Host  protocol.Name
	Knows []protocol.HostKey
}

// vouchedAtOnce is how many keys one message of this program names. So many of the longest keys fit
// into protocol.MinMessageLimit.
const vouchedAtOnce = 100

func (c Vouch) decide(s *State, _ time.Time) ([]Draft, error) {
	var drafts []Draft
	for knows := range slices.Chunk(c.Knows, vouchedAtOnce) {
		drafts = append(drafts, s.hostDraft(protocol.ActHostVouch, protocol.Vouch{Host: c.Host, Knows: knows}))
	}
	return drafts, nil
}

// Withhold has a host say that no host is to push some of its messages.
type Withhold struct {
	Host  protocol.Name
	Paths []protocol.Path
}

func (c Withhold) decide(s *State, _ time.Time) ([]Draft, error) {
	return []Draft{s.hostDraft(protocol.ActHostWithhold, protocol.Withholding{Host: c.Host, Paths: c.Paths})}, nil
}
