package bus

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/protocol"
)

// AnswerError is a question's answer that says why there is none: the other
// host did answer.
type AnswerError struct {
	Host, What protocol.Name
	Reason     string // the other host's words
}

// Error tells who was asked for what, and the reason.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("cannot ask %s for %s: it says %q", e.Host, e.What, e.Reason)
}

// BusyError is a question's answer that says that this host has asked so much that
// it has to wait.
type BusyError struct {
	Host, What protocol.Name
	Wait       time.Duration // before it is worth to ask again, 100 ms to 16 s
}

// Error tells who was asked for what, and when to ask again.
func (e *BusyError) Error() string {
	return fmt.Sprintf("cannot ask %s for %s: this host has asked it for too much; it answers again in %s", e.Host, e.What, e.Wait)
}

// An answer begins with a line that says whether it is one; it is part of what
// is signed.
const (
	answerOK    = "ok\n"
	answerError = "error\n"
	answerBusy  = "busy\n" // and milliseconds after it
)

// encodeWait writes how long to wait.
func encodeWait(wait time.Duration) []byte {
	return strconv.AppendInt(nil, int64((wait+time.Millisecond-1)/time.Millisecond), 10)
}

// decodeWait reads what encodeWait writes, within bounds, whatever the other host says.
func decodeWait(text []byte) time.Duration {
	const least, most = 100, 16_000
	ms, err := strconv.Atoi(string(text))
	if err != nil {
		ms = most
	}
	return time.Duration(min(max(ms, least), most)) * time.Millisecond
}

// waiting is who waits for an answer.
type waiting struct {
	mu   sync.Mutex                // guards asks
	asks map[string]chan *nats.Msg // by the inbox that is asked for
}

// Ask asks host for what and waits for the answer until ctx ends. Question and
// answer are signed, and the answer refers to the question; anything else that
// arrives in its place is counted as refused and passed over. Without an
// answer the error is that of ctx; where the other host gives a reason, it is
// an *AnswerError, and where this one has asked too much, a *BusyError.
func (b *Bus) Ask(ctx context.Context, host, what protocol.Name, request []byte) ([]byte, error) {
	if host == b.opts.Alias {
		return nil, fmt.Errorf("cannot ask %s for %s: that is this host itself", host, what)
	}
	inbox := b.inbox + "." + rand.Text()
	q := b.letter(b.subjects.Ask(b.opts.Alias, host, what), inbox, request)
	msg, err := b.seal(q, q.Subject)
	if err != nil {
		return nil, fmt.Errorf("cannot ask %s for %s: %w", host, what, err)
	}
	msg.Reply = inbox
	answers, forget := b.waiting.expect(msg.Reply)
	defer forget()
	if err := b.send(msg); err != nil {
		return nil, fmt.Errorf("cannot ask %s for %s: %w", host, what, err)
	}
	for {
		select {
		case answer := <-answers:
			data, err := b.openAnswer(q, host, answer)
			if err != nil {
				b.countRefused(answer, err)
				continue
			}
			return readAnswer(host, what, data)
		case <-ctx.Done():
			return nil, fmt.Errorf("cannot ask %s for %s: no answer: %w", host, what, context.Cause(ctx))
		case <-b.ctx.Done():
			return nil, fmt.Errorf("cannot ask %s for %s: %w", host, what, ErrClosed)
		}
	}
}

// openAnswer is what host signed as its answer to the question q.
func (b *Bus) openAnswer(q *protocol.Letter, host protocol.Name, msg *nats.Msg) ([]byte, error) {
	l, err := readLetter(msg, q.Subject)
	if err != nil {
		return nil, err
	}
	if l.Re != q.Sig {
		return nil, errors.New("it does not answer this question")
	}
	if err := b.verify(l, host); err != nil {
		return nil, err
	}
	return l.Data, nil
}

func readAnswer(host, what protocol.Name, data []byte) ([]byte, error) {
	if answer, ok := bytes.CutPrefix(data, []byte(answerOK)); ok {
		return answer, nil
	}
	if reason, ok := bytes.CutPrefix(data, []byte(answerError)); ok {
		return nil, &AnswerError{Host: host, What: what, Reason: strings.ToValidUTF8(string(reason), "\uFFFD")}
	}
	if wait, ok := bytes.CutPrefix(data, []byte(answerBusy)); ok {
		return nil, &BusyError{Host: host, What: what, Wait: decodeWait(wait)}
	}
	return nil, fmt.Errorf("cannot ask %s for %s: its answer is neither ok nor an error", host, what)
}

// expect registers an inbox. forget must be called.
func (w *waiting) expect(inbox string) (answers <-chan *nats.Msg, forget func()) {
	c := make(chan *nats.Msg, 4)
	w.mu.Lock()
	w.asks[inbox] = c
	w.mu.Unlock()
	return c, func() {
		w.mu.Lock()
		delete(w.asks, inbox)
		w.mu.Unlock()
	}
}

// answered hands an answer to whoever waits for it. One that comes too late, or
// behind more of them than a question can have, is dropped. It runs on the
// connection's goroutine and never waits.
func (w *waiting) answered(msg *nats.Msg) {
	if nobodyHears(msg) {
		return // the host may come in time
	}
	w.mu.Lock()
	c := w.asks[msg.Subject]
	w.mu.Unlock()
	select {
	case c <- msg:
	default:
	}
}

// nobodyHears reports whether a message is the server's word that nobody subscribes to
// what was asked.
func nobodyHears(msg *nats.Msg) bool {
	return len(msg.Data) == 0 && msg.Header.Get("Status") == "503"
}
