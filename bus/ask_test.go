package bus

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/protocol"
)

func askContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), scratch.Patience())
	t.Cleanup(cancel)
	return ctx
}

func echo(_ context.Context, from protocol.Name, request []byte) ([]byte, error) {
	return append([]byte(from.String()+" said "), request...), nil
}

func TestAskIsAnswered(t *testing.T) {
	hub, leaf := pair(t)
	hub.Serve("echo", echo)
	leaf.Serve("echo", echo)
	for _, way := range []struct{ from, to *host }{{hub, leaf}, {leaf, hub}} {
		got, err := way.from.Ask(askContext(t), way.to.alias, "echo", []byte("hello"))
		if want := way.from.alias.String() + " said hello"; err != nil || string(got) != want {
			t.Errorf("Ask = %q, %v, want %q", got, err, want)
		}
	}
}

// If nobody hears a question, the server says so. That counted as a letter that had been refused,
// and status named it.
func TestNobodyHearsAQuestion(t *testing.T) {
	w := waiting{asks: map[string]chan *nats.Msg{}}
	answers, forget := w.expect("inbox")
	defer forget()
	w.answered(&nats.Msg{Subject: "inbox", Header: nats.Header{"Status": {"503"}}})
	if len(answers) != 0 {
		t.Error("the server's word that nobody hears is taken for an answer")
	}
	w.answered(&nats.Msg{Subject: "inbox"})
	if len(answers) != 1 {
		t.Error("an empty letter is passed over unseen")
	}
}

func TestAskFails(t *testing.T) {
	hub, leaf := pair(t)
	hub.Serve("fail", func(context.Context, protocol.Name, []byte) ([]byte, error) { return nil, errors.New("no disk") })
	hub.Serve("big", func(context.Context, protocol.Name, []byte) ([]byte, error) { return make([]byte, maxPayload), nil })
	for what, reason := range map[protocol.Name]string{"fail": "no disk", "nothing": "does not know", "big": "more than"} {
		var answer *AnswerError
		_, err := leaf.Ask(askContext(t), hub.alias, what, nil)
		if !errors.As(err, &answer) || !strings.Contains(answer.Reason, reason) {
			t.Errorf("asked for %s: %v, want an answer with %q", what, err, reason)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := leaf.Ask(ctx, "nobody", "echo", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("asked nobody: %v, want the context's error", err)
	}
	if _, err := leaf.Ask(askContext(t), leaf.alias, "echo", nil); err == nil {
		t.Error("a host asked itself")
	}
	if _, err := leaf.Ask(askContext(t), hub.alias, "echo", make([]byte, 2*maxPayload)); !errors.Is(err, nats.ErrMaxPayload) {
		t.Errorf("a question above the limit: %v", err)
	}
}

// Close must not wait for an answer that never comes.
func TestCloseEndsAsksAndServices(t *testing.T) {
	hub, leaf := pair(t)
	called := make(chan struct{})
	hub.Serve("wait", func(ctx context.Context, _ protocol.Name, _ []byte) ([]byte, error) {
		close(called)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	failed := make(chan error, 1)
	go func() {
		_, err := leaf.Ask(context.Background(), hub.alias, "wait", nil)
		failed <- err
	}()
	awaited(t, "the question", called)
	if err := hub.Close(); err != nil {
		t.Error(err)
	}
	if err := leaf.Close(); err != nil {
		t.Error(err)
	}
	if err := awaited(t, "the end of Ask", failed); err == nil {
		t.Error("Ask was answered by a service that was cut off")
	}
}

// Clocks that are a day apart silence nobody. Two days are too much, and the asking host learns so.
func TestAskAcrossClocks(t *testing.T) {
	f := newFleet()
	hub, leaf := newHost(t, f, "white"), newHost(t, f, "oracle-world")
	hub.opts.Links = "127.0.0.1:0"
	hub.start(t)
	hub.Serve("echo", echo)
	var off atomic.Int64
	leaf.opts.Now = func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)
	for i, by := range []time.Duration{-24 * time.Hour, 24 * time.Hour} {
		off.Store(int64(by))
		if got, err := leaf.Ask(askContext(t), hub.alias, "echo", []byte("x")); err != nil || len(got) == 0 {
			t.Errorf("Ask with a clock %s off = %q, %v", by, got, err)
		}
		if err := leaf.Ring(); err != nil {
			t.Fatal(err)
		}
		hub.await(t, "the bell of a host whose clock is a day off", func() bool { return hub.bells[leaf.alias] == i+1 })
	}
	off.Store(int64(48 * time.Hour))
	var answer *AnswerError
	if _, err := leaf.Ask(askContext(t), hub.alias, "echo", nil); !errors.As(err, &answer) || !strings.Contains(answer.Reason, "clock of white") {
		t.Errorf("Ask with a clock two days off = %v, want the reason", err)
	}
}

// A host that asks with a revoked key is told so, once for each question, and for a bounded number
// of questions. It gets nothing else. A letter that is signed with that key in another host's name
// gets no answer. It prevents: a host that was revoked and waits for answers in vain.
func TestRevokedAskerIsToldSo(t *testing.T) {
	f := newFleet()
	hub, third, out := newHost(t, f, "white"), newHost(t, f, "black"), newHost(t, newFleet(), "grey")
	gone := publicKey(t, out.opts.Key)
	system := startExisting(t, "127.0.0.1:0") // it lets everything through
	hub.opts.URL = system.ClientURL()
	hub.opts.Revoked = func(key string) (protocol.Name, bool) { return out.alias, key == gone }
	hub.start(t).Serve("secret", func(context.Context, protocol.Name, []byte) ([]byte, error) { return []byte("the answer"), nil })
	conn, err := nats.Connect(system.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	answers := subscribe(t, conn, "_INBOX.dawn.>")
	forged := &host{alias: third.alias, opts: out.opts} // the revoked key, and another host's name
	stranger := newHost(t, newFleet(), "grey")
	asks := letterOf(t, out, "ask.white.secret", "_INBOX.dawn.grey.a.b", nil)
	for i, msg := range []*nats.Msg{
		letterOf(t, forged, "ask.white.secret", "_INBOX.dawn.black.a.b", nil),
		letterOf(t, stranger, "ask.white.secret", "_INBOX.dawn.grey.a.b", nil), asks, asks,
	} {
		if err := conn.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
		awaitTrue(t, "the refusal", func() bool { return hub.Offences().Refused == uint64(i+1) })
	}
	if msg, err := answers.NextMsg(scratch.Patience()); err != nil || string(msg.Data) != answerError+toldRevoked {
		t.Errorf("the answer is %v, %v", msg, err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if n, _, err := answers.Pending(); err != nil || n > 0 {
		t.Errorf("%d more answers, %v", n, err)
	}
}

// A third host that is a client of the same server sees the question pass. It does not see the
// answer, and it cannot put itself in the place of the asking host.
func TestAnswerReachesOnlyTheAsker(t *testing.T) {
	f := newFleet()
	hub, leaf, third := newHost(t, f, "white"), newHost(t, f, "oracle-world"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	hub.Serve("secret", func(context.Context, protocol.Name, []byte) ([]byte, error) { return []byte("the answer"), nil })
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)

	spy, problems := hub.dialAs(t, third.opts.Key)
	all := subscribe(t, spy, "parley.dawn.>")
	for _, forbidden := range []string{"_INBOX.dawn.oracle-world.>", "_INBOX.dawn.>", "_INBOX.>", ">"} {
		subscribe(t, spy, forbidden)
		if err := awaited(t, "what the server says", problems); !errors.Is(err, nats.ErrPermissionViolation) {
			t.Errorf("subscribing to %s: %v, want a permissions violation", forbidden, err)
		}
	}
	if _, err := leaf.Ask(askContext(t), hub.alias, "secret", nil); err != nil {
		t.Fatal(err)
	}
	question, err := all.NextMsg(scratch.Patience())
	if err != nil {
		t.Fatal(err)
	}
	if !inboxOf(question.Reply, testFleet, leaf.alias) {
		t.Errorf("the answer was asked for on %s", question.Reply)
	}
	if err := spy.Flush(); err != nil {
		t.Fatal(err)
	}
	if n, _, err := all.Pending(); n != 0 || err != nil {
		t.Errorf("%d more messages reached the third host (%v)", n, err)
	}
}

// A host that can publish to an inbox can disturb, but it cannot answer.
func TestForgedAnswersArePassedOver(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	forger, _ := hub.dialAs(t, third.opts.Key)
	questions := subscribe(t, forger, "parley.dawn.white.ask.oracle-world.>")
	answered := make(chan error, 1)
	var got []byte
	go func() {
		var err error
		got, err = hub.Ask(askContext(t), "oracle-world", "who", nil)
		answered <- err
	}()
	q, err := questions.NextMsg(scratch.Patience())
	if err != nil {
		t.Fatal(err)
	}
	sig := q.Header.Get(protocol.HeaderSig)
	answerAs := func(by *host, host protocol.Name, re, text string) {
		l := &protocol.Letter{Subject: q.Subject, Host: host, Time: time.Now().UTC().Truncate(time.Millisecond), Re: re, Data: []byte(text)}
		if err := forger.PublishMsg(sealed(t, by, l, q.Reply)); err != nil {
			t.Fatal(err)
		}
	}
	refusals := func(n uint64) func() bool { return func() bool { return hub.Offences().Refused == n } }
	answerAs(third, "oracle-world", sig, "ok\nforged") // signed with another host's key
	awaitTrue(t, "the first refusal", refusals(1))
	answerAs(third, "black", sig, "ok\nforged") // in another host's name
	awaitTrue(t, "the second refusal", refusals(2))
	owner := newHost(t, f, "oracle-world")
	answerAs(owner, "oracle-world", "another question", "ok\nforged")
	awaitTrue(t, "the third refusal", refusals(3))
	answerAs(owner, "oracle-world", sig, "ok\nreal")
	if err := awaited(t, "the answer", answered); err != nil || string(got) != "real" {
		t.Errorf("Ask = %q, %v", got, err)
	}
}

// sealed signs `l` with the key of `by`, and returns it as it travels.
func sealed(t testing.TB, by *host, l *protocol.Letter, subject string) *nats.Msg {
	t.Helper()
	b := &Bus{opts: by.opts}
	err := b.setIdentity(by.opts.Key)
	if err != nil {
		t.Fatal(err)
	}
	msg, err := b.seal(l, subject)
	if err != nil {
		t.Fatal(err)
	}
	return msg
}

func TestQuestionWhoseAnswerWouldGoElsewhereIsRefused(t *testing.T) {
	f := newFleet()
	hub, third := newHost(t, f, "white"), newHost(t, f, "black")
	hub.opts.Listen = "127.0.0.1:0"
	hub.start(t)
	hub.Serve("echo", func(context.Context, protocol.Name, []byte) ([]byte, error) {
		t.Error("the service ran")
		return nil, nil
	})
	conn, _ := hub.dialAs(t, third.opts.Key)
	q := &protocol.Letter{
		Subject: "parley.dawn.black.ask.white.echo", Host: "black",
		Time: time.Now().UTC().Truncate(time.Millisecond),
	}
	for i, reply := range []string{"", "parley.dawn.white.bell", "_INBOX.dawn.oracle-world.a.b", "_INBOX.dawn.black."} {
		msg := sealed(t, third, q, q.Subject)
		msg.Reply = reply
		if err := conn.PublishMsg(msg); err != nil {
			t.Fatal(err)
		}
		awaitTrue(t, "the refusal", func() bool { return hub.Offences().Refused == uint64(i+1) })
	}
}

func FuzzReadAnswer(f *testing.F) {
	f.Add([]byte("ok\nhello"))
	f.Add([]byte("error\nno disk"))
	f.Add([]byte("error\n\xff"))
	f.Add([]byte("ok"))
	f.Fuzz(func(t *testing.T, data []byte) {
		answer, err := readAnswer("white", "who", data)
		if (err == nil) != bytes.HasPrefix(data, []byte("ok\n")) {
			t.Errorf("readAnswer(%q) = %q, %v", data, answer, err)
		}
		if err == nil && !bytes.Equal(answer, data[3:]) {
			t.Errorf("readAnswer(%q) = %q", data, answer)
		}
	})
}
