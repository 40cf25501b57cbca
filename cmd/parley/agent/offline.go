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
	RemoveAgent(r control.AgentRequest) (control.None, error)
}

// changeAgents has the running node change how agents are served. If no node runs, it changes their
// files, and `offline` is true. A node that is just starting or stopping is left alone.
func changeAgents[Q, A any](ctx context.Context, p *cli.Program, verb control.Verb[Q, A], r Q, files func(agentFiles, Q) (A, error)) (done A, offline bool, err error) {
	client, err := p.Client()
	if err != nil {
		return done, false, err
	}
	home, err := p.HomeDir()
	if err != nil {
		return done, false, err
	}
	done, err = verb.Ask(ctx, client, r)
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
	done, err = files(f, r)
	return done, true, errors.Join(err, f.Close())
}

// fromNextStart is said of a change that was made while no node runs.
func fromNextStart(offline bool) string {
	if !offline {
		return ""
	}
	return "; no node runs here, and the next start tells the fleet"
}
