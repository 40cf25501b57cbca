package main

import (
	"strings"
	"testing"
)

// A human looks at a fleet in the console, answers an agent, and decides two gates at the terminal that
// the console leaves for that. It prevents: an unlock of their key outlives the gate for which it was
// given, and a console that is blind after its node was restarted.
func TestConsoleAtATerminal(t *testing.T) {
	t.Parallel()
	h := newStoryHost(t, "white")
	h.start()
	h.hasGates()
	p, ended := h.at([]string{"TERM=xterm"}, "console", "--tty")
	p.Shows("[1 Talk]")
	again := func(i int, text string) { // the screen had it before
		t.Helper()
		h.until("shown once more: "+text, func() bool { return strings.Count(p.Seen(), text) > i })
	}
	for i, name := range []string{"one", "two"} {
		p.Type("4")
		p.Shows("pending") // the node has told of the gates
		p.Type("/\x15" + name + "\r\r")
		again(i, "a decide")
		p.Type("a")
		again(i, "[q]uit: ")
		p.Type("a\n")
		again(i, "The passphrase of")
		p.Type("horse\n")
		p.Shows("wants to organize a party, " + name)
		again(i, "Enter goes back")
		p.Type("\n")
		again(i+1, "[4 Gates") // it listens again
	}
	h.must("hey", "nat", "--as", "skills", "where", "are", "you?")
	p.Type("1")
	p.Shows("where are you?")
	p.Type("Gr")
	p.Shows("to skills@white:")
	p.Type("at the console\r")
	p.Shows("sent: ")
	h.until("the answer is there", func() bool { return strings.Contains(h.must("inbox", "--as", "skills"), "at the console") })
	h.stop()
	p.Shows("connection lost")
	h.start()
	h.must("hey", "nat", "--as", "skills", "back", "again")
	p.Shows("back again")
	p.Type("q")
	ended()
	if seen := p.Seen(); strings.Count(seen, "The passphrase of") != 2 {
		t.Errorf("each gate needs its own unlock:\n%q", seen)
	}
}
