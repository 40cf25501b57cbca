package fleet

import (
	"slices"

	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Work names an agent's work on a message: who works, and for which message. The record shows it by
// what the agent wrote because of that message.
type Work struct {
	Who
	For protocol.Path
}

// Conversation is what agents have done in a conversation since a human last spoke in it.
type Conversation struct {
	Root protocol.Path // the first message: all others answer it, or were written because of it, directly or not
	// Runs is how often agents were run in the conversation for messages that agents had caused
	// (R13). Told says that a host has told that these are too many.
	Runs int
	Told bool
}

// Conversation is the conversation of a message. Only what stands in the record is counted, so
// every host that has the same messages gets the same count. A run that is under way counts from
// the first message that it wrote.
func (t *Talk) Conversation(it *Item) Conversation {
	c := t.conversations.of(t, it)
	return Conversation{Root: c.root, Runs: c.count(), Told: c.human.Before(c.held)}
}

// Root is the first message of the conversation of `it`, as far as its messages are here.
func (t *Talk) Root(it *Item) protocol.Path {
	t.conversations.renew(t)
	return t.conversations.root(t, it)
}

// Counted reports whether the work is among the runs of its conversation.
func (t *Talk) Counted(it *Item, w Work) bool {
	_, counted := t.conversations.of(t, it).runs[w]
	return counted
}

// Caused reports whether an agent has caused the message, so that a run for it counts against
// budgets (R13). If somebody has the message tried again, that person has caused the run.
func (t *Talk) Caused(it *Item, who Who) bool {
	t.conversations.renew(t)
	_, prompted := t.conversations.prompted(t, it)
	return (prompted || t.Hops(it) > 0) && t.run(it.Path, who.Name).Again == nil
}

// maxRooted bounds for how many messages it is kept to which conversation they belong. If there are
// more, all is dropped and found out again. A single conversation of that length is kept all the
// same: otherwise each of its messages would mean going through all others.
const maxRooted = 1 << 17

// conversations keeps the conversations that somebody has asked for, so that each is gone through
// only once. Messages that come later are added. If adding would give another result, everything is
// made anew.
type conversations struct {
	roots   map[protocol.Path]protocol.Path // the roots of the messages that were looked at
	found   map[protocol.Path]*conversation // by root
	prompts map[correspondent]prompt
	judged  int // the turn of the keys at the time of looking
	most    int // how many roots and prompts are kept; see maxRooted
}

// conversation is one conversation, from its first message on. It follows what messages themselves
// say. Unsigned mail that says nothing belongs where agents have written to its author.
type conversation struct {
	root  protocol.Path
	human affair.Position // where a human last spoke
	runs  map[Work]run    // since that time
	held  affair.Position // where a host last told that there were too many runs
}

// run is a piece of work that is counted.
type run struct {
	at     affair.Position
	starts int
}

func newConversations() conversations {
	return conversations{roots: map[protocol.Path]protocol.Path{}, found: map[protocol.Path]*conversation{}, prompts: map[correspondent]prompt{}, most: maxRooted}
}

func (c *conversations) clear() {
	clear(c.roots)
	clear(c.found)
	clear(c.prompts)
}

// renew drops everything if it may have changed, or if it has become too much.
func (c *conversations) renew(t *Talk) {
	if judged := t.judged(); judged != c.judged || len(c.roots)+len(c.prompts) > c.most {
		c.clear()
		c.judged = judged
	}
}

func (c *conversations) of(t *Talk, it *Item) *conversation {
	c.renew(t)
	root := c.root(t, it)
	found := c.found[root]
	if found == nil {
		found = &conversation{root: root, runs: map[Work]run{}}
		c.found[root] = found
		seen := map[protocol.Path]bool{}
		open := []*Item{t.ledger.at(root)}
		if open[0] == nil { // a damaged archive may list a message and not find it
			open = append(slices.Clone(t.caused(root)), it)
		}
		for len(open) > 0 {
			next := open[len(open)-1]
			open = open[:len(open)-1]
			if !seen[next.Path] {
				seen[next.Path] = true
				c.roots[next.Path] = root
				found.take(t, next)
				open = append(open, c.below(t, next)...)
			}
		}
		c.has(len(seen))
	}
	return found
}

// root is the first message of the conversation of `it`.
func (c *conversations) root(t *Talk, it *Item) protocol.Path {
	way := map[protocol.Path]bool{}
	root, known := it.Path, false
	for up := it; up != nil && !known; up = c.up(t, up) {
		if way[up.Path] {
			root = c.firstOfCircle(t, up)
			break
		}
		way[up.Path] = true
		if root, known = c.roots[up.Path]; !known {
			root = up.Path
		}
	}
	for p := range way {
		c.roots[p] = root
	}
	c.has(len(way))
	return root
}

// firstOfCircle is the earliest of messages that answer each other in a circle, `it` among them.
// Unsigned mail may do so, and its root is to be the same whichever of it is asked about.
func (c *conversations) firstOfCircle(t *Talk, it *Item) protocol.Path {
	first := it.position()
	for up := c.up(t, it); up != nil && up.Path != it.Path; up = c.up(t, up) {
		if at := up.position(); at.Before(first) {
			first = at
		}
	}
	return first.Path
}

// has makes room for a conversation with `messages` messages, besides others.
func (c *conversations) has(messages int) { c.most = max(c.most, 2*messages) }

func (c *conversations) follow(t *Talk, changes Changes) {
	if len(c.roots)+len(c.prompts) == 0 {
		return
	}
	if len(changes.Left)+len(changes.Moved) > 0 {
		c.clear()
		return
	}
	for _, it := range changes.Came {
		if it.Type != protocol.TypeText {
			continue
		}
		if len(t.caused(it.Path)) > 0 || c.isFirst(it) {
			c.clear() // the new message joins what were several conversations
			return
		}
		p, ok := c.above(t, it)
		if !ok {
			continue
		}
		root, known := c.roots[p]
		if !known {
			continue
		}
		c.roots[it.Path] = root
		if found := c.found[root]; found != nil {
			found.take(t, it)
		}
	}
}

// causedBy is the message that `it` says it answers. If it answers none, it is the message because
// of which `it` was written.
func (it *Item) causedBy() (protocol.Path, bool) {
	if it.Type != protocol.TypeText {
		return protocol.Path{}, false
	}
	if p, ok := it.AnsweredPath(); ok {
		return p, true
	}
	return it.asideOf()
}

// caused are the messages whose causedBy is `p`, in no order.
func (t *Talk) caused(p protocol.Path) []*Item {
	return slices.Concat(answering.find(t.ledger, p), asideOf.find(t.ledger, p))
}

// take counts a message of the conversation. It counts only messages of a host that declares the
// author: anybody can write others.
func (c *conversation) take(t *Talk, it *Item) {
	if it.Type != protocol.TypeText || t.ring().Signature(&it.File) != protocol.SignatureValid {
		return
	}
	at := it.position()
	switch {
	case !c.human.Before(at):
	case speaksAsHuman(t.ring(), it):
		c.human = at
		for w, r := range c.runs {
			if r.at.Before(at) {
				delete(c.runs, w)
			}
		}
	case it.Act == protocol.ActTalkHeld:
		if c.held.Before(at) {
			c.held = at
		}
	case it.Because != "" && it.From != it.Host.String():
		cause, ok := it.CausePath()
		if !ok || it.Hops <= 1 && !t.promptedAt(cause) {
			return
		}
		w := Work{Who: Who{Name: it.From, Host: it.Host}, For: cause}
		r := c.runs[w]
		if r.at.Before(at) {
			r.at = at
		}
		starts := 1
		if it.Act == protocol.ActFailed {
			starts = 0 // an agent that failed without a start was canceled by somebody
			if f, err := protocol.Failed.Parse(it.Body); err == nil {
				starts = f.Attempts
			}
		}
		r.starts = max(r.starts, starts)
		c.runs[w] = r
	}
}

// promptedAt reports whether agents have caused the unsigned mail at `p`.
func (t *Talk) promptedAt(p protocol.Path) (yes bool) {
	if it := t.ledger.at(p); it != nil {
		_, yes = t.conversations.prompted(t, it)
	}
	return yes
}

// speaksAsHuman reports whether a human of the host wrote the message, as far as that is known. An
// unattended message may be anybody's.
func speaksAsHuman(ring *keys.Ring, it *Item) bool {
	h, joined := ring.Host(it.Host)
	return joined && !it.Unattended && slices.Contains(h.Humans, protocol.Name(it.From))
}

// count is how often agents were run.
func (c *conversation) count() (runs int) {
	for _, r := range c.runs {
		runs += r.starts
	}
	return runs
}
