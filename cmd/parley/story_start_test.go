package main

import (
	"context"
	"fmt"
	"os/exec"
	"testing"

	"github.com/parleyfleet/parley/node/control"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// A program that asks a node during its start waits until the node has its bus and its doors. It
// prevents: a request that panics because an agent was added too early, and a status that names no
// address.
func TestAskedWhileItStarts(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	h := newStoryHost(t, "white", "--listen", "127.0.0.1:0")
	for i := range 10 {
		h.output, h.ended = &firstWord{came: make(chan struct{})}, make(chan struct{})
		h.up = h.command(context.Background(), "up")
		h.up.Stdout = h.output
		if err := h.up.Start(); err != nil {
			h.up = nil
			t.Fatal(err)
		}
		go func(up *exec.Cmd, ended chan<- struct{}) { // ends with the process
			_ = up.Wait() // ProcessState says how it ended
			close(ended)
		}(h.up, h.ended)
		name := fmt.Sprintf("blob%d", i)
		var err error
		h.until("the socket is there", func() bool {
			_, err = control.AddAgent.Ask(t.Context(), h.client, control.AddAgentRequest{Name: name, Exec: "git hash-object --stdin"})
			return err == nil || control.AsError(err).Hint != "parley up -d"
		})
		if err != nil {
			t.Fatalf("start %d: %v", i, err)
		}
		if clients := h.status().Bus.Clients; clients == "" {
			t.Errorf("start %d: the status names no address", i)
		}
		h.must("hey", name, "--wait", "20s", "hello")
		<-h.output.came
		h.stop()
	}
}
