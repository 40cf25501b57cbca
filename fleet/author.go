package fleet

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/protocol"
)

// by reports whether the participant is the author, by the message's own words: it has the same
// name and the same host. For an unsigned message only the name counts, unless it names a host too
// (R4).
func (it *Item) by(who Who) bool {
	a := it.Author()
	if it.Sealed {
		return a.Name == who.Name && it.Host == who.Host
	}
	return a.Name == who.Name && (a.Host == "" || a.Host == who.Host.String())
}

// AuthorOf addresses the author of a message that the host `here` answers. If a host signed the
// message and it is not `here`, the address has that host. Else it is the bare name (R15a). If the
// message is unsigned and names a host, that host stays in the address only if it is known to serve
// the name, or if the bare name would reach somebody else.
func (t *Talk) AuthorOf(it *Item, here protocol.Name) protocol.Address {
	to := it.Author()
	if t.ring().Signature(&it.File) == protocol.SignatureValid {
		to.Host = ""
		if it.Host != here {
			to.Host = it.Host.String()
		}
		return to
	}
	bare := protocol.Address{Name: to.Name}
	if t.people.ServesAt(to) || len(t.people.Group(to.Name, "")) > 0 || protocol.CheckAddress(bare) != nil {
		return to
	}
	return bare
}

// Answerable reports whether an answer to the message can be addressed. No agent is run for a
// message that cannot be answered or acknowledged: it would run again at each start. An author
// called "all" gets no answer either, because everybody would get it.
func (t *Talk) Answerable(it *Item) bool {
	to := t.AuthorOf(it, "")
	return to.Name != protocol.All && protocol.CheckAddress(to) == nil
}

// unanswerable is the refusal to answer or acknowledge such a message.
func unanswerable(it *Item) error {
	return refuse(Forbidden, "look at it without a receipt: parley show "+visible.Shell(it.Path.String()),
		"%s is from %q, and no message can be addressed to that name", it.Path, it.From)
}

// resolve reads an address and refuses one that would reach nobody: a name that
// is neither served, nor a human, nor anyone who ever wrote (R5).
func (s *State) resolve(c Say, text string) (protocol.Address, error) {
	if text == protocol.All {
		return protocol.Address{Name: protocol.All}, nil
	}
	to, err := protocol.ParseAddress(text)
	if err != nil {
		return to, refuse(Senseless, "", "cannot address the message: %v", err)
	}
	switch {
	case c.Cross && to.Host == "":
		return to, refuse(Senseless, "name the host first, as in white:mawjs; within one host use: parley hey",
			"a wormhole needs a host: %q names none", text)
	case to.Host == "" && to.Name == c.As.Name && len(s.elsewhere(c.As)) == 0:
		return to, refuse(Forbidden, "", "%s cannot write to itself", to.Name)
	case to.Name == c.As.Name && to.Host == c.As.Host.String():
		return to, refuse(Forbidden, "", "%s cannot write to itself", to.Name)
	case c.Anyway:
		return to, nil
	case to.Host != "":
		return to, s.People.CheckHosted(to)
	case s.People.Known(to.Name):
		return to, s.oneSession(c.As, to.Name)
	}
	return to, refuse(Unknown, s.People.Suggest(to.Name)+"; hey and send write to it all the same with --anyway", "nobody is called %q", to.Name)
}

// oneSession refuses a bare name that several sessions of agent programs have, none of them on the
// speaker's host: they are no group of which one could be chosen (R68).
func (s *State) oneSession(as Who, name string) error {
	on := s.People.ServedOn(name)
	isSession := func(h protocol.Name) bool {
		host, _ := s.Keys().Host(h)
		if host == nil {
			return false
		}
		a, _ := host.Serves(name)
		return a.IsSession()
	}
	if len(on) < 2 || slices.Contains(on, as.Host) || !slices.ContainsFunc(on, isSession) {
		return nil
	}
	addresses := each.Of(on, func(h protocol.Name) string { return h.String() + ":" + name })
	return refuse(Senseless, "say which, such as "+addresses[0], "several sessions are called %q: %s", name, strings.Join(addresses, ", "))
}

// Between is the channel that `who` and the addressee have in common. The error, a *Refusal, says
// why nothing could be sent there.
func (s *State) Between(who Who, addressee string) (protocol.ChannelID, error) {
	to, err := s.resolve(Say{As: who}, addressee)
	if err != nil {
		return "", err
	}
	if to.Name == protocol.All {
		return protocol.DeriveChannel(s.anchor.RecordID, protocol.All), nil
	}
	return protocol.DeriveChannel(s.anchor.RecordID, who.Name, to.Name), nil
}

// elsewhere are the other hosts that serve the participant's name.
func (s *State) elsewhere(who Who) []protocol.Name {
	return slices.DeleteFunc(s.People.ServedOn(who.Name), func(h protocol.Name) bool { return h == who.Host })
}
