package fleet

import (
	"iter"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// Who is a participant at a host: the one who acts, reads or is served.
type Who struct {
	Name string
	Host protocol.Name
}

// Inbox yields the mail of a participant in the order of the record: what is
// unread or, with all, everything. An agent sees what is addressed to its
// instances on its host, a human all that bears the name. The state must not
// change meanwhile.
func (t *Talk) Inbox(who Who, all bool) iter.Seq[*Item] {
	mail := t.ledger.mailOf(who.Name, !all && t.readHolds())
	return func(yield func(*Item) bool) {
		for it := range mail {
			if t.reaches(it, who) && (all || !t.isRead(it, who)) && !yield(it) {
				return
			}
		}
	}
}

// Reaches reports whether the message is for this participant (R4, R6, R7). It
// is addressed to it, not its own and not refused. Where several instances
// serve an agent's name, it is chosen for this one's host.
func (t *Talk) Reaches(it *Item, who Who) bool {
	return t.addresses(it, who.Name) && t.reaches(it, who)
}

// Sees reports whether the message is part of what the participant may be shown
// as its conversation: it wrote the message, or is addressed by it. Other
// people's mail is not.
func (t *Talk) Sees(it *Item, who Who) bool {
	return it.Type == protocol.TypeText && t.ring().Signature(&it.File) != protocol.SignatureRefused &&
		(it.by(who) || t.addresses(it, who.Name))
}

// InCommon reports whether a message stands in the channel that its author and those
// whom it is for have without anybody making it.
func (t *Talk) InCommon(it *Item) bool {
	names := []string{it.From}
	for _, to := range it.To {
		names = append(names, to.Name)
	}
	if it.ToAll() {
		names = []string{protocol.All}
	}
	return it.Path.Channel() == protocol.DeriveChannel(t.recordID, names...)
}

func (t *Talk) addresses(it *Item, name string) bool {
	if it.ToAll() {
		return it.Author().Name != name
	}
	return addressedBefore(it.To, name)
}

func (t *Talk) reaches(it *Item, who Who) bool {
	if it.Type != protocol.TypeText || t.ring().Signature(&it.File) == protocol.SignatureRefused || it.by(who) {
		return false
	}
	h, joined := t.ring().Host(who.Host)
	if !joined {
		return true
	}
	if _, serves := h.Serves(who.Name); !serves {
		return true
	}
	return t.ActingHost(it, who.Name) == who.Host
}

// chosenHost is the host whose instance of agent is to act on the message: the
// one that the sender chose, else by the rule over all that serve the name.
// Empty if no host with a key serves it.
func (t *Talk) chosenHost(it *Item, agent string) protocol.Name {
	if i, ok := it.ChosenFor(agent); ok && t.ring().Signature(&it.File) == protocol.SignatureValid {
		return i.Host
	}
	var group []protocol.Instance
	for _, a := range it.To {
		if a.Name == agent || a.Name == protocol.All {
			group = append(group, t.people.Group(agent, a.Host)...)
		}
	}
	if len(group) == 0 {
		return ""
	}
	return group[protocol.Select(it.Path.Rel(), len(group))].Host
}

// ActingHost is the host whose instance of agent is to act on the message. It is the one
// that has claimed it, as long as that serves the agent, else the one that is chosen.
// Empty if no host with a key serves it.
func (t *Talk) ActingHost(it *Item, agent string) protocol.Name {
	chosen := t.chosenHost(it, agent)
	if !t.ring().ServedBeside(chosen, agent) {
		return chosen // nobody else can have claimed it
	}
	if c := t.run(it.Path, agent).Claim; c != nil && t.serves(c.Host, agent) {
		return c.Host
	}
	return chosen
}

func (t *Talk) serves(host protocol.Name, agent string) bool {
	h, joined := t.ring().Host(host)
	if !joined || h.Out() {
		return false
	}
	_, serves := h.Serves(agent)
	return serves
}

// ServedOn are the hosts that serve an agent, by alias; where the message names some,
// only those of them. One of them is to act on the message.
func (t *Talk) ServedOn(it *Item, agent string) (hosts []protocol.Name) {
	for _, a := range it.To {
		if a.Name != agent && a.Name != protocol.All {
			continue
		}
		for _, i := range t.people.Group(agent, a.Host) {
			if !slices.Contains(hosts, i.Host) {
				hosts = append(hosts, i.Host)
			}
		}
	}
	slices.Sort(hosts)
	return hosts
}

// ClaimDue reports whether the participant must claim the message before acting on it. That is so
// where several hosts serve the name and the sender chose none of them: hosts can disagree for a
// moment about who serves it (R7).
func (t *Talk) ClaimDue(it *Item, who Who) bool {
	if _, ok := it.ChosenFor(who.Name); ok && t.ring().Signature(&it.File) == protocol.SignatureValid {
		return false
	}
	return len(t.ServedOn(it, who.Name)) > 1 && !t.Claimed(it, who)
}

// Claimed reports whether the record says that the participant's host has claimed the
// message.
func (t *Talk) Claimed(it *Item, who Who) bool {
	c := t.run(it.Path, who.Name).Claim
	return c != nil && c.Host == who.Host
}

// Elsewhere yields the unread messages for the participant's name on which another host is
// to act, and that host, in the order of the record: what the participant could take over.
// The state must not change meanwhile.
func (t *Talk) Elsewhere(who Who, limits Limits) iter.Seq2[*Item, protocol.Name] {
	return func(yield func(*Item, protocol.Name) bool) {
		for it := range t.ledger.mailOf(who.Name, t.readHolds()) {
			acting := t.ActingHost(it, who.Name)
			if acting == who.Host || t.isRead(it, who) || !slices.Contains(t.ServedOn(it, who.Name), who.Host) ||
				t.handling(it, who, limits) != Run {
				continue
			}
			if !yield(it, acting) {
				return
			}
		}
	}
}

// ChosenTier is the tier and worker of the participant that act on the message,
// by the same rule.
func (t *Talk) ChosenTier(it *Item, who Who) (tier string, n int) {
	if i, ok := it.ChosenFor(who.Name); ok && t.ring().Signature(&it.File) == protocol.SignatureValid && i.Host == who.Host {
		return i.Tier, i.N
	}
	group := t.people.Group(who.Name, who.Host.String()) // of which the rule chooses anew where the host took it over
	if len(group) == 0 {
		return "", 0
	}
	i := group[protocol.Select(it.Path.Rel(), len(group))]
	return i.Tier, i.N
}
