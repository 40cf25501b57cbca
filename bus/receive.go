package bus

import (
	"errors"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/protocol"
)

// arrived sorts what comes on the fleet's subjects. It runs on the connection's own goroutine and
// must never wait.
func (b *Bus) arrived(msg *nats.Msg) {
	s, err := b.subjects.Parse(msg.Subject)
	if err != nil {
		b.countMalformed(msg, err)
		return
	}
	ok := true
	switch {
	case s.Sender == b.opts.Alias && s.Kind != protocol.KindPresence:
	case s.Kind.Message():
		path, err := protocol.ParsePath(msg.Header.Get(protocol.HeaderPath))
		if err != nil {
			b.countMalformed(msg, err)
			return
		}
		ok = b.queue.message(Incoming{Sender: s.Sender, Subject: msg.Subject, Path: path, Data: msg.Data})
	case s.Kind == protocol.KindAsk:
		ok = s.Rest[0] != b.opts.Alias.String() || b.desk.asked(s, msg)
	default:
		ok = b.queue.letter(letterIn{subject: s, msg: msg})
	}
	if !ok && b.dropped.Add(1) == 1 {
		b.opts.Log.Warn().Str("from", s.Sender.String()).Msg("the bus brings more than this host can handle; what is dropped is asked for again")
	}
}

func (b *Bus) dispatch() {
	for {
		select {
		case <-b.ctx.Done():
			return
		case <-b.queue.wake:
			b.deliver(b.queue.take())
		}
	}
}

func (b *Bus) deliver(next batch) {
	h := b.opts.Handlers
	if next.linked && h.Linked != nil {
		h.Linked()
	}
	if len(next.messages) > 0 && h.Message != nil {
		h.Message(next.messages)
	}
	for _, l := range next.letters {
		b.deliverLetter(l)
	}
	for _, host := range next.unlinked { // after what the host has said last
		if h.Unlinked != nil {
			h.Unlinked(host)
		}
	}
}

func (b *Bus) deliverLetter(in letterIn) {
	l, err := readLetter(in.msg, in.msg.Subject)
	if err != nil {
		b.countMalformed(in.msg, err)
		return
	}
	if err = b.verify(l, in.subject.Sender); err == nil {
		if err = b.checkTime(l, letterWindow); err != nil {
			b.noteClock(l.Host, l.Time.Sub(b.opts.Now()))
		}
	}
	if err != nil {
		b.countRefused(in.msg, err)
		return
	}
	var again *repeatedError
	switch err := b.handleLetter(in.subject, l); {
	case errors.As(err, &again):
		b.countRefused(in.msg, err)
	case err != nil:
		b.countMalformed(in.msg, err)
	}
}

// repeatedError says that a letter has come before and is refused now.
type repeatedError struct{ error }

func (b *Bus) handleLetter(s protocol.Subject, l *protocol.Letter) error {
	h := b.opts.Handlers
	switch s.Kind {
	case protocol.KindHeard:
		paths, err := decodeHeard(l.Data)
		if err != nil {
			return err
		}
		if h.Heard != nil {
			h.Heard(s.Sender, "", paths)
		}
	case protocol.KindWoken:
		agent, paths, err := decodeWoken(l.Data)
		if err != nil {
			return err
		}
		if h.Heard != nil {
			h.Heard(s.Sender, agent, paths)
		}
	case protocol.KindHead:
		heads, err := protocol.DecodeHeads(l.Data)
		if err != nil {
			return err
		}
		if h.Heads != nil {
			h.Heads(s.Sender, heads)
		}
	case protocol.KindBell:
		if h.Bell != nil {
			h.Bell(s.Sender)
		}
	case protocol.KindPresence:
		p, err := decodePresence(l.Data)
		if err != nil {
			return err
		}
		p.Host, p.Sent, p.Seen = s.Sender, l.Time, b.opts.Now()
		if err := b.replays.presence(p, l.Key); err != nil && p.Host != b.opts.Alias {
			return &repeatedError{err}
		}
		if h.Presence != nil {
			h.Presence(p)
		}
	}
	return nil
}
