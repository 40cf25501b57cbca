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
// the record of this state and this path: to check that would take more than all the rest.
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
		s.changes = Changes{}
	}
	if e.err != nil {
		return nil, e.err
	}
	p, it := e.Path, e.item
	old := s.at(p)
	if s.has(old, it) {
		return old, ErrKnown
	}
	taken := old != nil
	turned := s.keys.Learn(&it.File, s.batch)
	if taken {
		s.lose(it)
		s.elect(p)
	} else {
		s.add(it)
	}
	s.keys.Arrived(&it.File)
	if turned {
		s.electAll()
	}
	s.settle()
	if now := s.at(p); now != it {
		return now, ErrKnown
	}
	return it, nil
}

// TakeAll takes files that came together, and looks at the keys and at the order once
// when all are there: each word of a host can change who may sign for whom. The items
// are those of the files that are new and stand at their paths then, nil for others.
func (s *State) TakeAll(all []Examined) []*Item {
	s.changes = Changes{}
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
		if it != nil && s.at(it.Path) != it {
			taken[i] = nil
		}
	}
	return taken
}

// Check says what Take would say of an examined file, without changing the state.
func (s *State) Check(e Examined) error {
	if e.err == nil && s.has(s.at(e.Path), e.item) {
		return ErrKnown
	}
	return e.err
}

// has reports whether the file is old, which stands at its path, or one that has
// lost to it.
func (s *State) has(old, it *Item) bool {
	return old != nil && (old.Hash == it.Hash || s.isRival(it))
}

// read decodes and checks one file without touching the state.
func (s *State) read(p protocol.Path, data []byte) (*Item, error) {
	m, err := protocol.Decode(p, data)
	if err != nil {
		return nil, err
	}
	sig, err := protocol.CheckSignature(m, s.recordID, data)
	if sig == protocol.SignatureRefused {
		return nil, &keys.RefusedError{Err: err}
	}
	return s.item(m, data, sig == protocol.SignatureValid)
}

// item is what is kept of a message with its file. sealed says that it is signed, and
// that the signature fits.
func (s *State) item(m *protocol.Message, data []byte, sealed bool) (*Item, error) {
	it := &Item{File: keys.File{Message: *m, Hash: protocol.Hash(data), Sealed: sealed}}
	if err := it.ReadWord(s.recordID, s.system); err != nil {
		return nil, err
	}
	body := it.Body
	it.Body, it.Sig, it.Extra = "", "", nil
	s.affairs.keep(it, body)
	return it, nil
}

func (s *State) add(it *Item) {
	s.enter(it)
	s.noteFork(it)
	s.unsettled = append(s.unsettled, it)
}

// counts is 1 for a message that makes its author known, 0 for the word of a
// host, which nobody can write to.
func (it *Item) counts() int {
	if it.Sealed && it.From == it.Host.String() {
		return 0
	}
	return 1
}

// addressed are the names under which mail is listed: "" for mail to all, none for
// a receipt.
func (it *Item) addressed() []string {
	if _, receipt := it.ReadPath(); receipt {
		return nil
	}
	if it.ToAll() {
		return []string{""}
	}
	var names []string
	for i, a := range it.To {
		if !addressedBefore(it.To[:i], a.Name) {
			names = append(names, a.Name)
		}
	}
	return names
}

func addressedBefore(to []protocol.Address, name string) bool {
	for _, a := range to {
		if a.Name == name {
			return true
		}
	}
	return false
}

// remove takes out a loose item whose path another file has won.
func (s *State) remove(it *Item) {
	if it.placed {
		s.changes.left(it)
		s.touched(it, it.Place)
		for _, q := range s.sequences(it) {
			q.remove(it)
		}
		it.placed = false
	}
	s.leave(it)
	if it.Type == protocol.TypeRead {
		s.receiptsLeft++
	}
	s.unsettled = append(s.unsettled, s.after(it)...)
}
