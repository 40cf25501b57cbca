package homes

import (
	"path/filepath"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

// readPrepared reads a folder in which somebody has prepared what a new node is to be: config.yaml
// and agents/NAME.yaml, as in a home. If the options name a remote, it must be the one in config.yaml,
// or config.yaml must have none.
func (o Options) readPrepared() (configs.Config, []configs.Agent, error) {
	cfg, err := configs.Load(filepath.Join(o.From, "config.yaml"))
	if err != nil {
		return cfg, nil, control.Errorf(control.KindUsage, "", "cannot make a node from %s: %v", o.From, err)
	}
	switch {
	case cfg.Remote == "":
		cfg.Remote = o.Remote
	case o.Remote != "" && o.Remote != cfg.Remote:
		return cfg, nil, control.Errorf(control.KindUsage, "name it in one place",
			"cannot make a node from %s: its config.yaml names another remote than the command", o.From)
	}
	if o.Join && cfg.Remote == "" {
		return cfg, nil, control.Errorf(control.KindUsage, "parley join URL --from "+o.From, "cannot join: neither the command nor %s names the shared record",
			filepath.Join(o.From, "config.yaml"))
	}
	if cfg.Alias == "" {
		return cfg, nil, control.Errorf(control.KindUsage, "write it there", "cannot make a node from %s: its config.yaml names no alias", o.From)
	}
	if err := cfg.Validate(); err != nil {
		return cfg, nil, control.Errorf(control.KindUsage, "", "cannot make a node from %s: %v", o.From, err)
	}
	agents, err := configs.ReadAgents(filepath.Join(o.From, "agents"))
	if err != nil {
		return cfg, nil, control.Errorf(control.KindUsage, "", "cannot make a node from %s: %v", o.From, err)
	}
	for _, a := range agents {
		if a.Name == cfg.Human {
			return cfg, nil, control.Errorf(control.KindUsage, "choose another name", "cannot make a node from %s: %s is its human and an agent", o.From, a.Name)
		}
	}
	return cfg, agents, nil
}
