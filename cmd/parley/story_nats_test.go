package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// A plain NATS client reads, byte for byte, the files that git holds afterwards. What this client
// writes reaches nobody.
func TestLettersOnNATSAreTheFilesInGit(t *testing.T) {
	t.Parallel()
	h := newStoryHost(t, "white", "--fleet", "demo", "--listen", "127.0.0.1:0")
	h.start()
	refused := make(chan error, 1)
	conn, err := nats.Connect("nats://"+h.status().Bus.Clients, nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { refused <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sub, err := conn.SubscribeSync(protocol.SubjectRoot + ".>")
	if err == nil {
		err = conn.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}

	h.must("agent", "add", "blob", "--exec", "git hash-object --stdin")
	h.must("hey", "blob", "--wait", "20s", "first line\n\nà ไทย 世界\n---\nlast")
	letters := map[protocol.Path][]byte{}
	for receipt := false; !receipt; { // the receipt is the last of the three
		m, err := sub.NextMsg(scratch.Patience())
		if err != nil {
			t.Fatalf("heard %d letters, then: %v", len(letters), err)
		}
		if p, err := protocol.ParsePath(m.Header.Get(protocol.HeaderPath)); err == nil {
			letters[p] = m.Data
			receipt = strings.HasSuffix(m.Subject, ".receipt")
		}
	}

	forged := "---\nfrom: mallory\nto: nat\ntype: text\ntimestamp: 2026-05-23T19:00:00.000Z\n---\n\nforged\n"
	if err := conn.Publish("parley.demo.white.hey.blob", []byte(forged)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-refused:
		if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
			t.Errorf("publishing was refused with %v", err)
		}
	case <-time.After(scratch.Patience()):
		t.Error("publishing was not refused")
	}

	h.stop()
	files := filesInGit(t, h.home.Record())
	heard := map[protocol.Path][]byte{}
	for p := range letters {
		heard[p] = files[p]
	}
	if diff := cmp.Diff(heard, letters); diff != "" {
		t.Errorf("the letters differ from the files in git (-git +letters):\n%s", diff)
	}
	for p, data := range files {
		if bytes.Contains(data, []byte("forged")) {
			t.Errorf("%s holds what the stranger said", p)
		}
	}
}
