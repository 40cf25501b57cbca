package fleet

import (
	"errors"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// ErrKnown says that the state holds the same bytes at that path already.
var ErrKnown = errors.New("the message is known")

// Apply folds the file data at path p into the state. The error is ErrKnown for
// a second arrival and for a file that loses its path to another, a
// *keys.RefusedError for a wrong signature, and otherwise says what is malformed.
//
// Where two files claim one path, the one that Prefer names stays. The other is
// remembered, because a host's key that arrives later can turn the decision.
func (s *State) Apply(p protocol.Path, data []byte) (*Item, error) {
	return s.Take(s.Examine(p, data))
}

// Examined is a file that Examine has looked at.
type Examined struct {
	Path protocol.Path
	item *Item
	err  error
}

// Host is the host that the file says it was sent by, "" for none.
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

// Err is why the file is no message of the record, if it is none.
func (e Examined) Err() error { return e.err }

// Examine does of Apply what takes the most time and depends on the file alone:
// reading it and checking its signature. It may be called concurrently with every
// method of the state.
func (s *State) Examine(p protocol.Path, data []byte) Examined {
	it, err := s.read(p, data)
	return Examined{p, it, err}
}

// ExamineOwn is Examine for a file that this process itself has signed a moment ago, for
// the record of this state and this path. To check the signature would take more than all
// the rest.
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

// TakeAll takes files that came together. It looks at the keys and at the order once,
// when all are there: each word of a host can change who may sign for whom. The items
// are those of the files that are new and stand at their paths then, nil for others.
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
		take() // a batch would look at all keys for any word
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

// Batch runs f, which applies many files, and gives all of them their places at
// the end: in whatever order they come, that costs hardly more than reading
// them. Until then the state answers nothing that has an order.
func (s *State) Batch(f func()) {
	s.together(f)
	s.Ledger.changes = Changes{}
}

// together is Batch that goes on telling what changes.
func (s *State) together(f func()) {
	s.batch = true
	defer func() {
		s.batch = false
		s.settled()
	}()
	f()
}

// settled has keys and places follow what has come, unless more comes with it.
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

// item is what is kept of a message with its file. sealed says that it is signed, and
// that the signature fits.
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
