package prompt

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/protocol"
)

func (r Request) message() part {
	m := r.Message
	return newPart(fmt.Sprintf("From: %s\nTo: %s\nTime: %s\nAct: %s\nPath: %s\nSignature: %s\n",
		r.sender(m), addressees(m.To), clock(m.At), act(m.Act), Path(m.Path), signed(m)), visible.Text(m.Body))
}

// unaccepted is the section of a profile that the operator has not accepted.
func (r Request) unaccepted() section {
	s := section{
		title: "A profile that is not confirmed",
		lead: "The record has a profile under your name. Those who run you have not confirmed it, and anyone who may push to the record can have written it. " +
			"It tells you for what others take you.",
		note: func(int) string { return "It was cut or left out to keep this text short." },
	}
	if a := r.Unaccepted; a != nil {
		head := "The profile " + Name(a.Name) + ":\n"
		s.parts = []part{newPart(head, "Alias: "+visible.Line(a.Alias)+"\n"+below(a.Body))}
	}
	return s
}

func (r Request) history() section {
	s := section{
		title: "The conversation so far",
		lead:  "Earlier messages that you may see, oldest first. Each is headed by its time, sender, addressees, act, signature and path.",
		note: func(out int) string {
			left := some(out, "earlier message was", "earlier messages were") + " left out to keep this text short."
			if r.Older {
				left = "At least " + left
			}
			return left
		},
	}
	s.parts, s.out = lastOf(len(r.History), r.limit(), func(i int) part {
		l := r.History[i]
		return newPart(fmt.Sprintf("%s, %s to %s, %s, %s, %s:\n", clock(l.At), r.sender(l), addressees(l.To), act(l.Act),
			signedShort(l), Path(l.Path)), visible.Text(l.Body))
	})
	return s
}

// memories is the section of memories. They are shown oldest first, so that a later one has the
// last word.
func (r Request) memories() section {
	s := section{
		title: "Memories",
		lead:  "What participants wrote down to be remembered, oldest first. Memories carry no signature: anyone who may push to the record can have written one.",
		note: func(out int) string {
			return some(out, "older memory was", "older memories were") + " left out to keep this text short."
		},
	}
	sorted := slices.SortedStableFunc(slices.Values(r.Memories), func(a, b protocol.Memory) int {
		return cmp.Or(a.Timestamp.Compare(b.Timestamp), cmp.Compare(a.File, b.File))
	})
	s.parts, s.out = lastOf(len(sorted), r.limit(), func(i int) part { return memory(sorted[i]) })
	return s
}

func memory(m protocol.Memory) part {
	head := fmt.Sprintf("%s, by %s", clock(m.Timestamp), Name(m.From))
	if m.Via != "" {
		head += " through " + Name(m.Via)
	}
	if m.Scope == "" {
		head += ", for every channel"
	} else {
		head += ", for the channel " + channel(m.Scope)
	}
	if file, err := protocol.ParseMemoryFileName(m.File); err == nil {
		head += ", " + file
	}
	body := "Subject: " + visible.Line(m.Subject) + "\n"
	if len(m.Tags) > 0 {
		body += "Tags: " + visible.Line(strings.Join(m.Tags, ", ")) + "\n"
	}
	return newPart(head+":\n", body+below(m.Body))
}

func below(text string) string {
	if text == "" {
		return ""
	}
	return "\n" + visible.Text(text)
}

// channel is a channel's id as it may stand in a line of ours.
func channel(c protocol.ChannelID) string {
	if id, err := protocol.ParseChannelID(c.String()); err == nil && id == c {
		return c.String()
	}
	return Quote(c.String())
}

// purposes is the section that says what the channel and its parents are for.
func (r Request) purposes() section {
	s := section{
		title: "The channel",
		lead:  "What the channel is for, as participants wrote it. Descriptions carry no signature.",
		note: func(out int) string {
			return some(out, "description was", "descriptions were") + " cut or left out to keep this text short."
		},
	}
	id := r.Channel
	for i, p := range r.Purposes {
		head := "This channel"
		if i > 0 {
			head = "The channel that it belongs to"
		}
		if id != "" {
			head += ", " + channel(id)
		}
		id = p.Parent
		if p.Name == "" && p.About == "" {
			continue
		}
		if p.CreatedBy != "" {
			head += ", by " + Name(p.CreatedBy)
		}
		if !p.CreatedAt.IsZero() {
			head += ", " + clock(p.CreatedAt)
		}
		s.parts = append(s.parts, newPart(head+":\n", "Name: "+visible.Line(p.Name)+"\n"+below(p.About)))
	}
	return s
}

// leastCut is the smallest piece of a description that is worth showing.
const leastCut = 200

// cut keeps as much of the parts, from the first one on, as fits into `room` bytes. It returns how
// many bytes are left; 0 if anything was left out or cut.
func (s *section) cut(room int, f fence) int {
	for i, p := range s.parts {
		if p.size(f) <= room {
			room -= p.size(f)
			continue
		}
		s.out += len(s.parts) - i
		s.parts = s.parts[:i]
		const mark = " (only its beginning):\n"
		short := part{head: strings.TrimSuffix(p.head, ":\n") + mark}
		if space := room - short.size(f) - len("\n"); space >= leastCut {
			short.body = endLine(beginning(p.body, space))
			s.parts = append(s.parts, short)
		}
		return 0
	}
	return room
}

// beginning is the longest beginning of valid text that has at most `n` bytes and splits no character.
func beginning(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }
