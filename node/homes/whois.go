package homes

import (
	"errors"
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// NoHostError says that neither config.yaml nor any host file of the record says which host this
// is.
type NoHostError struct{ User, Hostname string }

// Error names who was looked for, and where.
func (e *NoHostError) Error() string {
	return fmt.Sprintf("no host file in %s/ of record.git is that of the user %q at %q, and config.yaml names no alias", protocol.HostsDir, e.User, e.Hostname)
}

// LoadConfig reads config.yaml. If it names no alias, that is found out (R11): it is that of the
// host file which names this user and this machine, else of the one that names this machine and no
// user. The error is a NoHostError if there is none.
func LoadConfig(home configs.Home) (configs.Config, error) {
	cfg, err := configs.Load(home.Config())
	if err != nil || cfg.Alias != "" {
		return cfg, err
	}
	cfg.Alias, err = whoIs(home, whereabouts.User(), whereabouts.Hostname())
	return cfg, err
}

// whoIs is the alias of the host that a user has on a machine, by the host files of the record.
func whoIs(home configs.Home, user, hostname string) (protocol.Name, error) {
	var both, machine []protocol.Name
	err := gitsync.Peek(home.Dir, protocol.HostsDir, func(path string, data []byte) error {
		says, err := protocol.ParseHostFile(data)
		if _, removed := protocol.HostFileRemoved(data); err != nil || removed || !books.IsHostFile(path) || says.Hostname != hostname || hostname == "" {
			return nil
		}
		switch protocol.HostFileUser(data) {
		case user:
			both = append(both, says.Host)
		case "":
			machine = append(machine, says.Host)
		}
		return nil
	})
	if err != nil && !errors.Is(err, gitsync.ErrNoRecord) {
		return "", fmt.Errorf("cannot find out which host this is: %w", err)
	}
	if len(both) == 0 {
		both = machine
	}
	slices.Sort(both)
	switch len(both) {
	case 0:
		return "", &NoHostError{user, hostname}
	case 1:
		return both[0], nil
	}
	return "", control.Errorf(control.KindConflict, "write which one it is into config.yaml, as alias: NAME",
		"cannot find out which host this is: the host files of %s and %s match this machine equally", both[0], both[1])
}

var errInterrupted = control.Errorf(control.KindFailed, "", "cannot make a node: interrupted")

// UnsureError says that the push of a join has failed, and that the remote may still have what was
// pushed.
type UnsureError struct{ Push error }

// Error implements error.
func (e *UnsureError) Error() string { return e.Push.Error() }

// told is the error for a person whose host may have joined.
func (e *UnsureError) told(alias protocol.Name, home configs.Home) error {
	return control.Errorf(control.KindFailed, "go on with it: parley up -d",
		"cannot say whether %s has joined: %v; its home %s stays, and with it the key", alias, e.Push, home.Dir)
}
