package fleet

import (
	"iter"

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

// Reaches reports whether the message is for this participant: addressed to it,
// not its own, not refused, and chosen for its host where an agent's name is
// served by several instances (R4, R6, R7).
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
	return t.chosenHost(it, who.Name) == who.Host
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

// ChosenTier is the tier and worker of the participant that act on the message,
// by the same rule.
func (t *Talk) ChosenTier(it *Item, who Who) (tier string, n int) {
	if i, ok := it.ChosenFor(who.Name); ok && t.ring().Signature(&it.File) == protocol.SignatureValid && i.Host == who.Host {
		return i.Tier, i.N
	}
	group := t.people.Group(who.Name, who.Host.String())
	if len(group) == 0 {
		return "", 0
	}
	i := group[protocol.Select(it.Path.Rel(), len(group))]
	return i.Tier, i.N
}
