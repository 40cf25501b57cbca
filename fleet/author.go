package fleet

import (
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
