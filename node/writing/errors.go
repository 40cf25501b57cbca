package writing

import (
	"context"
	"errors"
	"syscall"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/shortage"
	"github.com/parleyfleet/parley/node/control"
)

// AsError gives an error the kind by which its reader decides.
func AsError(err error) error {
	var known *control.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	case IsRefusal(err):
		return refused("", err)
	case errors.Is(err, ErrDraining):
		return control.Errorf(control.KindUnavailable, "start it again: parley up -d", "%v", err)
	case errors.Is(err, context.DeadlineExceeded):
		return control.Errorf(control.KindTimeout, "", "nothing came in time")
	}
	e := *control.AsError(err)
	if e.Hint == "" {
		e.Hint = DiskHint(err)
	}
	return &e
}

// Problem is AsError for a command of which it says what was to be done, if it is refused. Another
// error stays as it is.
func Problem(doing string, err error) error {
	if !IsRefusal(err) {
		return err
	}
	return refused("cannot "+doing+": ", err)
}

func refused(before string, err error) error {
	r, _ := errors.AsType[*fleet.Refusal](err)
	kinds := map[fleet.RefusalKind]control.Kind{
		fleet.Forbidden: control.KindRefused, fleet.Unknown: control.KindNotFound, fleet.Senseless: control.KindUsage}
	return control.Errorf(kinds[r.Kind], r.Hint, "%s%s", before, r.Reason)
}

// DiskHint is what to try if the disk of the home is the trouble.
func DiskHint(err error) string {
	const goesOn = "; what was stored is kept, and the node goes on by itself"
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "free space on the disk that holds the home (df shows it)" + goesOn
	case errors.Is(err, syscall.EROFS):
		return "the disk that holds the home is mounted read-only: see dmesg for why, then mount it for writing again" + goesOn
	case shortage.Is(err):
		return "this machine is short of files, processes or memory at the moment: try again; \"ulimit -a\" shows what the node may use"
	case errors.Is(err, syscall.EIO):
		return "the disk that holds the home fails: see dmesg, and make a backup now; what was stored before is kept"
	}
	return ""
}
