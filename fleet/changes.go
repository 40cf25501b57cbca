package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Changes is what the last Apply, Take or TakeAll changed in the order of the record.
// It holds until the next.
type Changes struct {
	Came  []*Item // they stand at their paths, and did not before
	Left  []*Item // they stood at their paths, and do not any more: other files have won them
	Moved []Move  // they stand elsewhere in the order
}

// Move is a message that stands elsewhere than before.
type Move struct {
	*Item
	From time.Time // where it stood
}

// Changes is what the last Apply, Take or TakeAll changed. A Batch tells nothing.
func (l *Ledger) Changes() Changes { return l.changes }

// left notes that an item with a place stands at its path no more.
func (c *Changes) left(it *Item) { c.Left = append(c.Left, it) }

// placed notes that an item goes to another place, if it had one. It may have lost
// its path and won it again since it was last told of.
func (c *Changes) placed(it *Item, to time.Time) {
	if !it.placed {
		i := slices.Index(c.Left, it)
		if i < 0 {
			c.Came = append(c.Came, it)
			return
		}
		c.Left = slices.Delete(c.Left, i, i+1)
	}
	if !it.Place.Equal(to) {
		c.Moved = append(c.Moved, Move{it, it.Place})
	}
}

// Epoch rises whenever what a host has said comes to be judged otherwise: its keys have
// changed, or whom it has declared. While the epochs of the hosts that a look used have not risen,
// another look judges the same.
func (s *State) Epoch(host protocol.Name) int { return s.keys.Epoch(host) }

// Epochs is the sum of the epochs of all hosts.
func (s *State) Epochs() int { return s.keys.Epochs() }

// Turn is how often a message came to a place in a channel, or left one, since this state
// was made. Two looks at the same turn have seen the same messages there. A later
// look may find n messages behind the last one that an earlier look saw. If the turn rose by n, these
// have come and nothing else is changed. The turn of "" is for all channels together.
func (s *State) Turn(c protocol.ChannelID) int { return s.turned[c] }
