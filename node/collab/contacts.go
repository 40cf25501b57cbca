package collab

import (
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/protocol"
)

// contacts counts what two wrote to each other, wherever that was. It remembers how far it
// has counted in each channel: counting all anew at each look would take longer with every
// message.
type contacts struct {
	mu       sync.Mutex // guards what follows
	channels map[protocol.ChannelID]*tally
}

// tally is what was counted in a channel.
type tally struct {
	messages int // that the channel had then
	last     *fleet.Item
	days     map[pair]map[string]*day // by day, such as 2026-05-23, in UTC
}

// pair is two names in their order.
type pair [2]string

func pairOf(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

// day is what two wrote to each other on one day: each of the two's first message, and how
// many there were.
type day struct {
	first    [2]time.Time
	messages int
}

func newContacts() *contacts { return &contacts{channels: map[protocol.ChannelID]*tally{}} }

// between is every day's first message of each of the two, in their order, and how many
// messages there were in all. It is asked in a look at the state.
func (c *contacts) between(s *fleet.State, a, b string) (all []topics.Contact, messages int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	two := pairOf(a, b)
	for channel := range s.Ledger.InUse() {
		n, who, _ := s.Ledger.Said(channel)
		if !slices.Contains(who, a) || !slices.Contains(who, b) {
			continue
		}
		for _, d := range c.count(s, channel, n).days[two] {
			messages += d.messages
			for i, at := range d.first {
				if !at.IsZero() {
					all = append(all, topics.Contact{By: two[i], At: at})
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b topics.Contact) int { return a.At.Compare(b.At) })
	return all, messages
}

// count is what was said in a channel, which has that many messages. What came behind the
// last one is added; where anything came before it, all is counted anew.
func (c *contacts) count(s *fleet.State, channel protocol.ChannelID, messages int) *tally {
	t := c.channels[channel]
	if t != nil && t.messages == messages {
		return t
	}
	if t != nil {
		grown := &tally{messages: t.messages, last: t.last, days: t.days}
		for it := range s.Ledger.ChannelAfter(channel, t.last) {
			grown.add(s, it)
		}
		if grown.messages == messages {
			c.channels[channel] = grown
			return grown
		}
	}
	t = &tally{days: map[pair]map[string]*day{}}
	for it := range s.Ledger.Channel(channel) {
		t.add(s, it)
	}
	t.messages = messages // notes of the fleet's own are messages too, and no contact
	c.channels[channel] = t
	return t
}

// add counts a message, if it is its author's: what anybody may have pushed in somebody's
// name makes no trust.
func (t *tally) add(s *fleet.State, it *fleet.Item) {
	t.last = it
	if it.Type != protocol.TypeText {
		return
	}
	t.messages++
	from := it.Author().Name
	if s.Signature(it) != protocol.SignatureValid && (s.Signature(it) == protocol.SignatureRefused || len(s.People.ServedOn(from)) > 0) {
		return
	}
	for _, to := range it.To {
		if to.Name == from || to.Name == protocol.All {
			continue
		}
		two, on := pairOf(from, to.Name), it.Timestamp.UTC().Format(time.DateOnly)
		if t.days[two] == nil {
			t.days[two] = map[string]*day{}
		}
		d := t.days[two][on]
		if d == nil {
			d = &day{}
			t.days[two][on] = d
		}
		d.messages++
		by := &d.first[slices.Index(two[:], from)]
		if by.IsZero() || it.Timestamp.Before(*by) {
			*by = it.Timestamp
		}
	}
}
