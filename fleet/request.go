package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// RequestFor is how long a request is known after the message to which it led. A request that is
// repeated within that time is not carried out again.
const RequestFor = 24 * time.Hour

// Requested is a command from a request with an id. The first message that carries it out bears the
// id.
type Requested struct {
	Command
	ID string
}

func (c Requested) decide(s *State, now time.Time) ([]Draft, error) {
	if err := protocol.CheckRequest(c.ID); err != nil {
		return nil, refuse(Senseless, "", "the request %.80q is refused: %v", c.ID, err)
	}
	drafts, err := c.Command.decide(s, now)
	if len(drafts) > 0 {
		drafts[0].Message.Request = c.ID
	}
	return drafts, err
}

// Requested is the message to which a request to a host led, if that was at most RequestFor ago.
// Only messages that the host signed count.
func (s *State) Requested(host protocol.Name, id string, now time.Time) (*Item, bool) {
	for _, it := range requested.find(s.Ledger, id) {
		if it.Host == host && s.Ledger.rank(it) == 2 && now.Sub(it.Timestamp) <= RequestFor {
			return it, true
		}
	}
	return nil, false
}

// Repeats reports whether a command would say again what the message `it` says: it has the same
// author and addressees, the same channel if the command names one, and answers the same message.
// Texts are not compared, because a state holds none. A command to all in a channel matches any list
// of addressees, because the message named those who were members then.
func Repeats(c Command, it *Item) bool {
	switch c := c.(type) {
	case Say:
		inChannel := c.channel() == it.Path.Channel()
		addressed := sameAddressees(c.To, it.To) || inChannel && slices.Contains(c.To, protocol.All)
		return it.From == c.As.Name && addressed && (c.Channel == "" || inChannel) && answers(it, c.Re)
	case Answer:
		return it.From == c.As.Name && answers(it, c.To)
	}
	return false
}

func answers(it *Item, asked protocol.Path) bool {
	p, _ := it.AnsweredPath()
	return p == asked
}

// sameAddressees reports whether the addresses that were asked for name the same participants as
// those of a message. Hosts are compared if both name one.
func sameAddressees(asked []string, to []protocol.Address) bool {
	if (&protocol.Message{To: to}).ToAll() {
		return slices.Contains(asked, protocol.All) // others may have been named besides
	}
	hosts := map[string]string{}
	for _, a := range to {
		hosts[a.Name] = a.Host
	}
	named := map[string]bool{}
	for _, text := range asked {
		a, err := protocol.ParseAddress(text)
		if err != nil {
			return false
		}
		host, there := hosts[a.Name]
		if !there || host != "" && a.Host != "" && host != a.Host {
			return false
		}
		named[a.Name] = true
	}
	return len(named) == len(hosts)
}

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
	one := func(to protocol.Address) bool { return to.Name == agent && to.Host != "" }
	return !slices.ContainsFunc(it.To, one) && (it.ToAll() || addressedBefore(it.To, agent))
}
