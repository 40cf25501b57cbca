package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/each"
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

// hostLine is a line of a host's word, or several with one key: "key: value".
type hostLine struct {
	key   string
	read  func(value string) error
	write func() []string // empty values are not written
}

// hostAct makes an act of a host's word. `lines` are the host that says some words and their lines,
// in the order in which they are written. `check` refuses words that say too little.
func hostAct[W any](spec ActSpec, example W, lines func(words *W) (host *Name, all []hostLine), check func(words *W) error) WordAct[W] {
	return NewAct(spec, func(body string) (W, error) {
		var w W
		host, all := lines(&w)
		said, err := readWord(body, func(key, value string) error {
			for _, l := range all {
				if l.key == key {
					return l.read(value)
				}
			}
			return nil
		})
		if *host = said; err == nil {
			err = check(&w)
		}
		return w, err
	}, func(w W) string {
		var b strings.Builder
		host, all := lines(&w)
		b.WriteString(strings.ToUpper(string(spec.Act)) + " | host: " + host.String() + "\n")
		for _, l := range all {
			for _, value := range l.write() {
				if value != "" {
					b.WriteString(l.key + ": " + oneLine(value) + "\n")
				}
			}
		}
		return NormalBody(b.String())
	}, example)
}

func textLine(key string, value *string) hostLine {
	return hostLine{key, func(s string) error { *value = oneLine(s); return nil }, func() []string { return []string{*value} }}
}

// keyLine is a public nkey.
func keyLine(key string, value *string) hostLine {
	return hostLine{key, func(s string) error { *value = s; return CheckKey(s) }, func() []string { return []string{*value} }}
}

func nameLine(key string, value *Name) hostLine {
	return hostLine{key, func(s string) (err error) { *value, err = ParseName(s); return err }, func() []string { return []string{value.String()} }}
}

func yesLine(key string, value *bool) hostLine {
	return hostLine{key, func(s string) error { *value = s == "yes"; return nil }, func() []string {
		if *value {
			return []string{"yes"}
		}
		return nil
	}}
}

func listLine[T comparable](key string, list *[]T, most int, parse func(string) (T, error), format func(T) string) hostLine {
	return hostLine{key, func(s string) error {
		value, err := parse(s)
		switch {
		case err != nil || slices.Contains(*list, value):
			return err
		case len(*list) == most:
			return fmt.Errorf("more than %d", most)
		}
		*list = append(*list, value)
		return nil
	}, func() []string { return each.Of(*list, format) }}
}

// HostKey is a key and the host that it belongs to.
type HostKey struct {
	Host Name
	Key  string // public nkey
}

// String returns "ALIAS KEY".
func (k HostKey) String() string { return k.Host.String() + " " + k.Key }

// parseHostKey reads what String writes.
func parseHostKey(s string) (HostKey, error) {
	alias, key, _ := strings.Cut(s, " ")
	host, err := ParseName(alias)
	if err != nil {
		return HostKey{}, err
	}
	return HostKey{host, key}, CheckKey(key)
}

// CheckKey returns an error if a text is no public key of a host in its usual spelling.
func CheckKey(key string) error {
	if _, err := Fingerprint(key); err != nil {
		return fmt.Errorf("%.80q is not a public nkey of a host, which begins with U", key)
	}
	return nil
}
