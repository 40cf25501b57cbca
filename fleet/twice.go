package fleet

import "github.com/parleyfleet/parley/protocol"

// AnsweredBefore is the first answer that the same agent gave to the same message, on another host.
// It is false if the first answer came from the host of this one. Two answers exist if the chosen
// host was cut off from bus and remote while its command ran, and another host took over its work.
// Both answers are kept, and the second is marked (R7).
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

// asksOneOf reports whether a message is for an agent without a host: then one instance of the
// agent is to answer.
func (it *Item) asksOneOf(agent string) bool {
	for _, to := range it.To {
		if to.Name == agent && to.Host != "" {
			return false
		}
	}
	return it.ToAll() || addressedBefore(it.To, agent)
}
