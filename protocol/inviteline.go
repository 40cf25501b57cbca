package protocol

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nats-io/nkeys"
)

// InviteScheme begins every invitation line, and the remote that is a host of the fleet.
const InviteScheme = "parley://"

const (
	inviteVersion    = 1
	maxInviteLine    = 2048 // bytes of a line
	maxInviteAddress = 16
	// SecretSize is how many bytes the secret of an invitation line has.
	SecretSize    = 16
	lineCheckSize = 4
)

// InviteLine is what an invitation line says: where a host of the fleet is reached, who it is, and
// the secret by which it knows who was invited (R76). Whoever has the line can ask to be let in.
type InviteLine struct {
	Addresses []string // host:port of the inviting host's links port, at least one
	Alias     Name     // the inviting host
	Key       string   // its public nkey
	RecordID  string   // id of the fleet's record: the hash of its first commit in hexadecimal
	Secret    [SecretSize]byte
	Expires   time.Time // to the second, UTC
}

// String is the line: parley://HOST:PORT[,HOST:PORT…]/# and the rest in base64. It is "" if the
// values cannot stand in one.
func (i InviteLine) String() string {
	key, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(i.Key))
	record, hexErr := hex.DecodeString(i.RecordID)
	if err != nil || hexErr != nil || len(record) > 255 {
		return ""
	}
	data := binary.BigEndian.AppendUint32([]byte{inviteVersion}, uint32(i.Expires.Unix()))
	data = append(append(data, key...), i.Secret[:]...)
	data = append(append(append(data, byte(len(record))), record...), i.Alias...)
	at := strings.Join(i.Addresses, ",")
	return InviteScheme + at + "/#" + base64.RawURLEncoding.EncodeToString(append(data, inviteCheck(at, data)...))
}

// inviteCheck shows that nothing of a line was lost or changed by mistake.
func inviteCheck(addresses string, data []byte) []byte {
	sum := sha256.Sum256(append([]byte(addresses+"\x00"), data...))
	return sum[:lineCheckSize]
}

// ErrCutOff says of a line that it is not whole.
var ErrCutOff = errors.New("the line is not whole: it was cut off or changed when it was copied")

// ParseInviteLine reads a line, in exactly the form that String gives it. It does not look at the
// clock: see Expired.
func ParseInviteLine(line string) (i InviteLine, err error) {
	rest, ok := strings.CutPrefix(line, InviteScheme)
	switch {
	case !ok:
		return i, fmt.Errorf("an invitation line begins with %s", InviteScheme)
	case len(line) > maxInviteLine:
		return i, fmt.Errorf("an invitation line has at most %d characters", maxInviteLine)
	}
	at, code, ok := strings.Cut(rest, "/#")
	data, decodeErr := base64.RawURLEncoding.Strict().DecodeString(code)
	if ok && len(data) > 0 && data[0] != inviteVersion {
		return i, fmt.Errorf("the line has form %d, and this parley reads form %d: bring parley up to date on both machines, if the line is as it was printed", data[0], inviteVersion)
	}
	const head = 1 + 4 + ed25519.PublicKeySize + SecretSize + 1
	if !ok || decodeErr != nil || len(data) < head+lineCheckSize {
		return i, ErrCutOff
	}
	data, check := data[:len(data)-lineCheckSize], data[len(data)-lineCheckSize:]
	if string(check) != string(inviteCheck(at, data)) {
		return i, ErrCutOff
	}
	i.Expires = time.Unix(int64(binary.BigEndian.Uint32(data[1:])), 0).UTC()
	key, err := nkeys.Encode(nkeys.PrefixByteUser, data[5:5+ed25519.PublicKeySize])
	if err != nil {
		return i, fmt.Errorf("the key in the line is none: %w", err)
	}
	i.Key = string(key)
	copy(i.Secret[:], data[5+ed25519.PublicKeySize:])
	record, alias := data[head:], ""
	if n := int(data[head-1]); n == 0 || n > len(record) {
		return i, errors.New("the line names no record")
	} else {
		record, alias = record[:n], string(record[n:])
	}
	i.RecordID = hex.EncodeToString(record)
	if i.Alias, err = ParseName(alias); err != nil {
		return i, fmt.Errorf("the line names no host: %w", err)
	}
	i.Addresses = strings.Split(at, ",")
	if len(i.Addresses) > maxInviteAddress {
		return i, fmt.Errorf("an invitation line has at most %d addresses", maxInviteAddress)
	}
	for _, address := range i.Addresses {
		if err := CheckHostPort(address); err != nil {
			return i, fmt.Errorf("the line has an %w", err)
		}
	}
	if i.String() != line { // base64 skips ends of lines
		return i, ErrCutOff
	}
	return i, nil
}

// Expired reports whether the line counts no more.
func (i InviteLine) Expired(now time.Time) bool { return !now.Before(i.Expires) }

// ID is the short name of a line, by which people tell it from others. It shows nothing of the
// secret.
func (i InviteLine) ID() string { return hex.EncodeToString(i.derived("id")[:4]) }

// Mark is what a newcomer names a line by. Nobody knows it without the line, so nobody without the
// line can use it up.
func (i InviteLine) Mark() string { return hex.EncodeToString(i.derived("mark")[:16]) }

// Prover is the key with which a newcomer shows that it has the line. The inviting host keeps only
// the public half: what it keeps does not let anybody in.
func (i InviteLine) Prover() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(i.derived("prove")) }

func (i InviteLine) derived(what string) []byte {
	sum := sha256.Sum256(append([]byte("parley-invite/1 "+what+"\x00"), i.Secret[:]...))
	return sum[:]
}
