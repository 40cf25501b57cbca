package session

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/hook"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewHookCommand is parley hook. Command lines as parley install writes them never come here: package
// hook answers them before.
func NewHookCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:    "hook PROGRAM [bells]",
		Hidden: true,
		Long: `Answer a hook of an agent program. The program gives what happened on standard
input, and takes what its model is to be told from standard output. parley
install sets it up; nobody types it.

Where no node runs, where the node does not answer in time, and within a run of
an agent's command, it prints nothing. It never fails: a program would stop.

With bells, it prints each bell of the session beneath which it runs, one a
line, until the session ends. It waits for a node where none runs.`,
		Args: cobra.ArbitraryArgs, // what cannot be answered is not answered: code 2 would stop the program
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) == 1:
				if socket, err := p.Socket(); err == nil {
					hook.Answer(socket, args[0], p.Stdin, p.Unchecked(), p.Getenv)
				}
			case len(args) == 2 && args[1] == "bells":
				bells(cmd.Context(), p, args[0])
			}
			return nil
		},
	}
}

// lookAgain is how often a node is looked for that does not answer, and whether the session goes on.
const lookAgain = 5 * time.Second

// bells prints the bells of the session beneath which this runs. It ends with the program that has
// started it, and never before: the program would tell its model that it has.
func bells(ctx context.Context, p *cli.Program, program string) {
	starter, err := process.Find(os.Getppid())
	if err != nil || starter.PID == 1 {
		return // it has ended already
	}
	ctx, done := context.WithCancel(ctx)
	go func() {
		for starter.Alive() && wait.Sleep(ctx, lookAgain) {
		}
		done()
	}()
	here := p.Here()
	here.Program = program
	for ctx.Err() == nil {
		if client, err := p.Client(); err == nil {
			_ = control.SessionBells.Ask(ctx, client, here, func(r control.SessionRing) error { // no node: there will be one
				_, err := fmt.Fprintln(p.Unchecked(), r.Sentence)
				return err
			})
		}
		wait.Sleep(ctx, lookAgain)
	}
}
