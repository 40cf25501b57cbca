package protocol

import (
	"errors"
	"fmt"
	"strings"

	"github.com/nats-io/nkeys"
)

// HostWord is what a message of the fleet's own book-keeping says. Its act decides which one it is:
// a HostState, a Vouch, a Rotation, a Revocation, a Withholding, a HumanKey or a HumanEnd.
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

// ParseHostWord reads the body of a message with a word of a host (Act.HostWord).
func ParseHostWord(act Act, body string) (HostWord, error) {
	if !act.HostWord() {
		return nil, fmt.Errorf("%q is no word of a host", act)
	}
	w, err := byName[act].parse(body)
	return w.(HostWord), err
}

// FormatHostWord writes the body that ParseHostWord reads.
func FormatHostWord(act Act, w HostWord) string {
	if !act.HostWord() {
		return ""
	}
	return byName[act].format(w)
}

// exampleKey stands in the examples of words: a key that nobody has.
const exampleKey = "UCFIRY65OQE7DFP5KLNS2PF2LVZMUZYJX4OZIEQ36N2IQANUB5XVZ45L"

// wordHead is the first line of a host's word.
func wordHead(act Act, host Name) string {
	return strings.ToUpper(string(act)) + " | host: " + host.String() + "\n"
}

// readWord reads the first line of a host's word, which names the host. It calls `take` for each
// field of the lines below.
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

// CheckKey returns an error if a text is no public key of a host.
func CheckKey(key string) error {
	if !nkeys.IsValidPublicUserKey(key) {
		return fmt.Errorf("%.80q is not a public nkey of a host, which begins with U", key)
	}
	return nil
}
