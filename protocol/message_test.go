package protocol_test

import (
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

const otherChannel = "00000000-0000-4000-8000-000000000000"

func TestReferences(t *testing.T) {
	here := testPath(t)
	for ref, want := range map[string]string{
		testRel:                      testChannel + "/" + testRel,
		otherChannel + "/" + testRel: otherChannel + "/" + testRel,
		"data/channels/" + otherChannel + "/" + testRel: otherChannel + "/" + testRel,
		"":                   "",
		"../" + testRel:      "",
		"nothing":            "",
		"2026/05/23/../a.md": "",
	} {
		text := &protocol.Message{Path: here, Type: protocol.TypeText, Re: ref, Ref: ref}
		receipt := &protocol.Message{Path: here, Type: protocol.TypeRead, Ref: ref}
		answered, ok := text.AnsweredPath()
		read, ok2 := receipt.ReadPath()
		if ok != (want != "") || ok2 != ok || answered != read {
			t.Errorf("%q: answered %s, %t; read %s, %t", ref, answered, ok, read, ok2)
		}
		if ok && answered.String() != want {
			t.Errorf("%q means %s, want %s", ref, answered, want)
		}
		if p, ok := text.ReadPath(); ok {
			t.Errorf("%q: a message that is no receipt reads %s", ref, p)
		}
	}
}

func TestReferIsReadBack(t *testing.T) {
	here, there := testPath(t), path(t, otherChannel+"/"+testRel)
	if got := protocol.Refer(here.Channel(), here); got != testRel {
		t.Errorf("in its own channel: %s", got)
	}
	for _, target := range []protocol.Path{here, there} {
		m := &protocol.Message{Path: here, Re: protocol.Refer(here.Channel(), target)}
		if got, ok := m.AnsweredPath(); !ok || got != target {
			t.Errorf("%q is read as %s, want %s", m.Re, got, target)
		}
	}
}

func TestToAll(t *testing.T) {
	for _, c := range []struct {
		to   []protocol.Address
		want bool
	}{
		{nil, false},
		{[]protocol.Address{{Name: "all"}}, true},
		{[]protocol.Address{{Name: "neo"}, {Name: "all"}}, true},
		{[]protocol.Address{{Name: "all", Host: "white"}}, false},
		{[]protocol.Address{{Name: "All"}, {Name: "neo"}}, false},
	} {
		if got := (&protocol.Message{To: c.to}).ToAll(); got != c.want {
			t.Errorf("%v: got %t", c.to, got)
		}
	}
}

func TestNamesAreNeverNil(t *testing.T) {
	if names := (&protocol.Message{}).Names(); names == nil {
		t.Error("a JSON list of addressees would be null")
	}
}

func TestChosenFor(t *testing.T) {
	opus := protocol.Instance{Host: "white", Tier: "opus"}
	haiku := protocol.Instance{Host: "white", Tier: "haiku"}
	neo, nat := protocol.Address{Name: "neo"}, protocol.Address{Name: "nat"}
	for name, c := range map[string]struct {
		to     []protocol.Address
		chosen []protocol.Choice
		want   protocol.Instance
		ok     bool
	}{
		"nobody":               {[]protocol.Address{neo}, nil, protocol.Instance{}, false},
		"the only one":         {[]protocol.Address{neo}, []protocol.Choice{{Instance: opus}}, opus, true},
		"by name":              {[]protocol.Address{neo, nat}, []protocol.Choice{{Agent: "nat", Instance: haiku}, {Agent: "neo", Instance: opus}}, opus, true},
		"unnamed of several":   {[]protocol.Address{neo, nat}, []protocol.Choice{{Instance: opus}}, protocol.Instance{}, false},
		"only for another one": {[]protocol.Address{neo}, []protocol.Choice{{Agent: "nat", Instance: opus}}, protocol.Instance{}, false},
	} {
		got, ok := (&protocol.Message{To: c.to, Chosen: c.chosen}).ChosenFor("neo")
		if got != c.want || ok != c.ok {
			t.Errorf("%s: got %s, %t", name, got, ok)
		}
	}
}

func TestHash(t *testing.T) {
	const want = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // FIPS 180-2
	if got := protocol.Hash([]byte("abc")); got != want {
		t.Errorf("got %s", got)
	}
}

func TestNormalBody(t *testing.T) {
	for body, want := range map[string]string{"": "", "\n\n": "", "a": "a", "a\n\n": "a", "\na \n": "\na ", "a\r\n": "a\r"} {
		if got := protocol.NormalBody(body); got != want {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}
