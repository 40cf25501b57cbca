package collab

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// contacts counts what two wrote to each other, in whatever channel. It remembers how far it has
// counted in each channel: counting everything anew each time would take longer with every message.
type contacts struct {
	mu       sync.Mutex           // guards what follows
	seen     seen                 // the state at which all channels were last counted
	going    seen                 // the state at which counting was last begun
	left     []protocol.ChannelID // channels that were not counted yet since then
	channels map[protocol.ChannelID]*tally
	of       map[pair]map[protocol.ChannelID]struct{} // in which channels two have written to each other
	sums     map[pair]sum                             // as of `seen`: in many parties the same two are asked for many times
}

// sum is what two wrote to each other in all channels.
type sum struct {
	served   [2]bool // whether a host serves each of them
	sessions topic.Sessions
	messages int
}

// seen is a state at the time when it was looked at.
type seen struct {
	state         *fleet.State
	turns, epochs int
}

type tally struct {
	turn    int                   // turn of the channel when counting was begun
	partial bool                  // at that turn there were more messages than were counted
	last    *fleet.Item           // the last message that was counted; only its place is kept
	judged  map[protocol.Name]int // the epochs of the hosts whose signatures were judged
	said    map[direction]days
}

// direction is who wrote to whom. A message counts always if a host that serves its author has
// signed it. Any other message counts only while no host serves its author.
type direction struct {
	from, to string
	signed   bool
}

// days are messages by day: the key is the number of days since 1970, in UTC.
type days map[int64]day

type day struct {
	first    time.Time
	messages int
}

// pair is two names, sorted.
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

// between are the sessions of two, and how many messages they wrote to each other in all. It is
// asked while the state is read.
func (c *contacts) between(s *fleet.State, a, b string) (sessions topic.Sessions, messages int) {
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

func (d days) add(more days) (messages int) {
	for on, what := range more {
		d.note(on, what)
		messages += what.messages
	}
	return messages
}

func (d days) note(on int64, what day) {
	known, ok := d[on]
	if !ok || what.first.Before(known.first) {
		known.first = what.first
	}
	known.messages += what.messages
	d[on] = known
}

// ahead counts at most `most` messages that were not counted yet. It reports whether there are no
// more. It is asked while the state is read.
func (c *contacts) ahead(s *fleet.State, most int) (done bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.count(s, most)
}

// count is ahead for a caller that holds the mutex.
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
	if c.going != now { // otherwise all channels would be gone through in each piece
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

// countIn counts what was not counted yet in a channel. It returns how many more messages may be
// counted, or less than 0 if the channel has more.
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

// holds reports whether signatures are still judged as they were.
func (t *tally) holds(s *fleet.State) bool {
	for host, epoch := range t.judged {
		if s.Epoch(host) != epoch {
			return false
		}
	}
	return true
}

// goesOn reports whether what was counted still holds, so that only what stands behind it must be
// added.
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

// add counts a message if it is really its author's: a message that anybody may have pushed in
// somebody's name makes no trust.
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
