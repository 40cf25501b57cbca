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

// Inbox yields the mail of a participant in the order of the record: what is unread or, with all,
// everything, and also what is said in inquiries. An agent sees what is addressed to its instances on
// its host. A human sees all that is addressed to the name. What was said to all before any host
// served the name is no unread mail: a new agent would begin with all old broadcasts. The state must
// not change during the iteration.
func (t *Talk) Inbox(who Who, all bool) iter.Seq[*Item] {
	mail := t.ledger.mailOf(who.Name, !all && t.readHolds())
	return func(yield func(*Item) bool) {
		since := t.declaredSince(who.Name, "")
		waits := func(it *Item) bool {
			return !it.Act.OfInquiry() && !t.ReadBy(it, who) && (since == nil || !it.ToAll() || !before(it, since))
		}
		for it := range mail {
			if t.reaches(it, who) && (all || waits(it)) && !yield(it) {
				return
			}
		}
	}
}

// MailMark tells whether the mail of a name can be another than before: it is the same as long as no
// mail has come or gone, and nothing has changed by which mail and receipts are judged. Meanwhile
// unread mail can only have been read.
type MailMark struct{ mail, left, judged, shaken, epochs int }

// MailMark takes the same time however much mail there is.
func (s *State) MailMark(name string) MailMark {
	l := s.Ledger
	m := MailMark{mail: len(l.mail[name]) + len(l.mail[""]) + l.listed(listMail, name).len + l.listed(listMail, "").len, left: l.left, epochs: s.keys.Epochs()}
	m.judged, m.shaken = s.turns()
	return m
}

// Reaches reports whether the message is for this participant (R4, R6, R7): it is addressed to the
// participant, is not their own and is not refused. If several instances serve an agent's name, an
// instance on this participant's host must be chosen.
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

// InCommon reports whether a message stands in the channel that its author and its addressees have
// without anybody making one.
func (t *Talk) InCommon(it *Item) bool {
	names := append(it.names(), it.From)
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
	if a, serves := h.Serves(who.Name); !serves || a.IsSession() && it.ToAll() {
		return true // sessions of one name are several agents: all hear what is said to all
	}
	return t.ActingHost(it, who.Name) == who.Host
}

// chosenHost is the host whose instance of `agent` is to act on the message: the one that the
// sender chose or, without a choice, the one that the rule finds among all that serve the name. It
// is empty if no host with a key serves it.
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

// ActingHost is the host whose instance of `agent` is to act on the message: the host that has
// claimed the message, as long as it serves the agent, else the chosen one. It is empty if no host
// with a key serves it.
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

// ServedOn are the hosts that serve an agent, by alias. If the message names hosts, only those
// count. One of them is to act on the message.
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

// ClaimDue reports whether the participant must claim the message before acting on it. It must if
// several hosts serve the name and the sender chose none of them, because hosts can disagree for a
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

// Elsewhere yields the unread messages for the participant's name on which another host is to act,
// together with that host, in the order of the record. The participant could take them over. The
// state must not change during the iteration.
func (t *Talk) Elsewhere(who Who, limits Limits) iter.Seq2[*Item, protocol.Name] {
	return func(yield func(*Item, protocol.Name) bool) {
		for it := range t.ledger.mailOf(who.Name, t.readHolds()) {
			acting := t.ActingHost(it, who.Name)
			if acting == who.Host || t.ReadBy(it, who) || !slices.Contains(t.ServedOn(it, who.Name), who.Host) ||
				t.handling(it, who, limits) != Run {
				continue
			}
			if !yield(it, acting) {
				return
			}
		}
	}
}

// ChosenTier is the participant's tier and worker that act on the message. The sender chose them,
// else the rule does.
func (t *Talk) ChosenTier(it *Item, who Who) (tier string, n int) {
	if i, ok := it.ChosenFor(who.Name); ok && t.ring().Signature(&it.File) == protocol.SignatureValid && i.Host == who.Host {
		return i.Tier, i.N
	}
	group := t.people.Group(who.Name, who.Host.String()) // if this host took the message over, the rule chooses among its own instances
	if len(group) == 0 {
		return "", 0
	}
	i := group[protocol.Select(it.Path.Rel(), len(group))]
	return i.Tier, i.N
}
