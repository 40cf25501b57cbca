package fleet

import (
	"maps"
	"slices"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// ThreadItem is a message in the tree of a conversation.
type ThreadItem struct {
	*Item
	Depth int // 0 for the first message of the conversation
}

// Thread is the whole conversation of the message at `p`, as a tree, depth first. It begins with
// the first message. Below each message stand its answers, and what agents asked others because of
// it, in the order of the record. It is empty if there is no such message.
func (t *Talk) Thread(p protocol.Path) []ThreadItem {
	root := t.ledger.at(p)
	if root == nil {
		return nil
	}
	seen := map[protocol.Path]bool{root.Path: true}
	for {
		up := t.above(root)
		if up == nil || seen[up.Path] {
			break
		}
		seen[up.Path] = true
		root = up
	}
	var tree []ThreadItem
	seen = map[protocol.Path]bool{root.Path: true}
	for open := []ThreadItem{{root, 0}}; len(open) > 0; {
		next := open[len(open)-1]
		open = open[:len(open)-1]
		tree = append(tree, next)
		for _, it := range slices.Backward(t.below(next.Path)) {
			if !seen[it.Path] {
				seen[it.Path] = true
				open = append(open, ThreadItem{it, next.Depth + 1})
			}
		}
	}
	return tree
}

// above is the message below which `it` stands in a thread; nil if there is none.
func (t *Talk) above(it *Item) *Item {
	if p, ok := it.asideOf(); ok {
		return t.ledger.at(p)
	}
	return t.answered(it)
}

// below are the messages that stand below the one at `p` in a thread, in the order of the record.
func (t *Talk) below(p protocol.Path) []*Item {
	all := sequence{items: slices.Clone(t.Answers(p))}
	for _, it := range t.Sent(p) {
		all.insert(it)
	}
	return all.items
}

// Progress is how far a message has come with one of its addressees.
type Progress struct {
	Name     string
	Read     bool
	Answered bool
}

// Progress says of each addressee whether it has read and answered the message. For a message to
// all these are all participants of the fleet except the author, and anybody else who read or
// answered it.
func (t *Talk) Progress(it *Item) []Progress {
	if it.Type != protocol.TypeText {
		return nil
	}
	names := t.expected(it)
	read, answered := map[string]bool{}, map[string]bool{}
	for _, r := range receipts.find(t.ledger, it.Path) {
		if t.receiptCounts(r, it) && t.addresses(it, r.Author().Name) {
			read[r.Author().Name] = true
		}
	}
	for _, a := range t.Answers(it.Path) {
		if t.addresses(it, a.Author().Name) {
			answered[a.Author().Name] = true
		}
	}
	if it.ToAll() {
		names = slices.AppendSeq(slices.AppendSeq(names, maps.Keys(read)), maps.Keys(answered))
		slices.Sort(names)
		names = slices.Compact(names)
	}
	return each.Of(names, func(name string) Progress {
		return Progress{Name: name, Read: read[name] || answered[name], Answered: answered[name]}
	})
}

// expected are the names that a message is to reach: its addressees or, if it is to all, those in
// the fleet's directory.
func (t *Talk) expected(it *Item) []string {
	if it.ToAll() {
		return slices.DeleteFunc(t.people.All(), func(name string) bool { return name == it.Author().Name })
	}
	return it.names()
}
