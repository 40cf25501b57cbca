package homes

import (
	"path/filepath"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// prepared is a folder in which somebody has prepared what a new node is to be: config.yaml and
// agents/NAME.yaml, as in a home. It is read and never changed.
type prepared struct {
	config configs.Config
	agents []configs.Agent
}

// readPrepared reads such a folder. If the options name a remote, it must be the one in
// config.yaml, or config.yaml must have none.
func (o Options) readPrepared() (prepared, error) {
	cfg, err := configs.Load(filepath.Join(o.From, "config.yaml"))
	if err != nil {
		return prepared{}, control.Errorf(control.KindUsage, "", "cannot make a node from %s: %v", o.From, err)
	}
	switch {
	case cfg.Remote == "":
		cfg.Remote = o.Remote
	case o.Remote != "" && o.Remote != cfg.Remote:
		return prepared{}, control.Errorf(control.KindUsage, "name it in one place",
			"cannot make a node from %s: its config.yaml names another remote than the command", o.From)
	}
	if o.Join && cfg.Remote == "" {
		return prepared{}, control.Errorf(control.KindUsage, "parley join URL --from "+o.From, "cannot join: neither the command nor %s names the shared record",
			filepath.Join(o.From, "config.yaml"))
	}
	if cfg.Alias == "" {
		return prepared{}, control.Errorf(control.KindUsage, "write it there", "cannot make a node from %s: its config.yaml names no alias", o.From)
	}
	if err := cfg.Validate(); err != nil {
		return prepared{}, control.Errorf(control.KindUsage, "", "cannot make a node from %s: %v", o.From, err)
	}
	agents, err := configs.ReadAgents(filepath.Join(o.From, "agents"))
	if err != nil {
		return prepared{}, control.Errorf(control.KindUsage, "", "cannot make a node from %s: %v", o.From, err)
	}
	for _, a := range agents {
		if a.Name == cfg.Human {
			return prepared{}, control.Errorf(control.KindUsage, "choose another name", "cannot make a node from %s: %s is its human and an agent", o.From, a.Name)
		}
	}
	return prepared{cfg, agents}, nil
}
