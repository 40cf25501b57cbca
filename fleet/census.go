package fleet

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// census counts the messages of a state, or the messages that a state has beyond its archive. So a
// question about all of them, such as the list of channels, need not look at each message.
type census struct {
	talk    map[protocol.ChannelID]map[string]int // by the author or addressee in the channel; under "" all messages
	written map[authorship]int
}

// authorship is what the messages that are counted together have in common. Whether their
// signatures count depends only on this, except if a key was ended.
type authorship struct {
	host   protocol.Name
	key    string
	from   string
	kind   kind
	sealed bool
}

type kind uint8

const (
	kindMessage kind = iota
	kindReceipt
	kindWord // what a host says of itself
)

func (it *Item) kind() kind {
	switch {
	case it.Act.HostWord():
		return kindWord
	case it.Type == protocol.TypeRead:
		return kindReceipt
	}
	return kindMessage
}

func newCensus() census {
	return census{talk: map[protocol.ChannelID]map[string]int{}, written: map[authorship]int{}}
}

func (t census) clone() census {
	c := census{talk: make(map[protocol.ChannelID]map[string]int, len(t.talk)), written: maps.Clone(t.written)}
	for channel, who := range t.talk {
		c.talk[channel] = maps.Clone(who)
	}
	if c.written == nil {
		c.written = map[authorship]int{}
	}
	return c
}

// add adds `n` to the counts of an item: 1 counts it in, -1 out.
func (t census) add(it *Item, n int) {
	a := authorship{it.Host, it.Key, it.From, it.kind(), it.Sealed}
	if t.written[a] += n; t.written[a] == 0 {
		delete(t.written, a)
	}
	if it.Type != protocol.TypeText {
		return
	}
	who := t.talk[it.Path.Channel()]
	if who == nil {
		who = map[string]int{}
		t.talk[it.Path.Channel()] = who
	}
	count := func(name string) {
		if who[name] += n; who[name] == 0 {
			delete(who, name)
		}
	}
	count("")
	count(it.Author().Name)
	for _, to := range it.To {
		count(to.Name)
	}
	if len(who) == 0 {
		delete(t.talk, it.Path.Channel())
	}
}

// InUse yields the channels that have messages or receipts, in no order.
func (l *Ledger) InUse() iter.Seq[protocol.ChannelID] {
	return func(yield func(protocol.ChannelID) bool) {
		for c, seq := range l.channels {
			if len(seq.items) > 0 && !yield(c) {
				return
			}
		}
		for name := range l.archive.Names(listChannels) {
			c := protocol.ChannelID(name)
			if seq := l.channels[c]; len(seq.all()) == 0 && l.HasAny(c) && !yield(c) {
				return
			}
		}
	}
}

// HasAny reports whether any message or receipt is in the channel.
func (l *Ledger) HasAny(c protocol.ChannelID) bool {
	for range l.Channel(c) {
		return true
	}
	return false
}

// Said returns how many messages, without receipts, a channel has, who wrote or was addressed
// there, sorted, and the timestamp of the last message. The timestamp is zero if there is no
// message.
func (l *Ledger) Said(c protocol.ChannelID) (messages int, who []string, last time.Time) {
	old, more := l.archive.of.rest.census.talk[c], l.counted.talk[c]
	for name, n := range old {
		if name != "" && n+more[name] > 0 {
			who = append(who, name)
		}
	}
	for name, n := range more {
		if _, known := old[name]; !known && name != "" && n > 0 {
			who = append(who, name)
		}
	}
	slices.Sort(who)
	for it := range l.ChannelBackward(c) {
		if it.Type == protocol.TypeText {
			last = it.Timestamp
			break
		}
	}
	return old[""] + more[""], who, last
}

// wrote reports whether anybody of that name wrote, who is no host: nobody can write to a host.
func (l *Ledger) wrote(name string) bool {
	counted := l.archive.of.rest.census.written
	writer := func(a authorship) bool {
		return strings.Contains(a.from, name) && (&protocol.Message{From: a.from}).Author().Name == name && !(a.sealed && a.from == a.host.String()) && counted[a]+l.counted.written[a] > 0
	}
	for _, written := range []map[authorship]int{counted, l.counted.written} {
		for a := range written {
			if writer(a) {
				return true
			}
		}
	}
	return false
}

// Totals are how many messages a state holds of each kind.
type Totals struct {
	Messages, Receipts, HostWords int
	Unverified                    int       // messages without a signature that counts
	Unsure                        bool      // Unverified cannot be known without a look at each message, because a key was revoked
	First, Last                   time.Time // timestamps of the first and the last message, in the order of the record
	Hosts                         map[protocol.Name]HostTotals
}

// HostTotals are how many messages one host wrote.
type HostTotals struct{ Messages, Receipts int }

// Totals counts without a look at each message.
func (s *State) Totals() Totals {
	t := Totals{Hosts: map[protocol.Name]HostTotals{}}
	written := maps.Clone(s.Ledger.counted.written)
	for a, n := range s.Ledger.archive.of.rest.census.written {
		written[a] += n
	}
	for a, n := range written {
		h := t.Hosts[a.host]
		switch a.kind {
		case kindWord:
			t.HostWords += n
			continue
		case kindReceipt:
			t.Receipts += n
			h.Receipts += n
		default:
			t.Messages += n
			h.Messages += n
			counts, sure := false, true
			if a.sealed {
				counts, sure = s.keys.CountsAlways(keys.Signer{Host: a.host, Key: a.key}, a.from)
			}
			if !counts {
				t.Unverified += n
			}
			t.Unsure = t.Unsure || !sure && n > 0
		}
		t.Hosts[a.host] = h
	}
	for it := range s.Ledger.All() {
		if it.kind() == kindMessage {
			t.First = it.Timestamp
			break
		}
	}
	for it := range s.Ledger.Backward() {
		if it.kind() == kindMessage {
			t.Last = it.Timestamp
			break
		}
	}
	return t
}

func (t census) append(w *archive.Pen) {
	w.Number(uint64(len(t.written)))
	for _, a := range slices.SortedFunc(maps.Keys(t.written), authorship.compare) {
		w.Interned(a.host.String())
		w.Interned(a.key)
		w.Interned(a.from)
		w.Number(uint64(a.kind) | when(a.sealed, 1<<8))
		w.Number(uint64(max(0, t.written[a])))
	}
	w.Number(uint64(len(t.talk)))
	for _, c := range slices.Sorted(maps.Keys(t.talk)) {
		w.Interned(c.String())
		w.Number(uint64(len(t.talk[c])))
		for _, name := range slices.Sorted(maps.Keys(t.talk[c])) {
			w.Interned(name)
			w.Number(uint64(max(0, t.talk[c][name])))
		}
	}
}

func (a authorship) compare(b authorship) int {
	return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.key, b.key), cmp.Compare(a.from, b.from), cmp.Compare(a.kind, b.kind),
		cmp.Compare(when(a.sealed, 1), when(b.sealed, 1)))
}

func readCensus(r *archive.Cursor) census {
	t := newCensus()
	for n := r.Number(); n > 0 && !r.Bad(); n-- {
		a := authorship{host: protocol.Name(r.Interned()), key: r.Interned(), from: r.Interned()}
		is := r.Number()
		a.kind, a.sealed = kind(is), is&(1<<8) != 0
		t.written[a] = int(r.Number())
	}
	for n := r.Number(); n > 0 && !r.Bad(); n-- {
		who := map[string]int{}
		t.talk[protocol.ChannelID(r.Interned())] = who
		for m := r.Number(); m > 0 && !r.Bad(); m-- {
			name := r.Interned()
			who[name] = int(r.Number())
		}
	}
	return t
}

// FlagKind is a stable word for a problem of files: files that do not count, or files about which
// an operator should know.
type FlagKind string

// The kinds of flags.
const (
	FlagOtherKey FlagKind = "other-key" // signed with a key that is not its host's
	FlagLostJoin FlagKind = "lost-join" // a join to an alias that another key has
	FlagOldKey   FlagKind = "old-key"   // signed with a host's key outside of the time of that key
	FlagRevoked  FlagKind = "revoked"   // signed with a revoked key
	FlagFork     FlagKind = "fork"      // two messages at one place of a host's chain
	FlagHole     FlagKind = "hole"      // a message of a host's chain that is not here
	FlagConflict FlagKind = "conflict"  // another file has won its path
)

// Flags counts the files with a problem, by kind. A kind without any is left out.
func (s *State) Flags() map[FlagKind]int {
	flags := map[FlagKind]int{}
	set := func(kind FlagKind, n int) {
		if n > 0 {
			flags[kind] = n
		}
	}
	lost, others := s.keys.Strangers()
	old, revoked := s.keys.Refused()
	set(FlagLostJoin, lost)
	set(FlagOtherKey, others-lost)
	set(FlagOldKey, old)
	set(FlagRevoked, revoked)
	set(FlagFork, s.Chains.beside(func(*Item) bool { return true }))
	set(FlagHole, s.Chains.Holes())
	conflicts := 0
	for _, list := range s.Ledger.rivals {
		conflicts += len(list)
	}
	set(FlagConflict, conflicts)
	return flags
}
