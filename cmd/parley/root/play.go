package root

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/parleyfleet/parley/cmd/parley/cli"
)

// Play is a run of parley as this process. It returns the exit code.
func Play(p *cli.Program) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks the program to end. After it, a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	return p.Run(untilHangup(ctx), New(p), os.Args[1:])
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
