package node

import (
	"context"
	"errors"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

var errInterrupted = control.Errorf(control.KindFailed, "", "cannot make a node: interrupted")

// unsureError says that a push has failed, and that the remote may have what was pushed.
type unsureError struct{ error }

// unsure is err, the end of a push: as an unsureError where it was cut short and not
// refused.
func (n *Node) unsure(ctx context.Context, err error) error {
	if n.cfg.Remote == "" {
		return err
	}
	if ctx.Err() != nil { // git says so too, but as if the remote were to blame
		return &unsureError{errors.New("the push was cut short")}
	}
	trouble := n.record.Status().Trouble
	if !trouble.Pushing {
		return err // it could not even be fetched from
	}
	switch trouble.Kind {
	case gitsync.KindUnreachable, gitsync.KindThrottled, gitsync.KindOther:
		return &unsureError{err}
	default:
		return err
	}
}

// told is what a person is told whose host may have joined.
func (e *unsureError) told(alias protocol.Name, home configs.Home) error {
	return control.Errorf(control.KindFailed, "go on with it: parley up",
		"cannot say whether %s has joined: %v; its home %s stays, and with it the key", alias, e.error, home.Dir)
}
