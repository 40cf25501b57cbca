package fleet

import (
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/protocol"
)

// An index finds messages by a value K that stands in them, in the archive and among loose
// messages. Each index is declared here and nowhere else.
type index[K comparable] struct {
	table int                      // its number, see indexes
	of    func(*Item) (K, bool)    // the value by which it finds the message, if there is one
	key   func(K) (archive uint64) // for archives
}

// The indexes of messages.
var (
	answering = &index[protocol.Path]{of: (*Item).AnsweredPath, key: pathKey} // by what they answer
	asideOf   = &index[protocol.Path]{of: (*Item).asideOf, key: pathKey}      // by the message because of which an agent wrote them, if they do not answer it
	receipts  = &index[protocol.Path]{of: (*Item).ReadPath, key: pathKey}     // by what they acknowledge
	hashed    = &index[string]{of: func(it *Item) (string, bool) { return it.Hash, true }, key: archive.Key}
	following = &index[string]{of: func(it *Item) (string, bool) { return it.Prev, it.Prev != "" }, key: archive.Key} // by the hash that they follow
	requested = &index[string]{of: func(it *Item) (string, bool) { return it.Request, it.Request != "" }, key: archive.Key}
	seated    = &index[slot]{of: func(it *Item) (slot, bool) { return it.slot(), it.Sealed }, key: func(at slot) uint64 { return archive.Key(at.String()) }}

	strangers = &index[correspondent]{of: (*Item).byStranger, key: correspondent.key} // unsigned mail by its channel and author
	agentsTo  = &index[correspondent]{of: (*Item).byAgent, key: correspondent.key}    // what agents wrote because of a message, by its channel and first addressee

	// Loose messages are found by these without a table of their own.
	pathed  = &archivedIndex{of: func(it *Item) uint64 { return pathKey(it.Path) }}
	endings = &archivedIndex{of: func(it *Item) uint64 { return suffixKey(it.Path) }} // by the suffix of the path, or else by the path below the channel
)

// indexes are all indexes, each at its number.
var indexes = numbered(answering, asideOf, receipts, hashed, following, requested, seated, strangers, agentsTo, pathed, endings)

func numbered(all ...anyIndex) []anyIndex {
	for i, x := range all {
		x.number(i)
	}
	return all
}

type anyIndex interface {
	number(table int)
	empty() any // the empty table of loose messages
	enter(l *loose, it *Item)
	leave(l *loose, it *Item)
	keyOf(it *Item) (key uint64, ok bool)
}

func (x *index[K]) number(table int) { x.table = table }

func (x *index[K]) empty() any { return map[K][]*Item{} }

func (x *index[K]) loose(l *loose) map[K][]*Item { return l.found[x.table].(map[K][]*Item) }

func (x *index[K]) enter(l *loose, it *Item) {
	if k, ok := x.of(it); ok {
		found := x.loose(l)
		found[k] = append(found[k], it)
	}
}

func (x *index[K]) leave(l *loose, it *Item) {
	if k, ok := x.of(it); ok {
		drop(x.loose(l), k, it)
	}
}

func (x *index[K]) keyOf(it *Item) (uint64, bool) {
	k, ok := x.of(it)
	if !ok {
		return 0, false
	}
	return x.key(k), true
}

func (x *index[K]) find(l *Ledger, k K) []*Item {
	return l.under(x.table, x.key(k), func(it *Item) bool {
		its, ok := x.of(it)
		return ok && its == k
	}, x.loose(&l.loose)[k])
}

// crowded reports, without reading a message, whether several may be under `k`.
func (x *index[K]) crowded(l *Ledger, k K) bool {
	for range l.archive.With(x.table, x.key(k)) {
		return true
	}
	return len(x.loose(&l.loose)[k]) > 1
}

// archivedIndex is an index that only archives have.
type archivedIndex struct {
	table int
	of    func(*Item) uint64
}

func (x *archivedIndex) number(table int)              { x.table = table }
func (x *archivedIndex) empty() any                    { return nil }
func (x *archivedIndex) enter(*loose, *Item)           {}
func (x *archivedIndex) leave(*loose, *Item)           {}
func (x *archivedIndex) keyOf(it *Item) (uint64, bool) { return x.of(it), true }

func pathKey(p protocol.Path) uint64 { return archive.PathKey(p.Channel().String(), p.Rel()) }

// suffixKey is the key of a message for finding it by the end of its name. If the name does not
// have the form that parley writes, it is found by its path below the channel.
func suffixKey(p protocol.Path) uint64 {
	if suffix := p.Suffix(); suffix != "" {
		return archive.Key(suffix)
	}
	return archive.Key(p.Rel())
}

// asideOf is the message because of which an agent wrote this one without answering any: what it
// asked others on the way to its answer.
func (it *Item) asideOf() (protocol.Path, bool) {
	if it.Re != "" || it.Type != protocol.TypeText {
		return protocol.Path{}, false
	}
	return it.CausePath()
}

// The lists of messages in archives.
const (
	listChannels = iota // by the channel's id
	listMail            // by the addressed name; mail to all is under ""
	listRead            // by name, the mail that the name has read
	listDeeds           // by the affair
	listCount
)

// layout is the shape of archives.
func layout(kinds []affair.Any) archive.Layout {
	return archive.Layout{Form: form(kinds), Indexes: len(indexes), Lists: listCount}
}
