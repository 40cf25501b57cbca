package invite

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// noLine is all that a stranger learns who knows no line.
const noLine = "this host knows no such invitation line"

// Serve speaks with a machine that has dialled the links port to join by a line. `guest` is the key
// that it has proved, `host` that of this host. It returns when that is settled, with why it came to
// nothing.
func (b *Book) Serve(ctx context.Context, conn Conn, guest, host string) error {
	t := newTalk(conn)
	e, err := newEnds(conn, guest, host)
	if err != nil {
		return err
	}
	var h hello
	leave := b.lobby.enter(conn)
	err = t.hear(&h, time.Now().Add(stepTime))
	leave()
	if err != nil {
		return err
	}
	l, id, refused := b.take(e, h, conn.RemoteAddr().String())
	if refused != "" {
		return errors.Join(errors.New(refused), t.say(promise{Refused: refused}))
	}
	own, theirs := reveal{make([]byte, 32)}, reveal{}
	random.Fill(own.Nonce)
	p := promise{Commit: commitTo(host, own.Nonce)}
	err = t.turn(p, &theirs)
	if err == nil && !bytes.Equal(h.Commit, commitTo(guest, theirs.Nonce)) {
		err = errors.New("it did not keep to what it had committed to")
		b.burn(l, fmt.Sprintf("a machine at %s that had the line %v", conn.RemoteAddr(), err))
	}
	if err == nil {
		err = t.say(own)
	}
	if err != nil {
		b.gone(id)
		return err
	}
	return b.ask(ctx, t, id, e.words(h, p, theirs, own))
}

// take uses a line up by one, and notes who came by it. It returns why the machine is refused, if it
// is. A machine that was let in already is taken up again, and uses nothing.
func (b *Book) take(e ends, h hello, from string) (l *line, knock, refused string) {
	fingerprint, err := protocol.Fingerprint(e.Guest)
	if err != nil {
		return nil, "", noLine
	}
	alias := b.Host(e.Guest)
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.lines, func(l *line) bool { return l.Mark == h.Mark })
	if i < 0 {
		return nil, "", noLine
	}
	l, now := b.lines[i], b.Now()
	if !ed25519.Verify(l.Proof, e.proved(), h.Proof) {
		b.fail(l, fmt.Sprintf("a machine at %s named the line and could not prove to have it", from))
		return nil, "", noLine
	}
	if k := l.guest(e.Guest, now); k != nil {
		return l, k.ID, ""
	}
	if alias != "" {
		return nil, "", "the key of this machine is or was that of the host " + alias.String() + " already"
	}
	if err := h.About.check(); err != nil {
		return nil, "", err.Error()
	}
	switch l.state(now) {
	case control.LineExpired:
		return nil, "", fmt.Sprintf("the line has expired, at %s", l.Expires.Format("2006-01-02 15:04 MST"))
	case control.LineRevoked:
		return nil, "", "the line was revoked"
	case control.LineBurnt, control.LineUsed:
		return nil, "", b.usedAlready(l, fingerprint, from)
	}
	l.Used++
	k := newKnock(h, e.Guest, fingerprint, from, now)
	l.Knocks = append(l.Knocks, k)
	b.asking[k.ID] = make(chan bool, 1)
	if err := b.save(); err != nil {
		b.settle(&l.Knocks[len(l.Knocks)-1], control.KnockGone)
		return nil, "", "the inviting host cannot write to its disk"
	}
	return l, k.ID, ""
}

// usedAlready burns a line that somebody uses once more than it allows: one of them has stolen it.
// Both are told. The caller holds mu.
func (b *Book) usedAlready(l *line, fingerprint, from string) string {
	if len(l.Knocks) == 0 {
		return "the line is burnt: a use of it has failed"
	}
	k := l.Knocks[len(l.Knocks)-1]
	if k.Fingerprint == fingerprint {
		b.fail(l, "it was used twice by "+fingerprint)
		return "this machine has used the line already, and was not let in: ask for another line"
	}
	b.fail(l, fmt.Sprintf("it was used by %s (%s) from %s, and then tried by %s from %s: if the first was not the one whom you invited: parley fleet revoke %s",
		k.Alias, k.Fingerprint, k.Address, fingerprint, from, k.Alias))
	return fmt.Sprintf("the line was used already, from %s at %s: if that was not you, tell whoever gave you the line", k.Address, k.At.Format("2006-01-02 15:04 MST"))
}

// fail burns a line and warns of it. The caller holds mu.
func (b *Book) fail(l *line, why string) {
	if l.State != control.LineOpen {
		return // it is said already
	}
	b.end(l, control.LineBurnt, why)
	b.Notices.Latest(burnt(l), "the invitation line %s is burnt: %s; when you have seen to it: parley fleet invite revoke %s", l.ID, why, l.ID)
	_ = b.save() // it counts no more either way, as long as this node runs
}

// burnt is what the warning of a burnt line is about.
func burnt(l *line) string { return "line " + l.ID }

func (b *Book) burn(l *line, why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail(l, why)
}

// gone notes that a newcomer went before it was answered. Its use of the line stays counted.
func (b *Book) gone(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if _, k := b.knock(id); k != nil && k.State == control.KnockAsks {
		b.settle(k, control.KnockGone)
		_ = b.save() // a node that starts knows it too
	}
}

// ask waits until a person has compared the words, and tells the newcomer.
func (b *Book) ask(ctx context.Context, t *talk, id, words string) error {
	taken := b.Names()
	b.mu.Lock()
	l, k := b.knock(id)
	asks := b.asking[id]
	switch {
	case k == nil:
		b.mu.Unlock()
		return errors.New("the line is not kept any more")
	case k.State == control.KnockAsks:
		k.Words = words
		b.Notices.Wrong("knock "+id, "%s (%s at %s) asks to join the fleet: parley fleet invite wait", k.Alias, k.Human, k.Address)
		if l.Unasked {
			_, _ = b.allow(l, k, taken) // a failure leaves it asking
		} else {
			_ = b.save()
		}
	}
	b.mu.Unlock()
	if asks != nil {
		left := make(chan struct{})
		go func() { // ends with the connection; a newcomer says nothing more
			_ = t.hear(new(verdict), time.Time{})
			close(left)
		}()
		select {
		case <-asks:
		case <-left:
			b.gone(id)
			return errors.New("it went before it was answered")
		case <-ctx.Done():
			b.gone(id)
			return ctx.Err()
		}
	}
	b.mu.Lock()
	_, k = b.knock(id)
	allowed, alias := k != nil && k.State == control.KnockAllowed, protocol.Name("")
	if allowed {
		alias = k.Alias
	}
	b.mu.Unlock()
	if !allowed {
		return t.say(verdict{Refused: "the inviting host said no, or ended the line"})
	}
	granted := b.Grant()
	granted.Alias = alias
	return t.say(verdict{Granted: &granted})
}

// check returns an error if what a newcomer says of itself cannot be.
func (a About) check() error {
	for _, name := range []protocol.Name{a.Alias, a.Human} {
		if _, err := protocol.ParseName(name.String()); err != nil {
			return err
		}
		if err := protocol.CheckFileName(name.String()); err != nil {
			return err
		}
	}
	if len(a.Version) > maxVersion {
		return fmt.Errorf("its version has more than %d bytes", maxVersion)
	}
	return nil
}
