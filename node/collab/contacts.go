package collab

import (
	"math"
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
	mu       sync.Mutex           // guards what follows
	seen     seen                 // when all channels were counted
	going    seen                 // when that was begun last
	left     []protocol.ChannelID // those that were not counted then yet
	channels map[protocol.ChannelID]*tally
	of       map[pair]map[protocol.ChannelID]struct{} // where two have written to each other
	sums     map[pair]sum                             // as of seen: in many parties the same two are asked for many times
}

// sum is what two wrote to each other in all channels.
type sum struct {
	served   [2]bool // whether a host serves them
	sessions topics.Sessions
	messages int
}

// seen is what a state was when it was looked at.
type seen struct {
	state         *fleet.State
	turns, epochs int
}

// tally is what was counted in a channel.
type tally struct {
	turn    int                   // of the channel, when that was begun
	partial bool                  // there is more that was there at that turn
	last    *fleet.Item           // where that stood when it was counted, and nothing else of it
	judged  map[protocol.Name]int // the epochs of the hosts whose signatures were looked at
	said    map[direction]days
}

// direction is who wrote to whom. What a host has signed that serves the author counts
// always, anything else while nobody serves them.
type direction struct {
	from, to string
	signed   bool
}

// days are messages by their days, in UTC: how many days since 1970.
type days map[int64]day

// day is what was written on one day.
type day struct {
	first    time.Time
	messages int
}

// pair is two names in their order.
type pair [2]string

func pairOf(a, b string) pair {
	if b < a {
		a, b = b, a
	}
	return pair{a, b}
}

func newContacts() *contacts {
	return &contacts{channels: map[protocol.ChannelID]*tally{}, of: map[pair]map[protocol.ChannelID]struct{}{}, sums: map[pair]sum{}}
}

// between are the sessions of two, and how many messages they wrote to each other in all.
// It is asked in a look at the state.
func (c *contacts) between(s *fleet.State, a, b string) (sessions topics.Sessions, messages int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count(s, math.MaxInt)
	two := pairOf(a, b)
	served := [2]bool{len(s.People.ServedOn(two[0])) > 0, len(s.People.ServedOn(two[1])) > 0}
	if known, ok := c.sums[two]; ok && known.served == served {
		return known.sessions, known.messages
	}
	var wrote [2]days
	for i, from := range two {
		wrote[i] = days{}
		to := two[1-i]
		for channel := range c.of[two] {
			t := c.channels[channel]
			if t.turn != s.Turn(channel) {
				continue // nothing is left in it
			}
			messages += wrote[i].add(t.said[direction{from, to, true}])
			if !served[i] {
				messages += wrote[i].add(t.said[direction{from, to, false}])
			}
		}
	}
	for on, mine := range wrote[0] {
		if theirs, both := wrote[1][on]; both {
			sessions = append(sessions, later(mine.first, theirs.first))
		}
	}
	slices.SortFunc(sessions, time.Time.Compare)
	c.sums[two] = sum{served, sessions, messages}
	return sessions, messages
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// add adds other days, and says how many messages they have.
func (d days) add(more days) (messages int) {
	for on, what := range more {
		d.note(on, what)
		messages += what.messages
	}
	return messages
}

// note adds what was written on a day.
func (d days) note(on int64, what day) {
	known, ok := d[on]
	if !ok || what.first.Before(known.first) {
		known.first = what.first
	}
	known.messages += what.messages
	d[on] = known
}

// ahead counts at most so many messages that were not counted yet, and reports whether
// there are no more. It is asked in a look at the state.
func (c *contacts) ahead(s *fleet.State, most int) (done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count(s, most)
}

// count is ahead for who holds the mutex.
func (c *contacts) count(s *fleet.State, most int) (done bool) {
	now := seen{s, s.Turn(""), s.Epochs()}
	if c.seen == now {
		return true
	}
	if c.seen.state != s {
		clear(c.channels)
		clear(c.of)
		c.seen = seen{state: s}
	}
	if c.going != now { // else all channels would be gone through in each piece
		c.going, c.left = now, slices.Collect(s.Ledger.InUse())
	}
	for ; len(c.left) > 0; c.left = c.left[1:] {
		if most = c.countIn(s, c.left[0], most); most < 0 {
			return false
		}
	}
	c.seen = now
	clear(c.sums)
	return true
}

// countIn counts what a channel has that was not counted yet, and is how many messages
// more may be counted; less than none where it has more.
func (c *contacts) countIn(s *fleet.State, channel protocol.ChannelID, most int) (left int) {
	t, turn := c.channels[channel], s.Turn(channel)
	if t != nil && t.turn == turn && !t.partial && t.holds(s) {
		return most
	}
	if t == nil || !t.goesOn(s, channel, turn) {
		t = &tally{turn: turn, judged: map[protocol.Name]int{}, said: map[direction]days{}}
		c.channels[channel] = t
	}
	t.turn, t.partial = turn, false
	last, some := fleet.Item{}, false
	for it := range s.Ledger.Heads(channel, t.last) {
		if most--; most < 0 {
			t.partial = true
			break
		}
		t.add(s, it)
		last.Path, last.Place, some = it.Path, it.Place, true
	}
	if some {
		t.last = &last
	}
	for d := range t.said {
		two := pairOf(d.from, d.to)
		if c.of[two] == nil {
			c.of[two] = map[protocol.ChannelID]struct{}{}
		}
		c.of[two][channel] = struct{}{}
	}
	return most
}

// holds reports whether signatures are judged as they were.
func (t *tally) holds(s *fleet.State) bool {
	for host, epoch := range t.judged {
		if s.Epoch(host) != epoch {
			return false
		}
	}
	return true
}

// goesOn reports whether what was counted still holds, and only what stands behind it is
// to be added.
func (t *tally) goesOn(s *fleet.State, channel protocol.ChannelID, turn int) bool {
	if !t.holds(s) {
		return false
	}
	if t.turn == turn {
		return true
	}
	came := 0
	if t.last != nil && !t.partial {
		for range s.Ledger.ChannelAfter(channel, t.last) {
			if came++; came > turn-t.turn {
				break
			}
		}
	}
	return came == turn-t.turn // see State.Turn
}

// add counts a message, if it is its author's: what anybody may have pushed in somebody's
// name makes no trust.
func (t *tally) add(s *fleet.State, it *fleet.Item) {
	if it.Type != protocol.TypeText {
		return
	}
	signature, from := s.Signature(it), it.Author().Name
	if it.Host != "" {
		t.judged[it.Host] = s.Epoch(it.Host)
	}
	if signature == protocol.SignatureRefused {
		return
	}
	on := it.Timestamp.Unix() / int64(24*time.Hour/time.Second)
	for _, to := range it.To {
		if to.Name == from || to.Name == protocol.All {
			continue
		}
		d := direction{from, to.Name, signature == protocol.SignatureValid}
		if t.said[d] == nil {
			t.said[d] = days{}
		}
		t.said[d].note(on, day{it.Timestamp, 1})
	}
}
