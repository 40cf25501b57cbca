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
--unwatched if it ran so. If no node is running, it is only started. Where the
system has a service of the node (parley install service), that starts it.`,
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
			if s, runs := serviceOf(cmd.Context(), p, home); runs {
				before, _ := control.ShowStatus.Ask(cmd.Context(), client) // one that does not answer has no process
				if err := begin(cmd.Context(), s); err != nil {
					return err
				}
				return answers(cmd.Context(), s, before.PID, client, v, func() { showReady(cmd.Context(), client, v, true) })
			}
			s, _ := control.ShowStatus.Ask(cmd.Context(), client) // if none runs, it is started as usual
			if err := runStop(cmd.Context(), home.Socket(), client, v); err != nil && !cli.NoNodeRuns(err) {
				return err
			}
			return runDetached(cmd.Context(), p, home, false, s.Unwatched, v, func() { showStarted(cmd.Context(), client, v) })
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

// Answers waits until the node that a service has just started answers.
func Answers(ctx context.Context, p *cli.Program, home configs.Home, s service.Service) error {
	return answers(ctx, s, 0, p.Connect(home.Socket()), p.View(), func() {})
}

// serviceOf is the service of a home, as its person or the machine has it, and whether the system
// runs the node by it now. It has no folder if there is none.
func serviceOf(ctx context.Context, p *cli.Program, home configs.Home) (found service.Service, runs bool) {
	var all []service.Service
	if usual, err := configs.UsualHome(p.Getenv); err == nil {
		person, _ := os.UserHomeDir() // without one there is no service of theirs
		all = append(all, service.Service{Name: service.Name(home.Dir, usual), Folder: service.FolderOf(runtime.GOOS, false, person, p.Getenv)})
	}
	if owner, err := service.OwnerOf(home.Dir); err == nil {
		all = append(all, service.OfMachine(runtime.GOOS, home.Dir, owner))
	}
	for _, s := range all {
		if s.Active(ctx, runtime.GOOS) {
			return s, true
		}
		if found.Folder == "" && s.Installed(runtime.GOOS) {
			found = s
		}
	}
	return found, false
}

// begin has the system start a service, anew if it runs. What failed earlier does not matter.
func begin(ctx context.Context, s service.Service) error {
	s.Forget(ctx, runtime.GOOS)
	argv := s.Restart(runtime.GOOS)
	said, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput()
	if err == nil {
		return nil
	}
	if s.User != "" && os.Geteuid() != 0 {
		argv = append([]string{"sudo"}, argv...)
	}
	why, _, _ := strings.Cut(strings.TrimSpace(string(said)), "\n")
	return control.Errorf(control.KindFailed, strings.Join(argv, " "), "cannot start the service %s: %s", s.Name, cmp.Or(strings.TrimSuffix(term.Line(why), "."), err.Error()))
}

// answers waits until a node answers that the system has started after the process `before`.
func answers(ctx context.Context, s service.Service, before int, client control.Service, v cli.View, ready func()) error {
	bar := v.Progress("waiting until the node answers")
	defer bar.End()
	for wait.Sleep(ctx, readyPoll) {
		now, err := control.ShowStatus.Ask(ctx, client)
		switch said := saidMeanwhile(err); {
		case err == nil && now.PID != before:
			bar.End()
			ready()
			return nil
		case saysIdle(err, bar, v):
			return nil
		case err != nil && said == "" && !s.Active(ctx, runtime.GOOS):
			return control.Errorf(control.KindFailed, s.Journal(runtime.GOOS), "cannot start: the system runs the service %s no more", s.Name)
		default:
			bar.Say(said)
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
