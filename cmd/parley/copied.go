package main

import (
	"errors"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// copiedHome refuses to do what is said with a home that is a copy of another one; it
// is nil for every other home.
func copiedHome(home configs.Home, cannot string) *control.Error {
	copied := new(configs.CopiedError)
	if _, err := home.CheckOrigin(); !errors.As(err, &copied) {
		return nil
	}
	return control.Errorf(control.KindConflict, copied.Hint(), "%s: %v", cannot, copied)
}
