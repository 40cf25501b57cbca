package node

import "github.com/parleyfleet/parley/node/control"

// typed refuses what cannot be undone where nobody has typed that it is to be done.
func typed(phrase, want, what string) error {
	if phrase == want {
		return nil
	}
	return control.Errorf(control.KindRefused, "run the command at a terminal: it asks for the phrase",
		"cannot %s: it cannot be undone, and nobody has typed %q", what, want)
}
