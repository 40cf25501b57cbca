package prompt

import "strings"

// Build writes the text with which an agent's command is given r.Message to
// answer (Crosstalk, "Actors", "Memories", "CHANNEL.md").
func Build(r Request) Prompt {
	message := r.message()
	return r.write(draft{top: r.intro() + taskText, message: &message, bottom: answerText})
}

// Context writes what the interactive program of an agent, which a person talks
// to, is to know when it opens in r.Channel. r.Message has no part in it.
func Context(r Request) Prompt {
	return r.write(draft{top: r.intro() + r.shellText(), bottom: contextText})
}

// draft is a text whose parts are chosen but perhaps too many.
type draft struct {
	fence fence
	top   string
	// In the order of importance.
	purposes, memories, history section
	message                     *part // nil in a context
	bottom                      string
}

func (r Request) write(d draft) Prompt {
	d.purposes, d.memories, d.history = r.purposes(), r.memories(), r.history()
	d.fence = chooseFence(r.Fence, d.texts())
	d.top += rulesText(d.fence)
	d.bound(r.limit())
	return Prompt{Text: d.text(), LeftOut: LeftOut{Messages: d.history.out, Memories: d.memories.out, Purposes: d.purposes.out}}
}

func (r Request) limit() int {
	if r.Limit <= 0 {
		return DefaultLimit
	}
	return r.Limit
}

// texts is all that others, or an operator, may have written.
func (d *draft) texts() []string {
	parts := [][]part{d.purposes.parts, d.memories.parts, d.history.parts}
	if d.message != nil {
		parts = append(parts, []part{*d.message})
	}
	texts := []string{d.top}
	for _, list := range parts {
		for _, p := range list {
			texts = append(texts, p.head, p.body)
		}
	}
	return texts
}

// bound leaves out what the limit does not allow.
func (d *draft) bound(limit int) {
	fixed := len(d.top) + len(d.bottom)
	if d.message != nil {
		fixed += len(messageTitle) + d.message.size(d.fence) - len(d.message.body)
	}
	if fixed+d.purposes.size(d.fence)+d.memories.size(d.fence)+d.history.size(d.fence) <= limit {
		return
	}
	room := limit - fixed - d.purposes.mostOpening() - d.memories.mostOpening() - d.history.mostOpening()
	room = d.purposes.cut(room, d.fence)
	room = d.memories.keepLast(room, d.fence)
	d.history.keepLast(room, d.fence)
}

func (d *draft) text() string {
	var b strings.Builder
	b.WriteString(d.top)
	d.purposes.write(&b, d.fence)
	d.memories.write(&b, d.fence)
	d.history.write(&b, d.fence)
	if d.message != nil {
		b.WriteString(messageTitle)
		d.message.write(&b, d.fence)
	}
	b.WriteString(d.bottom)
	return b.String()
}
