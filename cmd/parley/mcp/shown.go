package mcp

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

// How much a model is given at once, in bytes.
const (
	mostOfOne  = 4 << 10  // of a message among others
	mostOfAll  = 9000     // of all of them; the rest is named
	mostAtOnce = 32 << 10 // of one message that was asked for
	mostOfLine = 200      // of a text that is only named
)

// message is what a program may want to know of a message. It has no text: see answer.
type message struct {
	ID        string             `json:"id"`   // what reply, read and trace take
	Path      string             `json:"path"` // what identifies it everywhere
	From      string             `json:"from"` // its author, with the host that signed it
	Signature protocol.Signature `json:"signature"`
	// Unattended says that its host could not tell who wrote it in the author's name.
	Unattended bool           `json:"unattended,omitempty"`
	Time       time.Time      `json:"time,omitzero"`
	Re         string         `json:"re,omitempty"` // the id of the message that it answers
	Stage      protocol.Stage `json:"stage"`        // how far it has come
}

// about is a message for programs.
func about(m control.Message) message {
	from := prompt.Name(m.From)
	if m.Host != "" {
		from += "@" + prompt.Name(m.Host.String())
	}
	one := message{ID: id(m.Path), Path: prompt.Path(m.Path), From: from, Signature: m.Signature, Unattended: m.Unattended, Time: m.Timestamp, Stage: m.Stage}
	if re, err := protocol.ParsePath(m.Re); err == nil {
		one.Re = id(re)
	}
	return one
}

// id is what a message is called in calls.
func id(p protocol.Path) string { return visible.Line(p.Short()) }

// shownTo is a message as prompts show it, and whether all of it is there. A message of which at
// most `most` bytes from `offset` on are shown says so.
func shownTo(s control.Self, m control.Message, offset, most int) (block prompt.Block, whole bool) {
	end := min(len(m.Body), offset+most)
	body := strings.ToValidUTF8(m.Body[min(offset, end):end], "")
	block = prompt.BlockOf(s.Name.String(), s.Host.String(), prompt.ShownMessage{
		Path: m.Path, From: m.From, Host: m.Host, To: m.To, At: m.Timestamp, Act: m.Act, Signature: m.Signature, Unattended: m.Unattended, Body: body,
	})
	head := "Id: " + id(m.Path) + "\n"
	if re := about(m).Re; re != "" {
		head += "Answers: " + re + "\n"
	}
	if whole = offset == 0 && end == len(m.Body); !whole {
		head += fmt.Sprintf("Text: bytes %d to %d of %d\n", offset, end, len(m.Body))
	}
	if m.Unreadable != "" {
		head += "Text: it cannot be read at the moment: " + visible.Line(m.Unreadable) + "\n"
	}
	block.Head = head + block.Head
	return block, whole
}

// named is a message in one line: who said it, whether that is proved, and how it begins.
func named(m control.Message) string {
	ref := about(m)
	proved := map[protocol.Signature]string{protocol.SignatureValid: "signed", protocol.SignatureRefused: "wrong signature"}[m.Signature]
	proved = cmp.Or(proved, "unverified")
	if m.Unattended {
		proved += ", unattended"
	}
	to := slices.Clone(m.To[:min(len(m.To), 4)])
	for i := range to {
		to[i] = visible.Line(to[i])
	}
	begin, _, _ := strings.Cut(strings.TrimSpace(m.Body), "\n")
	if len(begin) > mostOfLine {
		begin = strings.ToValidUTF8(begin[:mostOfLine], "") + "…"
	}
	return fmt.Sprintf("%s  %s  %s to %s (%s): %s\n", ref.ID, m.Timestamp.UTC().Format("2006-01-02 15:04:05 UTC"), ref.From, strings.Join(to, ", "), proved, prompt.Quote(begin))
}

// tell is a text with what others wrote in fences.
func tell(lead string, blocks ...prompt.Block) string {
	fenced := prompt.Tell(rand.Text(), blocks...)
	if fenced == "" {
		return lead
	}
	return strings.TrimSuffix(lead, "\n") + "\n\n" + fenced
}

// shownMail shows messages: each whole as far as there is room, and the others by name.
func shownMail(s control.Self, mail []control.Message) (blocks []prompt.Block, refs []message, whole []protocol.Path) {
	room, rest := mostOfAll, ""
	for _, m := range mail {
		refs = append(refs, about(m))
		block, all := shownTo(s, m, 0, mostOfOne)
		if room -= len(block.Head) + len(block.Body); room < 0 && len(blocks) > 0 {
			rest += named(m)
			continue
		}
		blocks = append(blocks, block)
		if all && m.Unreadable == "" {
			whole = append(whole, m.Path)
		}
	}
	if rest != "" {
		blocks = append(blocks, prompt.Block{Head: "More, by name; read shows each:\n", Body: rest})
	}
	return blocks, refs, whole
}

// listed lists messages, one a line.
func listed(head string, mail []control.Message) (block prompt.Block, refs []message) {
	var b strings.Builder
	for _, m := range mail {
		refs = append(refs, about(m))
		b.WriteString(named(m))
	}
	return prompt.Block{Head: head, Body: b.String()}, refs
}

// seen leaves receipts for messages that a model was shown as a whole. If that fails, they stay in
// the inbox, and nothing is lost. A call that was given up shows nothing.
func (c call) seen(ctx context.Context, paths ...protocol.Path) {
	if ctx.Err() == nil && len(paths) > 0 {
		_, _ = control.Shown.Ask(ctx, c.node, control.ShownRequest{Paths: paths})
	}
}
