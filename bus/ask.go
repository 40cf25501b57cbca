package bus

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/protocol"
)

// AnswerError is an answer that gives a reason why there is no other: so the other host did answer.
type AnswerError struct {
	Host, What protocol.Name
	Reason     string // the other host's words
}

// Error tells who was asked for what, and the reason.
func (e *AnswerError) Error() string {
	return fmt.Sprintf("cannot ask %s for %s: it says %q", e.Host, e.What, e.Reason)
}

// BusyError is the answer that this host has asked so much that it has to wait.
type BusyError struct {
	Host, What protocol.Name
	Wait       time.Duration // how long to wait before asking again, 100 ms to 16 s
}

// Error tells who was asked for what, and when to ask again.
func (e *BusyError) Error() string {
	return fmt.Sprintf("cannot ask %s for %s: this host has asked it for too much; it answers again in %s", e.Host, e.What, e.Wait)
}

// The first line of an answer says which kind of answer it is. The signature covers it too.
const (
	answerOK    = "ok\n"
	answerError = "error\n"
	answerBusy  = "busy\n" // the number of milliseconds stands behind it
)

func encodeWait(wait time.Duration) []byte {
	return strconv.AppendInt(nil, int64((wait+time.Millisecond-1)/time.Millisecond), 10)
}

// decodeWait reads what encodeWait writes. It keeps the time within bounds, whatever the other host
// says.
func decodeWait(text []byte) time.Duration {
	const least, most = 100, 16_000
	ms, err := strconv.Atoi(string(text))
	if err != nil {
		ms = most
	}
	return time.Duration(min(max(ms, least), most)) * time.Millisecond
}

// waiting is the calls of Ask that wait for an answer.
type waiting struct {
	mu   sync.Mutex                // guards asks
	asks map[string]chan *nats.Msg // by the inbox at which the answer arrives
}

// Ask asks `host` the question `what`, and waits for the answer until ctx ends. Question and answer
// are signed, and the answer refers to the question. Anything else that arrives in its place is
// counted as refused and ignored. Without an answer, the error is that of ctx. If the other host
// gives a reason, it is an *AnswerError. If this host has asked too much, it is a *BusyError.
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

// openAnswer is what `host` has signed as its answer to the question `q`.
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

// expect registers an inbox. The caller must call `forget`.
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

// answered hands an answer to the call that waits for it. It drops an answer that comes too late,
// or if more wait than a question can have. It runs on the connection's goroutine and never waits.
func (w *waiting) answered(msg *nats.Msg) {
	if nobodyHears(msg) {
		return // the host may still come in time
	}
	w.mu.Lock()
	c := w.asks[msg.Subject]
	w.mu.Unlock()
	select {
	case c <- msg:
	default:
	}
}

// nobodyHears reports whether a message is the server's word that nobody is subscribed to what was
// asked.
func nobodyHears(msg *nats.Msg) bool {
	return len(msg.Data) == 0 && msg.Header.Get("Status") == "503"
}

// Answers travel on subjects of their own, all of them made here:
//
//	_INBOX.<fleet>.<asking host>.<start of its bus>.<question>
//
// The last two tokens are random. A host that connects as a client may subscribe only to its own
// inboxes. An existing system may prescribe another prefix than _INBOX to a host
// (Login.InboxPrefix).
const inboxRoot = "_INBOX"

func inboxes(fleet protocol.Name) string { return inboxRoot + "." + fleet.String() + ".>" }

// inboxesOf is the pattern of one host's inboxes. They are below `prefix`, where "" means _INBOX.
func inboxesOf(prefix string, fleet, host protocol.Name) string {
	return cmp.Or(prefix, inboxRoot) + "." + fleet.String() + "." + host.String() + ".>"
}

// newInbox is the subject below which one run of a host's bus gets its answers.
func newInbox(prefix string, fleet, host protocol.Name) string {
	return strings.TrimSuffix(inboxesOf(prefix, fleet, host), ">") + rand.Text()
}

// inboxOf reports whether `subject` is an inbox of `host`, and no pattern.
func inboxOf(subject string, fleet, host protocol.Name) bool {
	rest, ok := strings.CutPrefix(subject, strings.TrimSuffix(inboxesOf("", fleet, host), ">"))
	return ok && rest != "" && !strings.ContainsAny(rest, "*> \t\r\n")
}

// foreignInboxOf reports whether `subject` is an inbox of `host` below another prefix than _INBOX:
// <prefix>.<fleet>.<host>.<start>.<question>. A subject that means something else, to the fleet or
// to NATS, is none.
func foreignInboxOf(subject string, fleet, host protocol.Name) bool {
	tokens := strings.Split(subject, ".")
	n := len(tokens) - 4
	if n < 1 || tokens[n] != fleet.String() || tokens[n+1] != host.String() {
		return false
	}
	if first := tokens[0]; first == inboxRoot || first == protocol.SubjectRoot || strings.HasPrefix(first, "$") {
		return false
	}
	return !slices.ContainsFunc(tokens, func(token string) bool { return token == "" || strings.ContainsAny(token, "*> \t\r\n") })
}
