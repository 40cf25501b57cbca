package node

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Messages of a host that come before its key are held, not lost. They are read once the record
// brings the key.
func TestMessageOfAnUnknownKeyWaitsForTheKey(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	g := newGhost(t, n, "white")
	join, word := g.join("alice"), g.say("alice", "here I am")
	n.entry.LetIn([]bus.Incoming{onBus(t, n, word)})
	if has(n, word.Path) {
		t.Fatal("a message of a key that nobody knows was taken in")
	}
	if s, err := control.ShowStatus.Ask(t.Context(), n); err != nil || s.Bus.Held != 1 || len(s.Bus.Refused) > 0 {
		t.Errorf("status: %+v, %v; want one message held", s.Bus, err)
	}
	n.Receive([]gitsync.MessageFile{join}, byBus)
	eventually(t, "it is taken in", func() bool { return has(n, word.Path) })
	m, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: word.Path.String()})
	if err != nil || m.Signature != protocol.SignatureValid || n.record.Place(word.Path) == gitsync.Absent {
		t.Errorf("it is %s, %v, and stored: %v", m.Signature, err, n.record.Place(word.Path))
	}
}

// A message that a host did not sign for exactly this place is refused, counted and shown, and
// changes nothing.
func TestWhatIsWrongOnTheBusIsRefusedAndShown(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	g := newGhost(t, n, "white")
	n.Receive([]gitsync.MessageFile{g.join("alice")}, byBus)
	word := onBus(t, n, g.say("alice", "hello"))
	// Only what others wrote is counted: this node may vouch for the new host meanwhile.
	others := func() (count int) {
		for _, m := range everything(t, n) {
			if m.Host != n.cfg.Alias {
				count++
			}
		}
		return count
	}
	before := others()

	changed := func(change func(*bus.Incoming)) bus.Incoming {
		in := word
		in.Data = bytes.Clone(in.Data)
		change(&in)
		return in
	}
	elsewhere := protocol.NewPath(protocol.NewChannelID([16]byte{1}), word.Path.Time(), 7)
	for _, c := range []struct {
		in  bus.Incoming
		why string
	}{
		{changed(func(in *bus.Incoming) { in.Path = elsewhere }), "does not fit"},
		{changed(func(in *bus.Incoming) { in.Path = protocol.NewPath(word.Path.Channel(), word.Path.Time(), 7) }), "does not fit"},
		{changed(func(in *bus.Incoming) {
			in.Sender, in.Subject = "black", strings.ReplaceAll(in.Subject, "white", "black")
		}), "belongs to"},
		{changed(func(in *bus.Incoming) { in.Subject = strings.ReplaceAll(in.Subject, "broadcast", "hey.alice") }), "belongs to"},
		{changed(func(in *bus.Incoming) { in.Data = bytes.Replace(in.Data, []byte("hello"), []byte("howdy"), 1) }), "does not fit"},
		{changed(func(in *bus.Incoming) { in.Data = []byte("garbage") }), "no message"},
		{changed(func(in *bus.Incoming) { in.Data = bytes.Repeat([]byte("x"), n.cfg.MessageLimit+1) }), "524289 bytes; message_limit of this host is 524288"},
		{changed(func(in *bus.Incoming) {
			in.Data = []byte("---\nfrom: alice\nto: all\ntype: text\ntimestamp: 2026-05-23T19:01:00.000Z\n---\n\nhi\n")
		}), "no host signed it"},
	} {
		count := refusedInAll(n)
		n.entry.LetIn([]bus.Incoming{c.in})
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil || refusedInAll(n) != count+1 {
			t.Errorf("%s: refused %d times before, %d after, %v", c.why, count, refusedInAll(n), err)
		}
		shown := false
		for _, r := range s.Bus.Refused {
			shown = shown || r.From == c.in.Sender && strings.Contains(r.Last, c.why)
		}
		if !shown {
			t.Errorf("status does not say %q of %s: %+v", c.why, c.in.Sender, s.Bus.Refused)
		}
	}
	if after := others(); after != before || has(n, word.Path) {
		t.Errorf("%d messages before, %d after", before, after)
	}
	n.entry.LetIn([]bus.Incoming{word, word})
	if !has(n, word.Path) || others() != before+1 {
		t.Error("the message itself is not taken in once")
	}
}

func refusedInAll(n *Node) (count int) {
	for _, r := range n.refusals.List() {
		count += r.Count
	}
	return count
}
