package fleet

import (
	"errors"
	"slices"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// ErrKnown says that the file does not stand at its path as something new: it was known before, or
// another file has the path.
var ErrKnown = errors.New("the message is known")

// Apply folds the file `data` at path `p` into the state. The error is ErrKnown if the file was
// there before, or if it loses its path to another file. It is a *keys.RefusedError if the
// signature is wrong. Any other error says what is malformed.
//
// If two files claim one path, the one that Prefer names stays. The other one is remembered,
// because a host's key that arrives later can turn the decision.
func (s *State) Apply(p protocol.Path, data []byte) (*Item, error) {
	return s.Take(s.Examine(p, data))
}

// Examined is a file that Examine has looked at.
type Examined struct {
	Path protocol.Path
	item *Item
	err  error
}

// Host is the host that the file names as its sender, or "".
func (e Examined) Host() protocol.Name {
	if e.item == nil {
		return ""
	}
	return e.item.Host
}

// Signed is the message in the file, without its body, if it bears a signature that
// fits its bytes, path and record; nil otherwise. It must not be changed.
func (e Examined) Signed() *protocol.Message {
	if e.item == nil || !e.item.Sealed {
		return nil
	}
	return &e.item.Message
}

// Err says why the file is no message of the record. It is nil if it is one.
func (e Examined) Err() error { return e.err }

// Examine does the part of Apply that takes the most time and depends on the file alone: it reads
// the file and checks its signature. It may be called concurrently with every method of the state.
func (s *State) Examine(p protocol.Path, data []byte) Examined {
	it, err := s.read(p, data)
	return Examined{p, it, err}
}

// ExamineOwn is Examine for a file that this process itself has just signed, for the record of this
// state and this path. It does not check the signature, which would take longer than all the rest.
func (s *State) ExamineOwn(p protocol.Path, data []byte) Examined {
	m, err := protocol.Decode(p, data)
	if err != nil {
		return Examined{p, nil, err}
	}
	it, err := s.item(m, data, true)
	return Examined{p, it, err}
}

// Take is the rest of Apply. A file that was examined once is taken once.
func (s *State) Take(e Examined) (*Item, error) {
	if !s.batch {
		s.Ledger.changes = Changes{}
	}
	if e.err != nil {
		return nil, e.err
	}
	p, it := e.Path, e.item
	old := s.Ledger.at(p)
	if s.Ledger.has(old, it) {
		return old, ErrKnown
	}
	turned := s.keys.Learn(&it.File, s.batch)
	s.Ledger.take(it, old != nil)
	s.keys.Arrived(&it.File)
	if turned {
		s.Ledger.electAll()
	}
	s.settled()
	if now := s.Ledger.at(p); now != it {
		return now, ErrKnown
	}
	return it, nil
}

// TakeAll takes files that came together. It looks at the keys and at the order only once, when all
// files are there, because each word of a host can change who may sign for whom. It returns an item
// for each file that is new and stands at its path at the end, and nil for each other file.
func (s *State) TakeAll(all []Examined) []*Item {
	s.Ledger.changes = Changes{}
	taken := make([]*Item, len(all))
	take := func() {
		for i, e := range all {
			if it, err := s.Take(e); err == nil {
				taken[i] = it
			}
		}
	}
	if len(all) == 1 {
		take() // a batch would look at all keys for a single word
		return taken
	}
	s.together(take)
	for i, it := range taken {
		if it != nil && s.Ledger.at(it.Path) != it {
			taken[i] = nil
		}
	}
	return taken
}

// Batch runs `f`, which applies many files. The files get their places only at the end. So they
// cost hardly more than reading them, in whatever order they come. Until then the state gives no
// answer that depends on the order.
func (s *State) Batch(f func()) {
	s.together(f)
	s.Ledger.changes = Changes{}
}

// together is Batch, except that Changes still tells what has changed.
func (s *State) together(f func()) {
	s.batch = true
	defer func() {
		s.batch = false
		s.settled()
	}()
	f()
}

// settled brings keys and places up to date with what has come, unless a batch is under way.
func (s *State) settled() {
	if s.batch {
		return
	}
	if s.keys.Settle() {
		s.Ledger.electAll()
	}
	s.Ledger.settle()
	s.Talk.conversations.follow(s.Talk, s.Ledger.changes)
}

// Check says what Take would say of an examined file, without changing the state.
func (s *State) Check(e Examined) error {
	if e.err == nil && s.Ledger.has(s.Ledger.at(e.Path), e.item) {
		return ErrKnown
	}
	return e.err
}

// read decodes and checks one file without touching the state.
func (s *State) read(p protocol.Path, data []byte) (*Item, error) {
	m, err := protocol.Decode(p, data)
	if err != nil {
		return nil, err
	}
	sig, err := protocol.CheckSignature(m, s.anchor.RecordID, data)
	if sig == protocol.SignatureRefused {
		return nil, &keys.RefusedError{Err: err}
	}
	return s.item(m, data, sig == protocol.SignatureValid)
}

// item is what is kept of a message and its file. `sealed` says that the message is signed and that
// the signature fits.
func (s *State) item(m *protocol.Message, data []byte, sealed bool) (*Item, error) {
	it := &Item{File: keys.File{Message: *m, Hash: protocol.Hash(data), Sealed: sealed}}
	if err := it.ReadWord(s.anchor.RecordID, s.system); err != nil {
		return nil, err
	}
	body := it.Body
	it.Body, it.Sig, it.Extra = "", "", nil
	s.affairs.keep(it, body)
	return it, nil
}

// Changes is what the last Apply, Take or TakeAll changed in the order of the record.
// It holds until the next.
type Changes struct {
	Came  []*Item // messages that stand at their paths now, and did not before
	Left  []*Item // messages that stood at their paths, and do not any more: other files have won the paths
	Moved []Move  // messages that have another place in the order
}

// Move is a message that has another place than before.
type Move struct {
	*Item
	From time.Time // where it stood
}

// Changes is what the last Apply, Take or TakeAll changed. A Batch tells nothing.
func (l *Ledger) Changes() Changes { return l.changes }

// left notes that an item with a place no longer stands at its path.
func (c *Changes) left(it *Item) { c.Left = append(c.Left, it) }

// placed notes that an item goes to another place, if it had one. It may have lost its path and won
// it again since the last time that Changes told of it.
func (c *Changes) placed(it *Item, to time.Time) {
	if !it.placed {
		i := slices.Index(c.Left, it)
		if i < 0 {
			c.Came = append(c.Came, it)
			return
		}
		c.Left = slices.Delete(c.Left, i, i+1)
	}
	if !it.Place.Equal(to) {
		c.Moved = append(c.Moved, Move{it, it.Place})
	}
}

// Epoch rises whenever what a host has said is judged differently: its keys have changed, or whom
// it has declared. As long as the epochs of the hosts on which a result depends have not risen, the
// same question gives the same result.
func (s *State) Epoch(host protocol.Name) int { return s.keys.Epoch(host) }

// Epochs is the sum of the epochs of all hosts.
func (s *State) Epochs() int { return s.keys.Epochs() }

// Turn counts how often a message came to a place in a channel, or left one, since this state was
// made. If the turn is the same at two times, the channel has the same messages. If it has risen by
// n, and n messages stand behind the last one that was seen before, then these have come and
// nothing else has changed. The turn of "" is for all channels together.
func (s *State) Turn(c protocol.ChannelID) int { return s.turned[c] }

// TurnOf counts as Turn does the deeds of a kind of affairs.
func (s *State) TurnOf(kind string) int { return s.affairs.turns[kind] }
