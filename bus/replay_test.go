package bus

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

// letterOf returns a letter that `by` signed, as anybody can record it.
func letterOf(t *testing.T, by *host, rest, re string, data []byte) *nats.Msg {
	t.Helper()
	subject := "parley.dawn." + by.alias.String() + "." + rest
	msg := sealed(t, by, &protocol.Letter{
		Subject: subject, Host: by.alias, Time: time.Now().UTC().Truncate(time.Millisecond), Re: re, Data: data}, subject)
	msg.Reply = re
	return msg
}

// A question that was recorded and is repeated makes no host work again. Its answer goes to nobody
// else.
func TestReplayedQuestionIsRefused(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	var ran atomic.Int32
	hub.Serve("echo", func(_ context.Context, _ protocol.Name, request []byte) ([]byte, error) {
		ran.Add(1)
		return request, nil
	})
	conn, _ := hub.dialAs(t, third.opts.Key)
	answers := subscribe(t, conn, "_INBOX.dawn.black.>")
	question := letterOf(t, third, "ask.white.echo", "_INBOX.dawn.black.a.b", []byte("x"))
	elsewhere := *question
	elsewhere.Reply = "_INBOX.dawn.black.a.c"
	for i, msg := range []*nats.Msg{question, question, &elsewhere} {
		if err := conn.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
		awaitTrue(t, "the answer or the refusal", func() bool { return uint64(ran.Load())+hub.Offences().Refused == uint64(i+1) })
	}
	if _, err := answers.NextMsg(scratch.Patience()); err != nil || ran.Load() != 1 {
		t.Errorf("the question was answered %d times, %v", ran.Load(), err)
	}
}

// A presence letter that was recorded does not make a host live again that has left. Neither does a
// letter of an earlier run, nor an older letter.
func TestReplayedPresenceIsRefused(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	conn, _ := hub.dialAs(t, third.opts.Key)
	presence := func(run string, start, count uint64, live bool) *nats.Msg {
		data, err := encodePresence(Presence{Host: third.alias, Live: live, Run: run, Start: start, Count: count})
		if err != nil {
			t.Fatal(err)
		}
		return letterOf(t, third, "presence", "", data)
	}
	here, still, left := presence("b", 2, 1, true), presence("b", 2, 2, true), presence("b", 2, 3, false)
	back := presence("c", 3, 1, true)
	for _, step := range []struct {
		letter  *nats.Msg
		refused uint64
		live    bool
	}{
		{here, 0, true}, {still, 0, true}, {here, 1, true}, {left, 1, false}, {still, 2, false}, {presence("a", 1, 9, true), 3, false},
		{back, 3, true}, {left, 4, true}, {presence("b", 2, 4, true), 4, true}, {back, 5, true},
	} {
		if err := conn.PublishMsg(step.letter); err != nil {
			t.Fatal(err)
		}
		awaitTrue(t, fmt.Sprintf("refusal %d, live %v", step.refused, step.live), func() bool {
			hub.mu.Lock()
			defer hub.mu.Unlock()
			p, known := hub.presence[third.alias]
			return hub.Offences().Refused == step.refused && known && p.Live == step.live
		})
	}
}

// A thief has said with a host's stolen key that the host was started in the far future. With its
// next key the host is heard all the same. It prevents: a host that counts as away until all others
// are started anew.
func TestStolenKeyDoesNotSilenceTheNext(t *testing.T) {
	r := newReplays()
	if err := r.presence(Presence{Host: "white", Run: "thief", Start: math.MaxUint64, Count: 1}, "STOLEN"); err != nil {
		t.Fatal(err)
	}
	if r.presence(Presence{Host: "white", Run: "own", Start: 7, Count: 1}, "STOLEN") == nil {
		t.Error("a presence of an earlier run is taken")
	}
	for count := range uint64(3) {
		if err := r.presence(Presence{Host: "white", Run: "own", Start: 7, Count: count}, "NEXT"); err != nil {
			t.Error(err)
		}
	}
}

// Only a bounded number of letters is remembered.
func TestReplaysAreBounded(t *testing.T) {
	r := newReplays()
	for n := range 3 * maxSeen {
		if err := r.question("white", fmt.Sprint(n)); err != nil {
			t.Fatal(err)
		}
		if err := r.presence(Presence{Host: "white", Run: fmt.Sprint(n), Start: uint64(n)}, "KEY"); err != nil {
			t.Fatal(err)
		}
	}
	if q := r.questions["white"]; len(q.seen) != maxSeen || len(q.ring) != maxSeen || len(r.presences[protocol.HostKey{Host: "white", Key: "KEY"}]) != maxRuns {
		t.Errorf("%d questions and %d runs are remembered", len(q.seen), len(r.presences[protocol.HostKey{Host: "white", Key: "KEY"}]))
	}
	if r.question("white", fmt.Sprint(3*maxSeen-1)) == nil || r.question("white", fmt.Sprint(2*maxSeen)) == nil {
		t.Error("a question that is remembered is taken again")
	}
}

// Letters of other kinds say the same when they are repeated. They count once more and change
// nothing.
func TestRepeatedLettersAreHarmless(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	conn, _ := hub.dialAs(t, third.opts.Key)
	m, data := message(t, third, 1)
	head := protocol.Head{Host: third.alias, Run: m.Run, Seq: m.Seq, Hash: protocol.Hash(data), Path: m.Path}
	for kind, data := range map[string][]byte{
		"bell": nil, "heard": encodeHeard([]protocol.Path{m.Path}), "head": protocol.EncodeHeads([]protocol.Head{head}),
	} {
		letter := letterOf(t, third, kind, "", data)
		elsewhere := *letter // a letter that was signed for one subject says nothing on another
		elsewhere.Subject = "parley.dawn.black." + map[string]string{"bell": "heard", "heard": "head", "head": "bell"}[kind]
		for _, msg := range []*nats.Msg{letter, letter, &elsewhere} {
			if err := conn.PublishMsg(msg); err != nil {
				t.Fatal(err)
			}
		}
	}
	awaitTrue(t, "all of them", func() bool {
		hub.mu.Lock()
		defer hub.mu.Unlock()
		return hub.bells["black"] == 2 && len(hub.heard["black"]) == 2 && len(hub.heads["black"]) == 1 && hub.Offences().Refused == 3
	})
}
