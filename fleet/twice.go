package fleet

import "github.com/parleyfleet/parley/protocol"

// AnsweredBefore is the first answer that another host's instance of the same agent gave to the
// same message. It is false where this answer is of the same host. It happens where the chosen
// host was cut off from bus and remote while its command ran, and another one took its work
// over. Both answers are kept, and the second is marked (R7).
func (t *Talk) AnsweredBefore(it *Item) (*Item, bool) {
	p, ok := it.AnsweredPath()
	if !ok || it.Type != protocol.TypeText || it.Host == "" {
		return nil, false
	}
	asked, name := t.ledger.at(p), it.Author().Name
	if asked == nil || !asked.asksOneOf(name) {
		return nil, false
	}
	for _, first := range t.Answers(p) {
		if first.Author().Name == name && first.Host != "" {
			return first, first.Host != it.Host
		}
	}
	return nil, false
}

// asksOneOf reports whether a message is for an agent on whichever host: one instance of it
// is to answer, not each that is named.
func (it *Item) asksOneOf(agent string) bool {
	for _, to := range it.To {
		if to.Name == agent && to.Host != "" {
			return false
		}
	}
	return it.ToAll() || addressedBefore(it.To, agent)
}
