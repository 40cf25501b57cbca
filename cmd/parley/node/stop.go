package node

import (
	"cmp"
	"context"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/service"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/internal/whereabouts"
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
		Example: `  parley stop`,
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
--unwatched if it ran so. If no node is running, it is only started. One that
runs as a service (parley install service) is started again by the system.`,
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
			if s, ok := supervised(cmd.Context(), p, home); ok {
				return runRestartService(cmd.Context(), s, client, v)
			}
			s, _ := control.ShowStatus.Ask(cmd.Context(), client) // if none runs, it is started as usual
			if err := runStop(cmd.Context(), home.Socket(), client, v); err != nil && !cli.NoNodeRuns(err) {
				return err
			}
			return runDetached(cmd.Context(), home, false, s.Unwatched || p.Unwatched, client, v, func() { showStarted(cmd.Context(), client, v) })
		}),
	}
}

// End stops the node of a home, and returns when it is gone. It does nothing if none runs.
func End(ctx context.Context, p *cli.Program, home configs.Home) error {
	v := p.View()
	v.Out = v.Err // what the command itself prints is about something else
	err := runStop(ctx, home.Socket(), p.Connect(home.Socket()), v)
	if err != nil && cli.NoNodeRuns(err) {
		return nil
	}
	return err
}

// supervised is the service that runs the node of a home now; not ok: none does.
func supervised(ctx context.Context, p *cli.Program, home configs.Home) (s service.Service, ok bool) {
	usual, err := configs.UsualHome(p.Getenv)
	if err != nil {
		return s, false
	}
	person, _ := os.UserHomeDir() // without one there is no service of theirs
	s = service.Service{Name: service.Name(home.Dir, usual)}
	for _, s.User = range []string{"", whereabouts.User()} {
		s.Folder = service.FolderOf(runtime.GOOS, s.User != "", person, p.Getenv)
		if s.Active(ctx, runtime.GOOS) {
			return s, true
		}
	}
	return s, false
}

// runRestartService has the system restart a node, and waits until the new one answers.
func runRestartService(ctx context.Context, s service.Service, client control.Service, v cli.View) error {
	before, _ := control.ShowStatus.Ask(ctx, client) // one that does not answer has no process
	argv := s.Restart(runtime.GOOS)
	if said, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		why, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
		return control.Errorf(control.KindFailed, strings.Join(argv, " "), "cannot restart the service: %s", cmp.Or(term.Line(why), err.Error()))
	}
	defer v.Busy("waiting until the node answers")()
	for wait.Sleep(ctx, stopPoll) {
		now, err := control.ShowStatus.Ask(ctx, client)
		switch {
		case err == nil && now.PID != before.PID:
			showReady(ctx, client, v, true)
			return nil
		case err != nil && saidMeanwhile(err) == "" && !s.Active(ctx, runtime.GOOS):
			return control.Errorf(control.KindFailed, "parley logs", "cannot start: the system runs the service %s no more", s.Name)
		}
	}
	return ctx.Err()
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
		if !wait.Sleep(within, stopPoll) {
			return control.Errorf(control.KindFailed, "parley status",
				"cannot say that the node has stopped: it was asked to, and still drains")
		}
	}
}
