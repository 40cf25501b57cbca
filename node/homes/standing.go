package homes

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// Standing knows which folder a home is, while a node runs on it.
type Standing struct {
	home configs.Home
	is   fs.FileInfo
}

// StandOn looks which folder a home is.
func StandOn(home configs.Home) (Standing, error) {
	is, err := os.Stat(home.Dir)
	return Standing{home, is}, err
}

// Check returns an error if the home was removed or moved away, or if another folder is in its
// place. Then nothing may be written any more: it would bring back what somebody removed, or go
// into a home of another node.
func (s Standing) Check() error {
	now, err := os.Stat(s.home.Dir)
	why := "another folder is in its place"
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		why = "it was removed or moved"
	case err != nil, os.SameFile(s.is, now):
		return nil // the disk may only be slow to answer
	}
	return control.Errorf(control.KindFailed, "bring it back from where it is now and start the node again, or begin anew: parley init",
		"the home %s of this node is gone: %s; nothing was written since, and what it had not pushed or told another host is only there", s.home.Dir, why)
}
