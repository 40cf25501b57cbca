package cli

import (
	"bufio"
	"strings"

	"github.com/parleyfleet/parley/internal/term"
)

// Confirm asks whoever types; anything but y or yes is a no.
func (p *Program) Confirm(question string) bool {
	p.Err.Printf("%s", strings.Join(term.Wrap(question, p.Err.Width), "\n"))
	line, _ := bufio.NewReader(p.Stdin).ReadString('\n') // who closes the input says no
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes"
}
