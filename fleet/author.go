package fleet

import "github.com/parleyfleet/parley/protocol"

// by reports whether the participant is the author as far as the message says: same
// name and same host. Of an unsigned one the name alone counts, unless it names a
// host (R4).
func (it *Item) by(who Who) bool {
	a := it.Author()
	if it.Sealed {
		return a.Name == who.Name && it.Host == who.Host
	}
	return a.Name == who.Name && (a.Host == "" || a.Host == who.Host.String())
}

// AuthorOf addresses the author of a message: at its host where that signed the
// message and is not the one that answers, else by the bare name (R15a). A host that
// an unsigned message names is kept only where it is known to serve that name, or where
// the bare name would reach somebody else.
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

// Answerable reports whether an answer to the message can be addressed. Nobody is run
// for what cannot be answered or acknowledged: it would be run again at each start. Nor
// is an author called "all" answered, which would be everybody.
func (t *Talk) Answerable(it *Item) bool {
	to := t.AuthorOf(it, "")
	return to.Name != protocol.All && protocol.CheckAddress(to) == nil
}

// unanswerable refuses to answer or acknowledge such a message.
func unanswerable(it *Item) error {
	return refuse(Forbidden, "look at it without a receipt: parley show "+it.Path.String(),
		"%s is from %q, and no message can be addressed to that name", it.Path, it.From)
}
