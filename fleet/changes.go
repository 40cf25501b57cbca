package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Changes is what the last Apply, Take or TakeAll changed in the order of the record.
// It holds until the next.
type Changes struct {
	Came  []*Item // messages that stand at their paths now, and did not before
	Left  []*Item // messages that stood at their paths, and do not any more: other files have won the paths
	Moved []Move  // messages that have another place in the order
}

// Move is a message that has another place than before.
type Move struct {
	*Item
	From time.Time // where it stood
}

// Changes is what the last Apply, Take or TakeAll changed. A Batch tells nothing.
func (l *Ledger) Changes() Changes { return l.changes }

// left notes that an item with a place no longer stands at its path.
func (c *Changes) left(it *Item) { c.Left = append(c.Left, it) }

// placed notes that an item goes to another place, if it had one. It may have lost its path and won
// it again since the last time that Changes told of it.
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

// Epoch rises whenever what a host has said is judged differently: its keys have changed, or whom
// it has declared. As long as the epochs of the hosts on which a result depends have not risen, the
// same question gives the same result.
func (s *State) Epoch(host protocol.Name) int { return s.keys.Epoch(host) }

// Epochs is the sum of the epochs of all hosts.
func (s *State) Epochs() int { return s.keys.Epochs() }

// Turn counts how often a message came to a place in a channel, or left one, since this state was
// made. If the turn is the same at two times, the channel has the same messages. If it has risen by
// n, and n messages stand behind the last one that was seen before, then these have come and
// nothing else has changed. The turn of "" is for all channels together.
func (s *State) Turn(c protocol.ChannelID) int { return s.turned[c] }
