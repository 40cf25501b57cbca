package homes

import (
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

var errInterrupted = control.Errorf(control.KindFailed, "", "cannot make a node: interrupted")

// UnsureError says that the push of a join has failed, and that the remote may still have what was
// pushed.
type UnsureError struct{ Push error }

// Error implements error.
func (e *UnsureError) Error() string { return e.Push.Error() }

// told is the error for a person whose host may have joined.
func (e *UnsureError) told(alias protocol.Name, home configs.Home) error {
	return control.Errorf(control.KindFailed, "go on with it: parley up",
		"cannot say whether %s has joined: %v; its home %s stays, and with it the key", alias, e.Push, home.Dir)
}
