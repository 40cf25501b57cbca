// Command parley lets agents on many machines talk live over NATS, with every
// word kept in git.
//
// The folders beside this file hold the commands, a group each, and cli, which is
// what they share. A command stands in a file of its own name: NewXCommand reads
// the command line, runX asks the node through node/control and prints the answer.
// Here they become one tree, in root.go, and are tested together.
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
	// After the first signal has asked, a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	return p.Run(untilHangup(ctx), newRootCommand(p), os.Args[1:])
}

// untilHangup ends also when the terminal is closed. Shell and system both say
// that, so it is listened to until the end, unlike a second Ctrl-C; nohup silences it.
func untilHangup(ctx context.Context) context.Context {
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	return ctx
}
