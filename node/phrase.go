package node

import "github.com/parleyfleet/parley/node/control"

// typed returns an error unless somebody has typed the phrase that confirms what cannot be undone.
func typed(phrase, want, what string) error {
	if phrase == want {
		return nil
	}
	return control.Errorf(control.KindRefused, "run the command at a terminal: it asks for the phrase",
		"cannot %s: it cannot be undone, and nobody has typed %q", what, want)
}
