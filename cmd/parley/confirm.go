package main

import (
	"bufio"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
)

// confirm asks whoever types; anything but y or yes is a no.
func (p *program) confirm(question string) bool {
	p.err.Printf("%s", strings.Join(term.Wrap(question, p.err.Width), "\n"))
	line, _ := bufio.NewReader(p.stdin).ReadString('\n') // who closes the input says no
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
