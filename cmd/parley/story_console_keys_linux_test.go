package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/node/control"
)

// It prevents: a decision that is asked when the human's key is replaced or ends counts with the old key,
// or the console ends with it.
func TestConsoleWhileAKeyEnds(t *testing.T) {
	t.Parallel()
	h := newStoryHost(t, "white")
	h.start()
	h.hasGates()
	terminal, ended := h.at(nil, "console", "--no-open")
	w := enter(t, terminal)
	all := h.gates().Gates
	click := func(i int, act string) (told string) {
		t.Helper()
		shown := w.shown()
		at := slices.IndexFunc(shown, func(fields []string) bool { return fields[1] == all[i].Path })
		if at < 0 {
			t.Fatalf("%s does not stand on the page", all[i].Path)
		}
		h.until("the terminal does not rest", func() bool {
			told = w.click("/gates", append(shown[at], "act", act)...)
			return !strings.Contains(told, "over at once")
		})
		return told
	}
	click(0, "accept")
	terminal.Shows("Accept it as nat? [y/N]")
	p, over := h.at(nil, "gates", "key", "rotate")
	for _, step := range [][2]string{{"The passphrase of", "horse\n"}, {"A passphrase for", "camel\n"}, {"The same again", "camel\n"}} {
		p.Shows(step[0])
		p.Type(step[1])
	}
	over()
	terminal.Type("y\n")
	terminal.Shows("The passphrase of")
	terminal.Type("horse\ncamel\n") // the old one opens nothing
	terminal.Shows("✓ accepted")

	click(1, "reject")
	terminal.Shows("Decline it as nat? [y/N]")
	p, over = h.at(nil, "gates", "key", "revoke")
	p.Shows("The passphrase of")
	p.Type("camel\n")
	p.Shows("revoke nat")
	p.Type("revoke nat\n")
	over()
	terminal.Type("y\n")
	terminal.Shows("the key of nat is revoked")
	h.until("the page says it", func() bool {
		_, page := w.do(http.MethodGet, "/gates", "", "")
		return strings.Contains(page, "has no key of their own")
	})
	if i := slices.IndexFunc(h.gates("--all").Gates, func(g control.Gate) bool { return g.Path == all[1].Path && g.Outcome == "pending" }); i < 0 {
		t.Error("something was decided without a key")
	}
	terminal.Type("\x03")
	ended()
}
