// Package invite lets another machine join by an invitation line (R76). The machine dials the links
// port, proves that it has the line, and both ends draw three words from what they said. A person at
// the inviting host compares the words before the machine learns anything of the record.
//
// Both ends have proved their host keys by their TLS certificates, and both commit to a random nonce
// before either shows it. So nobody between them, and neither of them, can choose what the words are.
package invite

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// Service is the name of the handshake in TLS (ALPN).
	Service = "parley-invite/1"
	// stepTime is how long the other end may take for one step.
	stepTime = 10 * time.Second
	// maxSaid bounds one thing that is said, in bytes.
	maxSaid = 4096
	// maxVersion bounds what a newcomer says of its version, in bytes.
	maxVersion = 64
)

// Conn is a connection of which TLS has proved both ends.
type Conn interface {
	net.Conn
	ConnectionState() tls.ConnectionState
}

// About is what a newcomer says of itself.
type About struct {
	Alias   protocol.Name `json:"alias"`   // what it wants to be called
	Human   protocol.Name `json:"human"`   // who decides there
	Version string        `json:"version"` // of parley
	Takes   bool          `json:"takes"`   // it takes links
}

// Granted is what a newcomer learns once it is let in.
type Granted struct {
	Alias  protocol.Name `json:"alias"`  // what it is called: another name than it wished if the fleet has that already
	Fleet  protocol.Name `json:"fleet"`  // the name of the fleet
	Remote string        `json:"remote"` // the git repository that the fleet shares, without what lets somebody in; "" for none
}

// What the two ends say, in this order. A refusal may stand in place of what the inviting host says.
type (
	hello struct { // the newcomer
		Mark   string `json:"mark"`   // which line it has
		Proof  []byte `json:"proof"`  // that it has the whole line, for this connection
		Commit []byte `json:"commit"` // to its nonce
		About  About  `json:"about"`
	}
	promise struct { // the inviting host
		Commit  []byte `json:"commit"`
		Refused string `json:"refused,omitempty"`
	}
	reveal struct { // the newcomer, then the inviting host
		Nonce []byte `json:"nonce"`
	}
	verdict struct { // the inviting host
		Granted *Granted `json:"granted,omitempty"`
		Refused string   `json:"refused,omitempty"`
	}
)

// ends are the two ends of one connection.
type ends struct {
	Session []byte // drawn from the keys of the connection: no other connection has it
	Guest   string // public nkey of the newcomer
	Host    string // public nkey of the inviting host
}

func newEnds(conn Conn, guest, host string) (ends, error) {
	state := conn.ConnectionState()
	session, err := state.ExportKeyingMaterial("EXPORTER-"+Service, nil, 32)
	return ends{session, guest, host}, err
}

// proved is what a newcomer signs with the key of its line.
func (e ends) proved() []byte {
	return append([]byte(Service+" proof\x00"+e.Guest+"\x00"+e.Host+"\x00"), e.Session...)
}

// commitTo binds the end with `key` to its nonce. The key stands in it, so that nobody can give the
// other end's commitment back as their own.
func commitTo(key string, nonce []byte) []byte {
	sum := sha256.Sum256(append([]byte(Service+" commit\x00"+key+"\x00"), nonce...))
	return sum[:]
}

//go:embed words.txt
var wordList string

// words are three words for all that was said.
func (e ends) words(h hello, p promise, guest, host reveal) string {
	said, err := json.Marshal([]any{Service, e, h, p, guest, host})
	if err != nil {
		return "" // these types have a form in JSON
	}
	sum, list := sha256.Sum256(said), strings.Fields(wordList)
	return list[sum[0]] + " " + list[sum[1]] + " " + list[sum[2]]
}

// talk is one connection, of which what is said is bounded in size and time.
type talk struct {
	conn Conn
	in   *bufio.Reader
}

func newTalk(conn Conn) *talk { return &talk{conn, bufio.NewReaderSize(conn, maxSaid)} }

func (t *talk) say(v any) error {
	line, err := json.Marshal(v)
	if err == nil {
		err = t.conn.SetWriteDeadline(time.Now().Add(stepTime))
	}
	if err == nil {
		_, err = t.conn.Write(append(line, '\n'))
	}
	return err
}

// hear reads what the other end says next, until a time; the zero time waits for ever.
func (t *talk) hear(v any, until time.Time) error {
	if err := t.conn.SetReadDeadline(until); err != nil {
		return err
	}
	line, err := t.in.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return fmt.Errorf("it said more than %d bytes at once", maxSaid)
	case errors.Is(err, io.EOF):
		return errors.New("the other end has ended the connection")
	case err != nil:
		return err
	}
	return json.Unmarshal(line, v)
}

// turn says something and reads the answer.
func (t *talk) turn(say, answer any) error {
	if err := t.say(say); err != nil {
		return err
	}
	return t.hear(answer, time.Now().Add(stepTime))
}

// RefusedError is the inviting host's no, in its words, which are shown in one line: they cannot look
// like a hint of this host.
type RefusedError struct{ Reason string }

// Error implements error.
func (e *RefusedError) Error() string { return visible.Line(e.Reason) }

// Knock asks the inviting host at the other end of a connection to be let in. `guest` is the public
// nkey of this host, `host` the one that the other end has proved. It calls `show` with the words,
// and waits until somebody there has compared them. A no is a *RefusedError.
func Knock(conn Conn, line protocol.InviteLine, guest, host string, about About, show func(words string)) (Granted, error) {
	if host != line.Key {
		return Granted{}, errors.New("another host answers there than the line names")
	}
	e, err := newEnds(conn, guest, host)
	if err != nil {
		return Granted{}, err
	}
	t, own, theirs := newTalk(conn), reveal{make([]byte, 32)}, reveal{}
	random.Fill(own.Nonce)
	h := hello{Mark: line.Mark(), Proof: ed25519.Sign(line.Prover(), e.proved()), Commit: commitTo(guest, own.Nonce), About: about}
	var p promise
	var v verdict
	if err := t.turn(h, &p); err != nil {
		return Granted{}, err
	}
	if p.Refused != "" {
		return Granted{}, &RefusedError{p.Refused}
	}
	if err := t.turn(own, &theirs); err != nil {
		return Granted{}, err
	}
	if !bytes.Equal(p.Commit, commitTo(host, theirs.Nonce)) {
		return Granted{}, errors.New("the other end does not keep to what it has committed to: somebody may be between the two")
	}
	show(e.words(h, p, own, theirs))
	if err := t.hear(&v, time.Time{}); err != nil {
		return Granted{}, err
	}
	if v.Granted == nil {
		return Granted{}, &RefusedError{v.Refused}
	}
	return *v.Granted, nil
}
