package protocol

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"
)

// HostWord is what a message of the fleet's own book-keeping says: a HostState, a
// Vouch, a Rotation or a Revocation, by its act.
type HostWord interface {
	// Speaker is the host that says it.
	Speaker() Name
}

// Speaker is the host.
func (h HostState) Speaker() Name { return h.Host }

// Speaker is the host that vouches.
func (v Vouch) Speaker() Name { return v.Host }

// Speaker is the host whose key changes.
func (r Rotation) Speaker() Name { return r.Host }

// Speaker is the host that revokes.
func (r Revocation) Speaker() Name { return r.Host }

// ParseHostWord reads the body of a message with one of the acts that HostWord
// reports.
func ParseHostWord(act Act, body string) (HostWord, error) {
	switch act {
	case ActHostVouch:
		return ParseVouch(body)
	case ActHostRotate:
		return ParseRotation(body)
	case ActHostRevoke:
		return ParseRevocation(body)
	case ActHostJoin, ActHostAgents:
		return ParseHost(body)
	}
	return nil, fmt.Errorf("%q is no word of a host", act)
}

// FormatHostWord writes the body that ParseHostWord reads.
func FormatHostWord(act Act, w HostWord) string {
	switch w := w.(type) {
	case Vouch:
		return FormatVouch(w)
	case Rotation:
		return FormatRotation(w)
	case Revocation:
		return FormatRevocation(w)
	case HostState:
		return FormatHost(act, w)
	}
	return ""
}

// wordHead is the first line of a host's word.
func wordHead(act Act, host Name) string {
	return strings.ToUpper(string(act)) + " | host: " + host.String() + "\n"
}

// readWord reads the first line of a host's word, which names the host, and hands
// the fields of the others on.
func readWord(body string, take func(key, value string) error) (Name, error) {
	first, rest, _ := strings.Cut(strings.ReplaceAll(body, "\r\n", "\n"), "\n")
	_, alias, ok := strings.Cut(first, " | host: ")
	if !ok {
		return "", errors.New("the body does not begin with the host's name")
	}
	host, err := ParseName(alias)
	if err != nil {
		return "", fmt.Errorf("the host's name: %w", err)
	}
	for line := range strings.SplitSeq(rest, "\n") {
		key, value, _ := strings.Cut(line, ": ")
		if err := take(key, value); err != nil {
			return "", fmt.Errorf("line %q: %w", line, err)
		}
	}
	return host, nil
}

// HostKey is a key and the host that it belongs to.
type HostKey struct {
	Host Name
	Key  string // public nkey
}

// parseHostKey reads "ALIAS KEY".
func parseHostKey(s string) (HostKey, error) {
	alias, key, _ := strings.Cut(s, " ")
	host, err := ParseName(alias)
	if err != nil {
		return HostKey{}, err
	}
	return HostKey{host, key}, CheckKey(key)
}

// CheckKey says why a text is no public key of a host, if it is none.
func CheckKey(key string) error {
	if !nkeys.IsValidPublicUserKey(key) {
		return fmt.Errorf("%.80q is not a public nkey of a host, which begins with U", key)
	}
	return nil
}
