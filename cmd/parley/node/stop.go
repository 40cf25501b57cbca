package node

import (
	"context"
	"os"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

const (
	stopWithin = 15 * time.Second
	stopPoll   = 20 * time.Millisecond
)

// NewStopCommand is parley stop.
func NewStopCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "stop",
		Short: "Stop the node and wait until it is gone",
		Long: `Stop the node and wait, at most 15 seconds, until it is gone. It finishes what
it has begun; what it has stored stays. If no node is running, that is an error
(1).`,
		Example: `  parley stop && parley up -d`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			return runStop(cmd.Context(), home.Socket(), p.Connect(home.Socket()), v)
		}),
	}
}

// NewRestartCommand is parley restart.
func NewRestartCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "restart",
		Short: "Stop the node, and start it again in the background",
		Long: `Stop the node as parley stop does, and start it as parley up -d does, with
--unwatched if it ran so. If no node is running, it is only started. Where a
service starts the node, restart the service instead.`,
		Example: `  parley restart`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			if err := p.ForOperator("restart the node"); err != nil {
				return err
			}
			if _, err := upConfig(home, false); err != nil && !isUnknown(err) {
				return err // a node that could not start again goes on
			}
			client := p.Connect(home.Socket())
			s, _ := control.ShowStatus.Ask(cmd.Context(), client) // if none runs, it is started as usual
			if err := runStop(cmd.Context(), home.Socket(), client, v); err != nil && !cli.NoNodeRuns(err) {
				return err
			}
			return runDetached(cmd.Context(), home, false, s.Unwatched || p.Unwatched, client, v)
		}),
	}
}

// listensAt is the process that listens at a socket, if the system shows it and it is another one.
func listensAt(ctx context.Context, socket string) (none process.ID) {
	conn, err := control.Dial(ctx, socket)
	if err != nil {
		return none
	}
	defer conn.Close()
	peer, err := process.PeerOf(conn)
	if err != nil {
		return none
	}
	defer peer.Close()
	if peer.PID == os.Getpid() {
		return none
	}
	return peer.ID
}

func runStop(ctx context.Context, socket string, client control.Service, v cli.View) error {
	node := listensAt(ctx, socket)
	if _, err := control.Stop.Ask(ctx, client); err != nil {
		return err
	}
	defer v.Busy("waiting until it has finished what it began")()
	within, cancel := context.WithTimeout(ctx, stopWithin)
	defer cancel()
	for {
		conn, err := control.Dial(within, socket)
		if err != nil && within.Err() == nil && !node.Alive() { // it holds the home until it ends
			v.Out.Printf("stopped\n")
			return nil
		}
		if err == nil {
			conn.Close()
		}
		select {
		case <-within.Done():
			return control.Errorf(control.KindFailed, "parley status",
				"cannot say that the node has stopped: it was asked to, and still drains")
		case <-time.After(stopPoll):
		}
	}
}
