package agent

import (
	"context"
	"errors"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// agentFiles changes the agents of a host whose node does not run.
type agentFiles interface {
	SetAgent(r control.SetAgentRequest) (control.ChangedAgent, error)
	PauseAgent(r control.PauseRequest) (control.ChangedAgent, error)
	RemoveAgent(r control.AgentRequest) error
}

// changeAgents has the running node change how agents are served. If no node runs, it changes their
// files, and `offline` is true. A node that is just starting or stopping is left alone.
func changeAgents[T any](ctx context.Context, p *cli.Program, online func(control.Service) (T, error), files func(agentFiles) (T, error)) (done T, offline bool, err error) {
	client, err := p.Client()
	if err != nil {
		return done, false, err
	}
	home, err := p.HomeDir()
	if err != nil {
		return done, false, err
	}
	done, err = online(client)
	if err == nil || !cli.NoNodeRuns(err) || !cli.Configured(home) {
		return done, false, err
	}
	if err := p.ForOperator("change how agents are served"); err != nil {
		return done, false, err
	}
	f, openErr := node.OpenAgentFiles(home)
	switch {
	case errors.Is(openErr, homes.ErrLocked):
		return done, false, err
	case openErr != nil:
		return done, false, openErr
	}
	done, err = files(f)
	return done, true, errors.Join(err, f.Close())
}

// fromNextStart is said of a change that was made while no node runs.
func fromNextStart(offline bool) string {
	if !offline {
		return ""
	}
	return "; no node runs here, and the next start tells the fleet"
}
