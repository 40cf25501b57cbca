package main

import (
	"context"
	"fmt"
	"os/exec"
	"testing"

	"github.com/parleyfleet/parley/node/control"
)

// Who asks a node that is just starting waits until it has its bus and its
// doors: an agent that was added too early made the request panic, and a status
// named no address.
func TestAskedWhileItStarts(t *testing.T) {
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
			_ = up.Wait() // the state says how it ended
			close(ended)
		}(h.up, h.ended)
		name := fmt.Sprintf("blob%d", i)
		var err error
		h.until("the socket is there", func() bool {
			_, err = control.AddAgent.Ask(t.Context(), h.client, control.AddAgentRequest{Name: name, Exec: "git hash-object --stdin"})
			return err == nil || control.AsError(err).Hint != "parley up"
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
