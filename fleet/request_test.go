package fleet

import (
	"testing"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: a program that uses one id for two addressees and is told that the
// second message was sent, though nobody wrote it.
func TestRepeats(t *testing.T) {
	channel, other := protocol.DeriveChannel(testRecord, "a", "b"), protocol.DeriveChannel(testRecord, "c")
	path := func(c protocol.ChannelID, rel string) protocol.Path {
		p, err := protocol.JoinPath(c, rel)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	asked, elsewhere := path(channel, "2026/05/23/190000000Z-a2c3d4e5.md"), path(other, "2026/05/23/190000000Z-a2c3d4e5.md")
	said := func(re protocol.Path, to ...protocol.Address) *Item {
		m := protocol.Message{Path: path(channel, "2026/05/23/190100000Z-b2c3d4e5.md"), From: "nat", To: to, Type: protocol.TypeText}
		if !re.IsZero() {
			m.Re = protocol.Refer(channel, re)
		}
		return &Item{File: keys.File{Message: m}}
	}
	nat, a, b := Who{Name: "nat", Host: "white"}, protocol.Address{Name: "a"}, protocol.Address{Name: "b", Host: "black"}
	none := protocol.Path{}
	for name, test := range map[string]struct {
		command Command
		it      *Item
		want    bool
	}{
		"the same":               {Say{As: nat, To: []string{"a"}}, said(none, a), true},
		"in another order":       {Say{As: nat, To: []string{"b", "a", "a"}}, said(none, a, b), true},
		"with the host":          {Say{As: nat, To: []string{"a@white", "black:b"}}, said(none, a, b), true},
		"in its channel":         {Say{As: nat, To: []string{"a"}, Channel: channel}, said(none, a), true},
		"to all and more":        {Say{As: nat, To: []string{"all", "a"}}, said(none, protocol.Address{Name: protocol.All}), true},
		"an answer":              {Answer{As: nat, To: asked}, said(asked, a), true},
		"an answer to chosen":    {Say{As: nat, To: []string{"a"}, Re: elsewhere}, said(elsewhere, a), true},
		"another author":         {Say{As: Who{Name: "eve"}, To: []string{"a"}}, said(none, a), false},
		"another addressee":      {Say{As: nat, To: []string{"c"}}, said(none, a), false},
		"one more":               {Say{As: nat, To: []string{"a", "b"}}, said(none, a), false},
		"one less":               {Say{As: nat, To: []string{"a"}}, said(none, a, b), false},
		"another host":           {Say{As: nat, To: []string{"b@white"}}, said(none, b), false},
		"one instead of all":     {Say{As: nat, To: []string{"a"}}, said(none, protocol.Address{Name: protocol.All}), false},
		"another channel":        {Say{As: nat, To: []string{"a"}, Channel: other}, said(none, a), false},
		"an answer for none":     {Answer{As: nat, To: asked}, said(none, a), false},
		"none for an answer":     {Say{As: nat, To: []string{"a"}}, said(asked, a), false},
		"an answer to another":   {Answer{As: nat, To: elsewhere}, said(asked, a), false},
		"what is nothing to say": {Requested{}, said(none, a), false},
	} {
		if got := Repeats(test.command, test.it); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
