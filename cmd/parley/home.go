package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// homeDir is the home that --home, PARLEY_HOME or the system's custom names.
func (p *program) homeDir() (configs.Home, error) {
	if p.home != "" {
		dir, err := filepath.Abs(p.home)
		return configs.Home{Dir: dir}, err
	}
	dir, err := configs.DefaultHome(p.getenv)
	return configs.Home{Dir: dir}, err
}

// client is the node of the home. No connection is made before the first call.
func (p *program) client() (control.Service, error) {
	home, err := p.homeDir()
	if err != nil {
		return nil, err
	}
	return p.connect(p.socket(home)), nil
}

// socket is the node's socket: the one that PARLEY_SOCKET names for an agent that has
// no access to a home, unless the person names a home.
func (p *program) socket(home configs.Home) string {
	if socket := p.getenv("PARLEY_SOCKET"); socket != "" && p.home == "" {
		return socket
	}
	return home.Socket()
}

// configured reports whether "parley init" was run for the home.
func configured(home configs.Home) bool {
	_, err := os.Stat(home.Config())
	return err == nil
}

// errNotConfigured says that a home has no configuration, behind what cannot be done
// because of that, with what "parley init" would do about it.
func errNotConfigured(home configs.Home, cannot string) *control.Error {
	foreign := new(configs.HomeError)
	if errors.As(home.Check(), &foreign) {
		return control.Errorf(control.KindRefused, "name another folder with --home DIR", "%s%v", cannot, foreign)
	}
	if _, err := os.Stat(home.Record()); err == nil {
		return control.Errorf(control.KindNotFound, configs.LostHint, "%s%s holds a record and no config.yaml", cannot, home.Dir)
	}
	return control.Errorf(control.KindNotFound, "parley init", "%sthere is no node at %s yet", cannot, home.Dir)
}

// copiedHome refuses to do what is said with a home that is a copy of another one; it
// is nil for every other home.
func copiedHome(home configs.Home, cannot string) *control.Error {
	copied := new(configs.CopiedError)
	if _, err := home.CheckOrigin(); !errors.As(err, &copied) {
		return nil
	}
	return control.Errorf(control.KindConflict, copied.Hint(), "%s: %v", cannot, copied)
}

// noNodeRuns reports whether that is why a node did not answer.
func noNodeRuns(err error) bool {
	e := control.AsError(err)
	return e.Kind == control.KindUnavailable && e.Hint == "parley up"
}
