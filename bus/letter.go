package bus

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// letterWindow is how far a letter's time may be from ours. It is wide, because a clock that is
	// a day off must not silence a host. Letters that are repeated within the window are recognized
	// if that matters: see replays.
	letterWindow = 36 * time.Hour

	maxAgents  = 4096
	maxVersion = 128
	maxWord    = 32 // letters of the word for what an agent is doing
)

// letter makes a letter of this host, not signed yet.
func (b *Bus) letter(subject, re string, data []byte) *protocol.Letter {
	now := b.opts.Now().UTC().Truncate(time.Millisecond)
	return &protocol.Letter{Subject: subject, Host: b.opts.Alias, Time: now, Re: re, Data: data}
}

// seal signs `l` and puts it into a NATS message to `subject`. For an answer, that is not the
// subject that is signed.
func (b *Bus) seal(l *protocol.Letter, subject string) (*nats.Msg, error) {
	if err := l.Seal(b.opts.RecordID, b.identity().key); err != nil {
		return nil, err
	}
	msg := nats.NewMsg(subject)
	msg.Data = l.Data
	msg.Header.Set(protocol.HeaderHost, l.Host.String())
	msg.Header.Set(protocol.HeaderKey, l.Key)
	msg.Header.Set(protocol.HeaderTime, l.Time.Format(protocol.TimestampLayout))
	if l.Re != "" {
		msg.Header.Set(protocol.HeaderRe, l.Re)
	}
	msg.Header.Set(protocol.HeaderSig, l.Sig)
	return msg, nil
}

// readLetter reads the letter in `msg`, without checking it, as a letter that was signed for
// `subject`.
func readLetter(msg *nats.Msg, subject string) (*protocol.Letter, error) {
	host, err := protocol.ParseName(msg.Header.Get(protocol.HeaderHost))
	if err != nil {
		return nil, fmt.Errorf("cannot read the letter: host %w", err)
	}
	at, err := time.Parse(protocol.TimestampLayout, msg.Header.Get(protocol.HeaderTime))
	if err != nil {
		return nil, fmt.Errorf("cannot read the letter: its time: %w", err)
	}
	return &protocol.Letter{
		Subject: subject,
		Host:    host,
		Key:     msg.Header.Get(protocol.HeaderKey),
		Time:    at,
		Re:      msg.Header.Get(protocol.HeaderRe),
		Sig:     msg.Header.Get(protocol.HeaderSig),
		Data:    msg.Data,
	}, nil
}

// verify checks that `l` comes from the host `from`: signed for this record, by a key that is
// trusted for that host.
func (b *Bus) verify(l *protocol.Letter, from protocol.Name) error {
	if l.Host != from {
		return fmt.Errorf("it says it is from %s and came as one from %s", l.Host, from)
	}
	alias, ok := b.opts.Trusted(l.Key)
	if !ok || alias != from {
		return fmt.Errorf("its key is not a key of %s", from)
	}
	return l.Open(b.opts.RecordID)
}

// toldRevoked is what the holder of a revoked key is told, who may not know it yet. It tells
// nothing new: the record says so to everybody.
const toldRevoked = "the key of this host is revoked, and what it says or asks is refused"

// revokedHost is the host whose key this was until it was revoked; "" for none.
func (b *Bus) revokedHost(key string) protocol.Name {
	if b.opts.Revoked == nil {
		return ""
	}
	if alias, revoked := b.opts.Revoked(key); revoked {
		return alias
	}
	return ""
}

func (b *Bus) checkTime(l *protocol.Letter, window time.Duration) error {
	if off := l.Time.Sub(b.opts.Now()); off.Abs() > window {
		return fmt.Errorf("its time is %s from the clock of %s, more than %s", span.Text(off.Abs().Round(time.Second)), b.opts.Alias, span.Text(window))
	}
	return nil
}

func encodeHeard(paths []protocol.Path) []byte {
	return []byte(strings.Join(each.Of(paths, protocol.Path.String), "\n"))
}

// encodeWoken has the agent in its first line, and the rest as encodeHeard.
func encodeWoken(agent protocol.Name, paths []protocol.Path) []byte {
	return append([]byte(agent.String()+"\n"), encodeHeard(paths)...)
}

func decodeWoken(data []byte) (agent protocol.Name, paths []protocol.Path, err error) {
	first, rest, _ := strings.Cut(string(data), "\n")
	if agent, err = protocol.ParseName(first); err != nil {
		return "", nil, fmt.Errorf("cannot read the woken letter: %w", err)
	}
	paths, err = decodeHeard([]byte(rest))
	return agent, paths, err
}

func decodeHeard(data []byte) ([]protocol.Path, error) {
	if n := strings.Count(string(data), "\n") + 1; n > maxHeard {
		return nil, fmt.Errorf("cannot read the heard letter: %d paths are more than %d", n, maxHeard)
	}
	var paths []protocol.Path
	for line := range strings.SplitSeq(string(data), "\n") {
		p, err := protocol.ParsePath(line)
		if err != nil {
			return nil, fmt.Errorf("cannot read the heard letter: %w", err)
		}
		paths = append(paths, p)
	}
	return paths, nil
}

func encodePresence(p Presence) ([]byte, error) {
	if p.Agents == nil {
		p.Agents = []string{}
	}
	p.Since = p.Since.UTC()
	data, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	if _, err := decodePresence(data); err != nil {
		return nil, err
	}
	return data, nil
}

// decodePresence reads what encodePresence writes. It skips fields that it does not know, so that
// later versions can add some.
func decodePresence(data []byte) (Presence, error) {
	var p Presence
	if err := json.Unmarshal(data, &p); err != nil {
		return Presence{}, fmt.Errorf("cannot read the presence letter: %w", err)
	}
	if err := checkPresence(p); err != nil {
		return Presence{}, fmt.Errorf("cannot read the presence letter: %w", err)
	}
	return p, nil
}

func plainWord(text string) bool {
	return text != "" && len(text) <= maxWord && !strings.ContainsFunc(text, func(letter rune) bool { return letter < 'a' || letter > 'z' })
}

func checkPresence(p Presence) error {
	if _, err := protocol.ParseName(p.Host.String()); err != nil {
		return fmt.Errorf("host %w", err)
	}
	for _, names := range [][]string{p.Agents, p.Sessions} {
		if len(names) > maxAgents {
			return fmt.Errorf("%d agents are more than %d", len(names), maxAgents)
		}
		for _, a := range names {
			if err := protocol.CheckForeignName(a); err != nil {
				return err
			}
		}
	}
	if len(p.At) > maxAgents {
		return fmt.Errorf("what %d agents are at is more than of %d", len(p.At), maxAgents)
	}
	for a, at := range p.At {
		if err := protocol.CheckForeignName(a); err != nil {
			return err
		}
		if !plainWord(at) {
			return fmt.Errorf("what the agent %s is at is no word of 1 to %d small letters", a, maxWord)
		}
	}
	if len(p.Waits) > maxAgents {
		return fmt.Errorf("what %d agents wait for is more than of %d", len(p.Waits), maxAgents)
	}
	for a, waits := range p.Waits {
		if err := protocol.CheckForeignName(a); err != nil {
			return err
		}
		if !plainWord(waits.For) {
			return fmt.Errorf("what the agent %s waits for is no word of 1 to %d small letters", a, maxWord)
		}
	}
	if p.Lacks != "" {
		if err := protocol.CheckForeignName(p.Lacks); err != nil {
			return fmt.Errorf("what it lacks: %w", err)
		}
	}
	if len(p.Stuck) > protocol.MaxStuck {
		return fmt.Errorf("%d calls have failed, more than %d", len(p.Stuck), protocol.MaxStuck)
	}
	for _, c := range p.Stuck {
		if err := c.Check(); err != nil {
			return err
		}
	}
	for _, hosts := range [][]protocol.Name{p.Wants, p.Lost} {
		if len(hosts) > MaxWants {
			return fmt.Errorf("it names %d hosts, more than %d", len(hosts), MaxWants)
		}
		for _, host := range hosts {
			if _, err := protocol.ParseName(host.String()); err != nil {
				return fmt.Errorf("it names a host: %w", err)
			}
		}
	}
	for _, text := range []string{p.Version, p.Run, p.Machine} {
		if len(text) > maxVersion || !utf8.ValidString(text) {
			return errors.New("its version, run or machine is too long or not text")
		}
	}
	return nil
}
