package protocol_test

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

func TestParseName(t *testing.T) {
	for _, s := range []string{"a", "0", "mawjs", "oracle-world", "a_b", "12345678", "x-ray", "null", strings.Repeat("a", 64), "x-" + strings.Repeat("0", 31)} {
		if n, err := protocol.ParseName(s); err != nil || n.String() != s {
			t.Errorf("%q is read as %q, %v", s, n, err)
		}
	}
	for _, s := range []string{
		"", "all", "A", "-a", "_a", "a.b", "a b", "a@b", "a:b", "a*", ">", "é", "a\n", "a/b", "..", strings.Repeat("a", 65), "x-" + strings.Repeat("0", 32),
	} {
		if n, err := protocol.ParseName(s); err == nil || n != "" {
			t.Errorf("%q is read as %q, %v", s, n, err)
		}
	}
}

func TestCheckForeignName(t *testing.T) {
	for _, s := range append(trapNames(), append(colonNames(), "all", "A", "a.b", "$(touch pwned)")...) {
		if err := protocol.CheckForeignName(s); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	}
	for _, s := range []string{"", " ", " a", "a ", "\u00a0a", "a\n", "a\tb", "a\x00b", "\x1b[31m", "a\x7f", "a\u0085b", "a@b", "@", "\xff", "a\xc3", strings.Repeat("n", 256)} {
		if err := protocol.CheckForeignName(s); err == nil {
			t.Errorf("%q passes", s)
		}
	}
}

func TestParseAddress(t *testing.T) {
	for s, want := range map[string]protocol.Address{
		"mawjs":           {Name: "mawjs"},
		"all":             {Name: "all"},
		"mawjs@white":     {Name: "mawjs", Host: "white"},
		"white:mawjs":     {Name: "mawjs", Host: "white"},
		"white:Nat W.":    {Name: "Nat W.", Host: "white"},
		"a:b:c":           {Name: "b:c", Host: "a"},
		"12:30@white":     {Name: "12:30", Host: "white"},
		"Nat: the human":  {Name: "Nat: the human"},
		"Nat W.@Nats Mac": {Name: "Nat W.", Host: "Nats Mac"},
		"日本語":             {Name: "日本語"},
		"日本:語":            {Name: "日本:語"},
		"all@white":       {Name: "all", Host: "white"},
		"http://x":        {Name: "//x", Host: "http"},
		":a":              {Name: ":a"},
		"12:30":           {Name: "12:30"},
		"white:":          {Name: "white:"},
		"white: a":        {Name: "white: a"},
	} {
		a, err := protocol.ParseAddress(s)
		if err != nil || a != want {
			t.Errorf("%q is read as %+v, %v; want %+v", s, a, err, want)
		}
		if back, err := protocol.ParseAddress(a.String()); err != nil || back != a {
			t.Errorf("%+v is written as %q and read as %+v, %v", a, a, back, err)
		}
	}
	for _, s := range []string{"", "@", "a@", "@white", "a@b@white", "a @white", "a@ white", "a\n@white", "a@\x1b", " a", "a@white\n", "\xff@a"} {
		if a, err := protocol.ParseAddress(s); err == nil {
			t.Errorf("%q is read as %+v", s, a)
		}
	}
}

func TestToken(t *testing.T) {
	for name, want := range map[string]string{
		"mawjs":  "mawjs",
		"a_b-0":  "a_b-0",
		"all":    "x-5ef5ef0364b6939c4ca61f34b393f7b3",
		"Nat W.": "x-0bf536d229e39fcabb82a282271fe1c4",
		"日本語":    "x-77710aedc74ecfa33685e33a6c7df5cc",
	} {
		if got := protocol.Token(name); got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
	seen := map[string]string{}
	for _, name := range append(trapNames(), append(colonNames(), "all", "*", "a.b", "", " ")...) {
		token := protocol.Token(name)
		if token == "" || strings.ContainsAny(token, ".*> \t\r\n") || len(token) > 64 {
			t.Errorf("%q has the token %q", name, token)
		}
		if other, ok := seen[token]; ok {
			t.Errorf("%q and %q have one token", name, other)
		}
		seen[token] = name
	}
	// A registered name can not take a foreign name's place on the bus.
	if n, err := protocol.ParseName(protocol.Token("Nat W.")); err == nil {
		t.Errorf("the token of a foreign name is the name %s", n)
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range append(trapNames(), append(colonNames(), "a@b", "a:b", "a@b@c", "all@x")...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := protocol.ParseAddress(s)
		if err != nil {
			return
		}
		if back, err := protocol.ParseAddress(a.String()); err != nil || back != a {
			t.Errorf("%q is read as %+v, written as %q and read as %+v, %v", s, a, a, back, err)
		}
		if err := protocol.CheckForeignName(a.Name); err != nil {
			t.Errorf("%q: %v", s, err)
		}
	})
}
