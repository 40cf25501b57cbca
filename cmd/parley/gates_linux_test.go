package main

import (
	"encoding/json"
	"strings"
	"syscall"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

// at runs parley at a terminal, with more of an environment. `ended` waits until it has ended.
func (h *storyHost) at(env []string, args ...string) (p *clitest.Terminal, ended func()) {
	h.t.Helper()
	p = clitest.OpenTerminal(h.t)
	cmd := h.command(h.t.Context(), args...)
	cmd.Env = append(cmd.Env, env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.Side, p.Side, p.Side
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	return p, func() {
		h.t.Helper()
		if err := cmd.Wait(); err != nil {
			h.t.Errorf("parley %v: %v: %s", args, err, p.Seen())
		}
	}
}

func (h *storyHost) gates(flags ...string) (list control.GateList) {
	h.t.Helper()
	if err := json.Unmarshal([]byte(h.must(append([]string{"gates", "--json"}, flags...)...)), &list); err != nil {
		h.t.Fatal(err)
	}
	return list
}

// hasGates gives a host two agents, its human a key with the passphrase "horse", and two gates.
func (h *storyHost) hasGates() {
	h.t.Helper()
	for _, name := range []string{"skills", "mawjs"} {
		h.must("agent", "add", name, "--inbox")
	}
	p, ended := h.at(nil, "gates", "key", "add")
	for _, question := range []string{"A passphrase for", "The same again"} {
		p.Shows(question)
		p.Type("horse\n")
	}
	ended()
	_, ended = h.at([]string{"PARLEY_AGENT=skills"}, "party", "organize", "one", "--with", "mawjs")
	ended()
	_, ended = h.at([]string{"PARLEY_AGENT=mawjs"}, "party", "organize", "two", "--with", "skills")
	ended()
}

// A human is led through all gates at a terminal, and decides each by itself. It prevents: Enter or a
// stray word decides something, what was answered elsewhere is decided again, in the walk or by a command
// that had shown it before, the passphrase is asked for at each gate, what opens meanwhile is left out, and an agent is asked.
func TestGatesAreWalkedThrough(t *testing.T) {
	t.Parallel()
	h := newStoryHost(t, "white")
	h.start()
	h.hasGates()
	for _, name := range []string{"chair", "lens"} {
		h.must("agent", "add", name, "--exec", "parley demo-agent lens")
	}
	p, ended := h.at(nil, "frame", "Which of the two?", "--coordinator", "chair", "--agent", "lens", "--no-wait")
	p.Shows("The passphrase of")
	p.Type("horse\n")
	ended()
	h.until("the brief waits", func() bool { return len(h.gates().Gates) == 3 })
	second := h.gates().Gates[1]

	p, ended = h.at([]string{"PARLEY_AGENT=skills"}, "gates")
	ended()
	if plain := h.must("gates"); strings.Contains(p.Seen()+plain, "[a]ccept") {
		t.Errorf("an agent, or a pipe, is asked:\n%s\n%s", p.Seen(), plain)
	}

	p, ended = h.at(nil, "gates")
	p.Shows("Gate 1 of 3")
	p.Shows("[q]uit: ")
	p.Type("\ny\na\n")
	p.Shows("The passphrase of")
	p.Type("horse\n")
	p.Shows("✓ accepted: skills wants to organize a party, one")
	p.Shows("Gate 2 of 3")
	late, _ := h.at(nil, "gates", "accept", second.ID)
	late.Shows("[y/N]")
	elsewhere, answered := h.at(nil, "gates", "reject", second.ID)
	elsewhere.Shows("[y/N]")
	elsewhere.Type("y\n")
	elsewhere.Shows("The passphrase of")
	elsewhere.Type("horse\n")
	answered()
	late.Type("y\n")
	late.Shows("The passphrase of")
	late.Type("horse\n")
	late.Shows("nothing was decided")
	p.Type("a\n")
	p.Shows("It changed meanwhile: you decided nothing.")
	p.Shows("two — mawjs wants to organize a party: declined")
	p.Shows("Gate 3 of 3")
	p.Shows("Mission brief [number, s: skip, q: quit]")
	p.Type("\n1\n")
	p.Shows("Mode [number, s: skip, q: quit]")
	p.Type("1\n")
	p.Shows("✓ now:")
	p.Shows("invite of mawjs@white")
	p.Type("d 2h after lunch\n")
	p.Shows("put off: invite of mawjs@white")
	p.Type("q\n") // the next gate of the inquiry may have come
	ended()
	if seen := p.Seen(); strings.Count(seen, "The passphrase of") != 1 || strings.Count(seen, "Nothing was decided") != 2 {
		t.Errorf("one unlock serves for all, and Enter and y decide nothing:\n%s", seen)
	}
	var got []string
	for _, g := range h.gates("--all").Gates {
		if g.For != "inquiry" {
			got = append(got, g.Party+": "+string(g.Outcome)+" "+g.Reason)
		}
	}
	if want := "one: accepted , two: declined , one: deferred after lunch"; strings.Join(got, ", ") != want {
		t.Errorf("it came to %q, want %q", got, want)
	}
}

// Whoever makes a node at a terminal is offered to be told what waits; Enter is no. It prevents: a
// gate that nobody ever hears of, and a script that hangs at a question.
func TestInitOffersToTell(t *testing.T) {
	t.Setenv("DISPLAY", ":0")
	h := emptyStoryHost(t)
	p, ended := h.at(nil, "init", "--alias", "white", "--human", "nat")
	p.Shows("Tell you on the desktop when something waits for you? [y/N]")
	p.Type("\n")
	p.Shows("Ring the bell of your terminals when something waits? [y/N]")
	p.Type("y\n")
	p.Shows("✓ bell")
	ended()
	if !strings.Contains(p.Seen(), "\a") {
		t.Error("the bell was not tried")
	}
	if got := h.must("notify", "--json"); got != `[{"command":"","way":"bell","for":[],"quiet":[]}]`+"\n" {
		t.Errorf("it is told by %s", got)
	}
}
