package control_test

import (
	"context"
	"net"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// counted counts the connections that are accepted.
type counted struct {
	net.Listener
	accepted atomic.Int64
}

func (l *counted) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err == nil {
		l.accepted.Add(1)
	}
	return conn, err
}

// serveCounted serves at path as serveAt does.
func serveCounted(t *testing.T, path string, s control.Answers) (l *counted, end func()) {
	t.Helper()
	inner, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	l = &counted{Listener: inner}
	ctx, cancel := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- control.Serve(ctx, l, s, thisVersion()) }() // ends with ctx
	end = sync.OnceFunc(func() {
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	t.Cleanup(end)
	return l, end
}

// It prevents: a connection for each call, which costs more than most calls do. A call that ends
// with an error, or a stream that came to its end, leaves its connection for the next call too.
func TestOneConnectionForManyCalls(t *testing.T) {
	path := filepath.Join(shortDir(t), "control.sock")
	l, _ := serveCounted(t, path, newMemory().answers())
	client := control.NewClient(path, "0.1.0")
	for range 5 {
		if _, err := control.Send.Ask(t.Context(), client, control.SendRequest{To: []string{protocol.All}, Body: "hello"}); err != nil {
			t.Fatal(err)
		}
		if _, err := control.Show.Ask(t.Context(), client, control.ShowRequest{Path: "nothing"}); err == nil {
			t.Fatal("what is not there was shown")
		}
		if err := control.Log.Ask(t.Context(), client, control.LogRequest{}, func(control.Message) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := l.accepted.Load(); n != 1 {
		t.Errorf("%d connections were opened", n)
	}
}

// It prevents: the next call of a program fails because the node was started anew since its last
// call.
func TestCallsOutliveTheNode(t *testing.T) {
	path := filepath.Join(shortDir(t), "control.sock")
	client := control.NewClient(path, "0.1.0")
	for range 20 {
		_, end := serveCounted(t, path, newMemory().answers())
		for range 2 {
			if _, err := control.ShowStatus.Ask(t.Context(), client); err != nil {
				t.Fatal(err)
			}
		}
		end()
		_, err := control.ShowStatus.Ask(t.Context(), client)
		wantKind(t, err, control.KindUnavailable)
	}
}

// It prevents: a message is sent twice because the node went away after it had heard the call.
func TestCallsThatWereHeardAreNotRepeated(t *testing.T) {
	path := filepath.Join(shortDir(t), "control.sock")
	var heard atomic.Int64
	fails := control.Send.By(func(context.Context, control.SendRequest) (control.Message, error) {
		heard.Add(1)
		panic("as if the node were killed")
	})
	serveAt(t, path, control.Bind(append(newMemory().bindings(), fails)...), thisVersion())
	client := control.NewClient(path, "0.1.0")
	if _, err := control.ShowStatus.Ask(t.Context(), client); err != nil { // leaves a connection
		t.Fatal(err)
	}
	_, err := control.Send.Ask(t.Context(), client, control.SendRequest{To: []string{protocol.All}, Body: "hello"})
	wantKind(t, err, control.KindUnavailable)
	if n := heard.Load(); n != 1 {
		t.Errorf("it was heard %d times", n)
	}
}

// It prevents: a call gets the rest of another call's answer, because the other call was given up.
func TestGivenUpCallsTakeTheirConnectionAlong(t *testing.T) {
	path := filepath.Join(shortDir(t), "control.sock")
	s := newMemory()
	l, _ := serveCounted(t, path, s.answers())
	client := control.NewClient(path, "0.1.0")
	if _, err := control.Send.Ask(t.Context(), client, control.SendRequest{To: []string{protocol.All}, Body: "hello"}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err := control.Log.Ask(ctx, client, control.LogRequest{Follow: true}, func(control.Message) error { cancel(); return nil })
	if err != nil {
		t.Fatalf("following ended with %v", err)
	}
	if status, err := control.ShowStatus.Ask(t.Context(), client); err != nil || status.Version == "" {
		t.Errorf("the next call got %+v, %v", status, err)
	}
	if n := l.accepted.Load(); n != 2 {
		t.Errorf("%d connections were opened, want one and another after the call that was given up", n)
	}
}

// It prevents: a client that gets an error about a broken pipe instead of what the node says. The
// node answers without reading the request to its end.
func TestRefusalBeforeTheEndOfARequest(t *testing.T) {
	client, _, _ := serve(t, newMemory().answers(), control.Info{Version: "0.0.9", API: control.API - 1})
	large := make([]byte, 4<<20)
	for i := range large {
		large[i] = 'x'
	}
	_, err := control.Send.Ask(t.Context(), client, control.SendRequest{To: []string{protocol.All}, Body: string(large)})
	wantKind(t, err, control.KindOldNode)
}
