package bench

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node"
)

// playNode in the environment lets this test binary play "parley --home DIR up".
const playNode = "PARLEY_BENCH_PLAY_NODE"

// TestMain lets this test binary be nodes.
func TestMain(m *testing.M) {
	if os.Getenv(playNode) == "" {
		os.Exit(m.Run())
	}
	if err := up(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func up(words []string) error {
	if len(words) != 3 || words[0] != "--home" || words[2] != "up" {
		return fmt.Errorf("unexpected words: %q", words)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	n, err := node.Open(ctx, node.Options{Home: configs.Home{Dir: words[1]}, Version: version, Log: zerolog.Nop(), Keeper: true})
	if err != nil {
		return err
	}
	defer n.Close()
	return n.Run(ctx, func() {})
}
