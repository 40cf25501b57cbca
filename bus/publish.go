package bus

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/protocol"
)

// maxHeard is how many paths one letter carries at most.
const maxHeard = 500

// Publish sends the message `m`, whose file has the bytes `data`, on its one subject. It does not
// wait for delivery. It returns an error for a message of another host, because a host speaks only
// below its own name. It also does for a message that has more bytes than protocol.MaxFile with its
// headers.
func (b *Bus) Publish(m *protocol.Message, data []byte) error {
	if m.Host != b.opts.Alias {
		return fmt.Errorf("cannot publish %s: it was sent by %q, not by this host", m.Path, m.Host)
	}
	msg := nats.NewMsg(b.subjects.Message(m))
	msg.Data = data
	msg.Header.Set(protocol.HeaderPath, m.Path.String())
	msg.Header.Set(protocol.HeaderHost, m.Host.String())
	msg.Header.Set(protocol.HeaderRun, m.Run)
	msg.Header.Set(protocol.HeaderSeq, strconv.FormatUint(m.Seq, 10))
	if err := b.send(msg); err != nil {
		return fmt.Errorf("cannot publish %s: %w", m.Path, err)
	}
	return nil
}

// PublishHeard tells the fleet that this host has fsynced the messages at `paths`, up to 500 in one
// letter. Without paths it sends nothing.
func (b *Bus) PublishHeard(paths []protocol.Path) error {
	for len(paths) > 0 {
		n := min(len(paths), maxHeard)
		if err := b.publishLetter(protocol.KindHeard, encodeHeard(paths[:n])); err != nil {
			return err
		}
		paths = paths[n:]
	}
	return nil
}

// PublishWoken tells the fleet that the program of a session of an agent of this host took the bell
// for the messages at `paths`, the first 500 of them (R69).
func (b *Bus) PublishWoken(agent protocol.Name, paths []protocol.Path) error {
	return b.publishLetter(protocol.KindWoken, encodeWoken(agent, paths[:min(len(paths), maxHeard)]))
}

// PublishHeads tells the fleet how far the chains of hosts go, as far as this host knows, up to 64
// in one letter. Without heads it sends nothing.
func (b *Bus) PublishHeads(heads []protocol.Head) error {
	for part := range slices.Chunk(heads, protocol.MaxHeads) {
		if err := b.publishLetter(protocol.KindHead, protocol.EncodeHeads(part)); err != nil {
			return err
		}
	}
	return nil
}

// Ring rings the bell: the remote has moved.
func (b *Bus) Ring() error { return b.publishLetter(protocol.KindBell, nil) }

// Announce tells the fleet about this host. It sets p.Host and p.Count. If a presence arrives after
// one with a higher number, the receiver refuses it as a repetition. So presences are sent in the
// order of their numbers.
func (b *Bus) Announce(p Presence) error {
	b.announcing.Lock()
	defer b.announcing.Unlock()
	b.announced++
	p.Host, p.Count = b.opts.Alias, b.announced
	data, err := encodePresence(p)
	if err != nil {
		return fmt.Errorf("cannot announce this host: %w", err)
	}
	return b.publishLetter(protocol.KindPresence, data)
}

func (b *Bus) publishLetter(kind protocol.Kind, data []byte) error {
	l := b.letter(b.subjects.Letter(b.opts.Alias, kind), "", data)
	msg, err := b.seal(l, l.Subject)
	if err == nil && b.revokedHost(l.Key) != "" {
		return nil // a host that was removed is ending: its farewell would only be refused, and reported as an offence
	}
	if err == nil {
		err = b.send(msg)
	}
	if err != nil {
		return fmt.Errorf("cannot send the %s letter: %w", kind, err)
	}
	return nil
}

// send hands msg to the connection, whose own goroutine flushes it at once.
func (b *Bus) send(msg *nats.Msg) error {
	err := b.conn.PublishMsg(msg)
	switch {
	case errors.Is(err, nats.ErrConnectionClosed):
		return ErrClosed
	case errors.Is(err, nats.ErrHeadersNotSupported) && !b.conn.IsConnected():
		return ErrNotConnected // the client knows nothing about a server that it has never seen
	}
	return err
}
