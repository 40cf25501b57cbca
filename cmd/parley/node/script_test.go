package node_test

import (
	"bytes"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/internal/testkit/scripts"
)

// TestMain lets this test binary play parley.
func TestMain(m *testing.M) { scripts.Main(m, root.Play, map[string]func(){"natswatch": natsWatch}) }

// The scripts tell the stories of nodes, hosts and the record end to end.
func TestScript(t *testing.T) {
	scripts.Play(t, "git_only", "join", "kill9", "links", "lost_host", "notify", "restart", "signals", "two_hosts")
}

// natsWatch is somebody else's NATS client. It subscribes to parley.> at the address given, prints
// every letter, and tries to publish a letter of its own.
func natsWatch() {
	refused := make(chan error, 1)
	conn, err := nats.Connect("nats://"+os.Args[1], nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	_, err = conn.Subscribe("parley.>", func(m *nats.Msg) {
		os.Stdout.Write(append(bytes.TrimRight(m.Data, "\n"), "\n=== "+m.Subject+"\n"...))
	})
	if err == nil {
		err = conn.Flush()
	}
	if err == nil {
		err = conn.Publish("parley.home.vm.broadcast", []byte("---\nfrom: stranger\n---\n"))
	}
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Stdout.WriteString("refused: " + (<-refused).Error() + "\n")
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	<-stop
	os.Exit(0)
}
