package fleet

import (
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/archive"
	"github.com/parleyfleet/parley/protocol"
)

// Other programs of the format need not say what they answer, and need not leave receipts. Such a
// program may answer each answer of an agent without end. So unsigned mail counts as caused by
// agents once an agent has written to its author in that channel, because of some message (R13). It
// belongs to the conversation of the first such message, wherever the clocks of its author stand.
// This changes budgets and nothing else.

// correspondent is somebody who writes or is written to in a channel.
type correspondent struct {
	channel protocol.ChannelID
	name    string
}

func (w correspondent) key() uint64 { return archive.Key(w.channel.String() + "\x00" + w.name) }

// byStranger is the author of mail that is not signed, and that does not say why it was written.
func (it *Item) byStranger() (w correspondent, ok bool) {
	if it.Sealed || it.Type != protocol.TypeText || it.Re != "" || it.Because != "" {
		return w, false
	}
	return correspondent{it.Path.Channel(), it.Author().Name}, true
}

// byAgent is the addressee of what an agent wrote because of a message.
func (it *Item) byAgent() (w correspondent, ok bool) {
	if !it.Sealed || it.Type != protocol.TypeText || it.Because == "" || it.From == it.Host.String() || len(it.To) == 0 {
		return w, false
	}
	return correspondent{it.Path.Channel(), it.To[0].Name}, true
}

// prompt is the first message of agents to somebody in a channel; its path is zero if there is none.
type prompt struct {
	path  protocol.Path
	cause protocol.Path // why it was written
	at    affair.Position
}

func (c *conversations) prompt(t *Talk, w correspondent) prompt {
	first, known := c.prompts[w]
	if known {
		return first
	}
	for _, it := range agentsTo.find(t.ledger, w) {
		at := it.position()
		if t.ring().Signature(&it.File) == protocol.SignatureValid && (first.path.IsZero() || at.Before(first.at)) {
			first = prompt{path: it.Path, at: at}
			first.cause, _ = it.causedBy()
		}
	}
	c.prompts[w] = first
	return first
}

// prompted is the message by which agents have caused unsigned mail. The mail because of which that
// message was written is not caused by it.
func (c *conversations) prompted(t *Talk, it *Item) (by protocol.Path, ok bool) {
	if it.Sealed || it.Type != protocol.TypeText {
		return by, false
	}
	p := c.prompt(t, correspondent{it.Path.Channel(), it.Author().Name})
	return p.path, !p.path.IsZero() && p.cause != it.Path
}

// above is the message to whose conversation `it` belongs.
func (c *conversations) above(t *Talk, it *Item) (protocol.Path, bool) {
	if p, ok := it.causedBy(); ok {
		return p, true
	}
	if _, ok := it.byStranger(); ok {
		return c.prompted(t, it)
	}
	return protocol.Path{}, false
}

// up is the message above `it`, if it is here.
func (c *conversations) up(t *Talk, it *Item) *Item {
	if p, ok := c.above(t, it); ok {
		return t.ledger.at(p)
	}
	return nil
}

// below are the messages whose `above` is `it`, in no order.
func (c *conversations) below(t *Talk, it *Item) []*Item {
	all := t.caused(it.Path)
	w, ok := it.byAgent()
	if !ok {
		return all
	}
	if c.prompt(t, w).path != it.Path { // before the mail is read: all that an agent writes comes here
		return all
	}
	for _, m := range strangers.find(t.ledger, w) {
		if _, ok := c.prompted(t, m); ok {
			all = append(all, m)
		}
	}
	return all
}

// isFirst reports whether `it` may be the first message of agents to somebody of whom another was
// known, or none.
func (c *conversations) isFirst(it *Item) bool {
	w, ok := it.byAgent()
	first, known := c.prompts[w]
	return ok && known && (first.path.IsZero() || it.position().Before(first.at))
}
