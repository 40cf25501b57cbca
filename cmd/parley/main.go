// Command parley lets agents on many machines talk live over NATS, with every word kept in git.
//
// The folders beside this file hold the commands, one folder for each group, and cli, which is what
// they share. A command is in a file of its own name: NewXCommand reads the command line, and runX
// asks the node through node/control and prints the answer. This package makes one tree of them, in
// root.go, and tests them together.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/parleyfleet/parley/cmd/parley/cli"
)

func main() { os.Exit(play(cli.New(os.Stdin, os.Stdout, os.Stderr, os.Getenv))) }

// play is a run of parley as this process. It returns the exit code.
func play(p *cli.Program) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks the program to end. After it, a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	return p.Run(untilHangup(ctx), newRootCommand(p), os.Args[1:])
}

// untilHangup returns a context that also ends when the terminal is closed. The shell and the
// system both send that signal. So it is listened to until the end, unlike a second Ctrl-C. nohup
// silences it.
func untilHangup(ctx context.Context) context.Context {
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	return ctx
}
