package cli

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// HomeDir is the home that --home or PARLEY_HOME names, or else the home that is usual on the
// system.
func (p *Program) HomeDir() (configs.Home, error) {
	if p.home != "" {
		dir, err := filepath.Abs(p.home)
		return configs.Home{Dir: dir}, err
	}
	dir, err := configs.DefaultHome(p.Getenv)
	return configs.Home{Dir: dir}, err
}

// Client returns the node of the home. No connection is made before the first call.
func (p *Program) Client() (control.Service, error) {
	home, err := p.HomeDir()
	if err != nil {
		return nil, err
	}
	return p.Connect(p.socket(home)), nil
}

// socket is the node's socket. If PARLEY_SOCKET is set, it is that socket, for an agent that has no
// access to a home, unless the person names a home.
func (p *Program) socket(home configs.Home) string {
	if socket := p.Getenv("PARLEY_SOCKET"); socket != "" && p.home == "" {
		return socket
	}
	return home.Socket()
}

// Configured reports whether "parley init" was run for the home.
func Configured(home configs.Home) bool {
	_, err := os.Stat(home.Config())
	return err == nil
}

// NotConfigured says that a home has no configuration. `cannot` says what is not possible because
// of that. The hint says what "parley init" would do about it.
func NotConfigured(home configs.Home, cannot string) *control.Error {
	foreign := new(configs.HomeError)
	if errors.As(home.Check(), &foreign) {
		return control.Errorf(control.KindRefused, "name another folder with --home DIR", "%s%v", cannot, foreign)
	}
	if draft, err := configs.Load(home.Draft()); err == nil {
		return control.Errorf(control.KindNotFound, configs.UnfinishedHint(draft), "%sthe node at %s is half made: that was cut short", cannot, home.Dir)
	}
	if _, err := os.Stat(home.Record()); err == nil {
		return control.Errorf(control.KindNotFound, configs.LostHint, "%s%s holds a record and no config.yaml", cannot, home.Dir)
	}
	return control.Errorf(control.KindNotFound, "parley init", "%sthere is no node at %s yet", cannot, home.Dir)
}

// CopiedHome returns an error if a home is a copy of another one; nil for every other home.
// `cannot` says what is not done with a copy.
func CopiedHome(home configs.Home, cannot string) *control.Error {
	copied := new(configs.CopiedError)
	if _, err := home.CheckOrigin(); !errors.As(err, &copied) {
		return nil
	}
	return control.Errorf(control.KindConflict, copied.Hint(), "%s: %v", cannot, copied)
}

// NoNodeRuns reports whether an error says that no node runs.
func NoNodeRuns(err error) bool {
	e := control.AsError(err)
	return e.Kind == control.KindUnavailable && e.Hint == "parley up"
}
