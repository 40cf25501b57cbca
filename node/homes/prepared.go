package homes

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/durable"
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

// ExistingSystem is what the configuration says about an existing NATS system, and who this host is
// there in the form of the bus. The content of the files is checked.
func ExistingSystem(b configs.Bus) (configs.System, bus.Login, error) {
	s, err := b.System(os.Getenv)
	if err != nil {
		return s, bus.Login{}, err
	}
	login := bus.Login{
		Creds: s.Creds, NKey: s.NKey, User: s.User, Password: s.Password, Token: s.Token,
		Cert: s.Cert, Key: s.Key, CA: s.CA, TLSFirst: s.TLSFirst, InboxPrefix: s.InboxPrefix,
	}
	return s, login, login.Check()
}

// NextStart is a number that rises with every start of the node on a home. With it, other hosts
// recognize an older presence that somebody repeats. It is the time in milliseconds, but always
// more than at the last start, because a clock may have been put back.
func NextStart(home configs.Home, now time.Time) (uint64, error) {
	file := filepath.Join(home.Keys(), "starts")
	number := uint64(max(0, now.UnixMilli()))
	if data, err := os.ReadFile(file); err == nil {
		if last, err := strconv.ParseUint(strings.TrimSpace(string(data)), 10, 63); err == nil {
			number = max(number, last+1)
		}
	}
	if err := durable.WriteFile(file, []byte(strconv.FormatUint(number, 10)+"\n"), 0o600); err != nil {
		return number, fmt.Errorf("cannot count the starts of this node: %w", err)
	}
	return number, nil
}
