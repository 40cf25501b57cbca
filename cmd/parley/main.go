// Command parley lets agents on many machines talk live over NATS, with every
// word kept in git.
//
// Each command stands in a file of its own name: newXCommand reads the command
// line, runX asks the node through node/control and prints the answer. Only
// up.go, init.go, join.go and demo.go know the node itself.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first signal has asked, a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	os.Exit(newProgram(os.Stdin, os.Stdout, os.Stderr, os.Getenv).run(ctx, os.Args[1:]))
}
