package bus

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/protocol"
)

const (
	maxQuestions = 256              // questions that may wait for their turn
	maxAnswering = 16               // questions that are answered at a time
	serviceTime  = 30 * time.Second // time for one answer
	answerSlack  = 4 << 10          // bytes of the payload limit that are kept for an answer's headers
)

// question is a question to this host that waits for its turn.
type question struct {
	from, what protocol.Name
	msg        *nats.Msg
}

// desk answers the questions of other hosts.
type desk struct {
	*Bus
	questions chan question
	services  services
	budget    *budget
}

// services are the functions that answer questions.
type services struct {
	mu     *sync.RWMutex // guards byName
	byName map[protocol.Name]Service
}

func newServices(first map[protocol.Name]Service) services {
	byName := maps.Clone(first)
	if byName == nil {
		byName = map[protocol.Name]Service{}
	}
	return services{mu: &sync.RWMutex{}, byName: byName}
}

func (s services) get(what protocol.Name) Service {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byName[what]
}

// names are the questions that this host answers, sorted.
func (s services) names() []protocol.Name {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.Sorted(maps.Keys(s.byName))
}

// MaxAnswer is how many bytes the answer to a question may have.
func (b *Bus) MaxAnswer() int {
	return int(b.conn.MaxPayload()) - answerSlack - len(answerOK)
}

// Serve lets `h` answer the question `what` of other hosts from now on. It replaces what answered
// it before.
func (b *Bus) Serve(what protocol.Name, h Service) {
	b.desk.services.mu.Lock()
	defer b.desk.services.mu.Unlock()
	b.desk.services.byName[what] = h
}

// asked queues a question to this host. It returns false if there is no room. It runs on the
// connection's goroutine.
func (d *desk) asked(s protocol.Subject, msg *nats.Msg) bool {
	what, err := protocol.ParseName(s.Rest[1])
	if err != nil {
		d.countMalformed(msg, err)
		return true
	}
	if !d.budget.queue(s.Sender) {
		return false
	}
	select {
	case d.questions <- question{from: s.Sender, what: what, msg: msg}:
		return true
	default:
		d.budget.unqueue(s.Sender)
		return false
	}
}

// answerAll takes the questions in their order, and answers maxAnswering at a time, until the bus
// closes.
func (d *desk) answerAll() {
	places := make(chan struct{}, maxAnswering)
	for {
		select {
		case <-d.ctx.Done():
			return
		case q := <-d.questions:
			select {
			case <-d.ctx.Done():
				return
			case places <- struct{}{}:
			}
			d.budget.unqueue(q.from)
			d.workers.Go(func() { // ends with its service
				defer func() { <-places }()
				d.answer(q)
			})
		}
	}
}

// answer checks one question and answers it. A question that no key proves gets no answer, with one
// exception: if a revoked key proves it, the answer says that the key was revoked.
func (d *desk) answer(q question) {
	l, err := readLetter(q.msg, q.msg.Subject)
	if err != nil {
		d.countMalformed(q.msg, err)
		return
	}
	if !d.replyGoesTo(q.from, q.msg.Reply) || l.Re != q.msg.Reply {
		err = errors.New("the answer would not go to its sender")
	} else if err = d.verify(l, q.from); err == nil {
		err = d.replays.question(q.from, l.Sig)
	} else if d.signedByRevoked(l, q.from) && d.budget.ask(allRevoked) == 0 {
		d.say(q, l, []byte(answerError+toldRevoked))
	}
	if err != nil {
		d.countRefused(q.msg, err)
		return
	}
	d.reply(q, l)
}

// allRevoked stands for the holders of all revoked keys when it is counted how much a host asks. So
// a host that has a new key does not pay for what somebody asks with its old one.
const allRevoked = protocol.Name("")

// signedByRevoked reports whether a question is new, and signed with a key that was its sender's
// until it was revoked.
func (d *desk) signedByRevoked(l *protocol.Letter, from protocol.Name) bool {
	return l.Host == from && d.revokedHost(l.Key) == from && l.Open(d.opts.RecordID) == nil && d.replays.question(allRevoked, l.Sig) == nil
}

// replyGoesTo reports whether `reply` is an inbox of the host `from`. An existing system may have
// given that host a prefix of its own.
func (d *desk) replyGoesTo(from protocol.Name, reply string) bool {
	return inboxOf(reply, d.opts.Fleet, from) || d.system != nil && foreignInboxOf(reply, d.opts.Fleet, from)
}

func (d *desk) reply(q question, l *protocol.Letter) {
	if wait := d.budget.ask(q.from); wait > 0 {
		d.say(q, l, append([]byte(answerBusy), encodeWait(wait)...))
		return
	}
	data, err := d.serve(q, l)
	text := append([]byte(answerOK), data...)
	if limit := d.conn.MaxPayload() - answerSlack; err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("the answer has %d bytes, more than %d", len(text), limit)
	}
	if err != nil {
		text = append([]byte(answerError), err.Error()...)
		text = text[:min(len(text), answerSlack)]
	}
	d.budget.answered(q.from, len(text))
	d.say(q, l, text)
}

func (d *desk) say(q question, l *protocol.Letter, text []byte) {
	msg, err := d.seal(d.letter(l.Subject, l.Sig, text), q.msg.Reply)
	if err == nil {
		err = d.send(msg)
	}
	if err != nil && !errors.Is(err, ErrClosed) {
		d.quiet.Warn().Err(err).Str("host", q.from.String()).Str("what", q.what.String()).Msg("cannot answer a question")
	}
}

func (d *desk) serve(q question, l *protocol.Letter) ([]byte, error) {
	if err := d.checkTime(l, letterWindow); err != nil {
		d.countRefused(q.msg, err)
		return nil, fmt.Errorf("the question is refused: %w", err)
	}
	h := d.services.get(q.what)
	if h == nil {
		return nil, fmt.Errorf("this host does not know the question %q", q.what)
	}
	ctx, cancel := context.WithTimeout(d.ctx, serviceTime)
	defer cancel()
	begin := time.Now()
	data, err := h(ctx, q.from, l.Data)
	d.discover.note(q.what, time.Since(begin), err)
	return data, err
}
