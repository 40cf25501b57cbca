package fleet

import (
	"iter"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// Other programs of the format answer without saying what they answer: they post a text, and then a
// receipt for the message that they have answered. So such a receipt takes the latest text that its
// author wrote to the author of the acknowledged message (R15a). This changes stages, threads, what
// ends a wait, and hops, which it can only raise. It never changes where a message stands. It is
// worked out when somebody asks for it, from the messages around. So nothing has to be kept, and
// the order in which files come makes no difference.

// unsaidReach is how many messages of its channel a receipt looks back.
const unsaidReach = 64

type exchange struct{ by, to string }

// says reports whether the message can be an answer in this exchange that does not say what it
// answers.
func (x exchange) says(it *Item) bool {
	return !it.Sealed && it.Type == protocol.TypeText && it.Re == "" && x.by != x.to && it.Author().Name == x.by && addressedBefore(it.To, x.to)
}

// asked is the message that a receipt of another program acknowledges, and the exchange to which it
// belongs. It is nil if `r` is no such receipt, or if a host with a key had declared its author
// before.
func (t *Talk) asked(r *Item) (x exchange, it *Item) {
	p, ok := r.ReadPath()
	if !ok || r.Sealed {
		return x, nil
	}
	it = t.ledger.at(p)
	if it == nil || it.Type != protocol.TypeText {
		return x, nil
	}
	x = exchange{by: r.Author().Name, to: it.Author().Name}
	if x.by == x.to || !t.addresses(it, x.by) || !t.undeclared(r, it) {
		return x, nil
	}
	return x, it
}

// undeclared reports whether no host with a key had declared the author of a receipt at the time
// when the receipt and its message were written.
func (t *Talk) undeclared(r, it *Item) bool {
	since := t.declaredSince(r.Author().Name, "")
	return since == nil || before(r, since) && before(it, since)
}

// taking is a receipt of an exchange, what it acknowledges and the text that it takes.
type taking struct{ receipt, asked, text *Item }

// takings goes through messages of a channel, in their order. Each receipt of the exchange takes
// the latest text before it that no earlier receipt took. To find what becomes of a receipt, the
// window must reach unsaidReach messages before it; of a text, as many behind it.
func (t *Talk) takings(x exchange, window []*Item) (all []taking) {
	var open []int // texts that no receipt has taken
	for i, it := range window {
		if x.says(it) {
			open = append(open, i)
			continue
		}
		y, asked := t.asked(it)
		if asked == nil || y != x {
			continue
		}
		for j := len(open) - 1; j >= 0 && i-open[j] <= unsaidReach; j-- {
			if text := window[open[j]]; mayAnswer(text, it, asked) {
				all = append(all, taking{it, asked, text})
				open = slices.Delete(open, j, j+1)
				break
			}
		}
	}
	return all
}

// mayAnswer reports whether a text can be the answer to the message that a receipt acknowledges.
// The text must come after that message. If the receipt itself is dated before the message, the
// author's clock is behind and the date says nothing. And the message must not be an answer to the
// text.
func mayAnswer(text, receipt, asked *Item) bool {
	if p, ok := asked.AnsweredPath(); ok && p == text.Path {
		return false
	}
	return before(asked, text) || receipt.Timestamp.Before(asked.Timestamp)
}

// unsaidAnswer is the text that a receipt takes. It is nil if it takes none.
func (t *Talk) unsaidAnswer(r *Item) *Item {
	x, asked := t.asked(r)
	if asked == nil {
		return nil
	}
	window := append(firstOf(t.ledger.ChannelBefore(r.Path.Channel(), r), unsaidReach), r)
	slices.Reverse(window[:len(window)-1])
	for _, took := range t.takings(x, window) {
		if took.receipt.Path == r.Path {
			return took.text
		}
	}
	return nil
}

// answered is the message that `it` answers, by its own words or by the receipt that took it. It is
// nil if there is none. The receipts behind `it` say which messages it may answer: its addressees
// do not, because anybody can address thousands.
func (t *Talk) answered(it *Item) *Item {
	if p, ok := it.AnsweredPath(); ok {
		return t.ledger.at(p)
	}
	if it.Sealed || it.Type != protocol.TypeText || it.Re != "" {
		return nil
	}
	window := append([]*Item{it}, firstOf(t.ledger.ChannelAfter(it.Path.Channel(), it), unsaidReach)...)
	looked := map[exchange]bool{}
	for _, r := range window[1:] {
		x, asked := t.asked(r)
		if asked == nil || looked[x] || !x.says(it) {
			continue
		}
		looked[x] = true
		for _, took := range t.takings(x, window) {
			if took.text.Path == it.Path {
				return took.asked
			}
		}
	}
	return nil
}

// hopsReach is how many answers Hops goes back. A message of an agent states the hops before it. So
// a way that is longer than this adds up step by step.
const hopsReach = 64

// Hops is how many answers of agents in a row lead to the message. The message states the number.
// The result is larger than that number if an answer of another program is on the way: such an
// answer states neither the number nor what it answers.
func (t *Talk) Hops(it *Item) int {
	most := it.Hops
	for n := 1; n <= hopsReach && (it.Hops > 0 || !it.Sealed && it.Re == ""); n++ {
		if it = t.answered(it); it == nil {
			break
		}
		most = max(most, n+it.Hops)
	}
	return most
}

// AwaitsReceipt reports whether the message may be another program's answer to the participant, and
// the receipt that would say so is not here yet. That is so if its author has left receipts in the
// channel, but none for what the participant has written to it since.
func (t *Talk) AwaitsReceipt(it *Item, who Who) bool {
	x := exchange{by: it.Author().Name, to: who.Name}
	if !x.says(it) || t.declaredSince(x.by, "") != nil || t.answered(it) != nil {
		return false
	}
	acknowledged, waits := map[protocol.Path]bool{}, false
	for _, earlier := range firstOf(t.ledger.ChannelBefore(it.Path.Channel(), it), unsaidReach) {
		if p, receipt := earlier.ReadPath(); receipt {
			if !earlier.Sealed && earlier.Author().Name == x.by {
				acknowledged[p] = true
			}
		} else if earlier.by(who) && addressedBefore(earlier.To, x.by) && !acknowledged[earlier.Path] {
			waits = true
		}
	}
	return waits && len(acknowledged) > 0
}

func firstOf(items iter.Seq[*Item], most int) (first []*Item) {
	for it := range items {
		if first = append(first, it); len(first) == most {
			break
		}
	}
	return first
}
