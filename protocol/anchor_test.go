package protocol_test

import (
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// C28: an issue may be named in each of these ways; the repository comes from origin where
// it is not said.
func TestParseAnchor(t *testing.T) {
	const origin = "Soul-Brews-Studio/maw-js"
	for text, want := range map[string][2]string{
		"332":            {"Soul-Brews-Studio/maw-js#332", "https://github.com/Soul-Brews-Studio/maw-js/issues/332"},
		"#332":           {"Soul-Brews-Studio/maw-js#332", "https://github.com/Soul-Brews-Studio/maw-js/issues/332"},
		"maw-ui#7":       {"Soul-Brews-Studio/maw-ui#7", "https://github.com/Soul-Brews-Studio/maw-ui/issues/7"},
		"nat/parley.x#1": {"nat/parley.x#1", "https://github.com/nat/parley.x/issues/1"},
		"https://github.com/nat/kits/issues/12#issuecomment-3": {"nat/kits#12", "https://github.com/nat/kits/issues/12"},
	} {
		a, err := protocol.ParseAnchor(text, origin)
		if err != nil || a.String() != want[0] || a.URL() != want[1] {
			t.Errorf("%q: got %s, %s, %v", text, a, a.URL(), err)
		}
		if back, err := protocol.ParseAnchor(a.String(), ""); err != nil || back != a {
			t.Errorf("%q is written as %s and read as %s, %v", text, a, back, err)
		}
	}
	for text, want := range map[string]string{"maw-js#332": "maw-js#332", "#5": "#5"} {
		if a, err := protocol.ParseAnchor(text, ""); err != nil || a.String() != want || a.URL() != "" {
			t.Errorf("%q without an origin: got %s, %q, %v", text, a, a.URL(), err)
		}
	}
	for _, text := range []string{"", "#", "#0", "abc", "../x#1", "..#1", "a/b/c#1", "x#-1", "x#1 y", "-o/x#1", "https://example.com/a/b/issues/1", "x#9999999999"} {
		if a, err := protocol.ParseAnchor(text, origin); err == nil {
			t.Errorf("%q is %s", text, a)
		}
	}
}

func FuzzParseAnchor(f *testing.F) {
	for _, s := range []string{"332", "a/b#1", "b#1", "https://github.com/a/b/issues/1"} {
		f.Add(s, "o/r")
	}
	f.Fuzz(func(t *testing.T, s, origin string) {
		a, err := protocol.ParseAnchor(s, "")
		if err != nil {
			return
		}
		if back, err := protocol.ParseAnchor(a.String(), ""); err != nil || back != a {
			t.Errorf("%q is written as %s and read as %v, %v", s, a, back, err)
		}
		_, _ = protocol.ParseAnchor(s, origin)
	})
}
