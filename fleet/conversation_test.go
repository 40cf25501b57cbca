package fleet

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// A conversation that is longer than what is kept of all is gone through once. It prevents:
// that somebody who pushes so many messages, each an answer to the last, has every further one
// go through all of them, with the node waiting.
func TestALongConversationIsGoneThroughOnce(t *testing.T) {
	const length = 200
	s := New(keys.Anchor{RecordID: testRecord})
	s.Talk.conversations.most = length / 4
	channel, at := protocol.DeriveChannel(testRecord, "nat", "mawjs"), time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC)
	var first, last *Item
	for i := range length {
		m := protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Timestamp: at.Add(time.Duration(i) * time.Second), Body: "on"}
		if last != nil {
			m.Re = last.Path.Rel()
		}
		m.Path = protocol.NewPath(channel, m.Timestamp, uint32(i))
		data, err := protocol.Encode(&m)
		if err != nil {
			t.Fatal(err)
		}
		if last, err = s.Apply(m.Path, data); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = last
		}
	}
	for range 2 {
		if got := s.Talk.Root(last); got != first.Path {
			t.Fatalf("it begins with %s, want %s", got, first.Path)
		}
		s.Talk.Conversation(last)
	}
	mark := protocol.NewPath(channel, at, 1<<31)
	s.Talk.conversations.roots[mark] = mark // it goes when all is looked at anew
	s.Talk.Root(first)
	if _, kept := s.Talk.conversations.roots[mark]; !kept {
		t.Error("the whole conversation is gone through again")
	}
}

// A damaged archive may list a message and not find it by its path. Its conversation is the message
// alone. It prevents: a crash, which FuzzArchive found.
func TestAMessageThatIsNotFoundIsAConversation(t *testing.T) {
	s := New(keys.Anchor{RecordID: testRecord})
	at := time.Date(2026, 5, 23, 0, 0, 0, 0, time.UTC)
	m := protocol.Message{From: "nat", To: []protocol.Address{{Name: "mawjs"}}, Type: protocol.TypeText, Timestamp: at, Body: "on"}
	m.Path = protocol.NewPath(protocol.DeriveChannel(testRecord, "nat", "mawjs"), at, 1)
	data, err := protocol.Encode(&m)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Talk.Conversation(s.Examine(m.Path, data).item); got.Root != m.Path {
		t.Errorf("it begins with %s, want %s", got.Root, m.Path)
	}
}
