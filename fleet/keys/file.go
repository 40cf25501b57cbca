package keys

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// File is a file of the record that holds a message, as far as it says so itself.
type File struct {
	protocol.Message
	Hash   string            // of its bytes
	Sealed bool              // its signature fits its bytes, its path and the record
	Word   protocol.HostWord // what it says of hosts; nil if it is no word of a host
}

// Signer is an alias and a key that signed for it, whether the key is the host's or not.
type Signer struct {
	Host protocol.Name
	Key  string
}

// Signer is who signed the file, if it is sealed.
func (f *File) Signer() Signer { return Signer{f.Host, f.Key} }

// RefusedError says that a message's signature does not hold. Such a message is
// not part of the state.
type RefusedError struct{ Err error }

// Error returns why.
func (e *RefusedError) Error() string { return "the signature is refused: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *RefusedError) Unwrap() error { return e.Err }

// ReadWord parses what a message of the system channel of a record says of a host. Only a
// host's own signed word counts; anything else there is mail. The error is a
// *RefusedError, or says what is malformed.
func (f *File) ReadWord(recordID string, system protocol.ChannelID) error {
	act := f.Act
	if !act.HostWord() {
		return nil
	}
	if !f.Sealed || f.Path.Channel() != system || f.Type != protocol.TypeText {
		f.Act = protocol.ActHey
		return nil
	}
	w, err := protocol.ParseHostWord(act, f.Body)
	if err != nil {
		return fmt.Errorf("the %s is malformed: %w", act, err)
	}
	if h, says := w.(protocol.HostState); w.Speaker() != f.Host || says && act == protocol.ActHostJoin && h.Key != f.Key {
		return &RefusedError{fmt.Errorf("the %s speaks for another host or key than it is signed by", act)}
	}
	switch says := w.(type) {
	case protocol.Rotation:
		err = says.Check(recordID, f.Key)
	case protocol.HumanKey:
		err = says.Check(recordID)
	case protocol.HumanEnd:
		err = says.Check(recordID)
	}
	if err != nil {
		return &RefusedError{fmt.Errorf("the %s does not hold: %w", act, err)}
	}
	f.Word = w
	return nil
}

// signedAt is the time at which a message says that it was signed: the time in its path, which
// rises along its host's chain.
func (f *File) signedAt() time.Time {
	if at := f.Path.Time(); !at.IsZero() {
		return at
	}
	return f.Timestamp
}

// byTimestamp orders joins only by what stands in them. Their places would depend on which
// contested files count. That depends on keys, and the joins decide the keys.
func byTimestamp(a, b *File) int { return cmp.Or(a.Timestamp.Compare(b.Timestamp), ByPath(a, b)) }

// ByPath compares files of one host in the order in which the host wrote them, because the paths of
// a host always rise.
func ByPath(a, b *File) int { return cmp.Or(a.Path.Compare(b.Path), strings.Compare(a.Hash, b.Hash)) }

// Earlier is the file with the smaller path, of two files of one signer. Either may be nil.
func Earlier(a, b *File) *File {
	if a != nil && (b == nil || ByPath(a, b) < 0) {
		return a
	}
	return b
}

// Later is the file with the greater path, of two files of one signer. Either may be nil.
func Later(a, b *File) *File {
	if a != nil && (b == nil || ByPath(a, b) > 0) {
		return a
	}
	return b
}
