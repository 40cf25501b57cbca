package node

import (
	"maps"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
)

// The kinds of flags that files get which are not in the state.
const (
	flagSignature  = "signature"  // its signature does not hold
	flagReplay     = "replay"     // it is a signed message that was copied to another path
	flagUnreadable = "unreadable" // it is no message
)

// flags counts what is the matter with files of the record, by kind. The caller
// holds mu.
func (n *Node) flags() []control.Flag {
	counts := map[string]int{}
	for kind, count := range n.state.Flags() {
		counts[string(kind)] += count
	}
	for _, f := range n.flaws.List() {
		counts[n.flagOf(f)]++
	}
	all := []control.Flag{}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		all = append(all, control.Flag{Kind: kind, Count: counts[kind]})
	}
	return all
}

func (n *Node) flagOf(f books.Flaw) string {
	if !f.Refused {
		return flagUnreadable
	}
	if _, copied := n.state.Ledger.Original(f.Hash); copied && f.Hash != "" {
		return flagReplay
	}
	return flagSignature
}

// warnOfKey warns when a message comes that counts for nothing because of the key
// that signed it: once for each kind and key, all are counted. The caller holds mu.
func (n *Node) warnOfKey(it *fleet.Item) {
	kind := n.state.Kind(it)
	about := "key " + string(kind) + " " + it.Host.String() + " " + it.Key
	if kind != "" {
		n.notices.Once(about, "refused %s: %s", it.Path, n.state.Keys().Why(&it.File))
	}
}
