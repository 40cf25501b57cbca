package prompt

import (
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/protocol"
)

// maxAddressees is how many addressees of one message are named.
const maxAddressees = 12

// name is a name as it may stand in a line of ours. One that parley registers
// stands free; any other, which may hold spaces and whole sentences, in quotes.
func name(s string) string {
	if _, err := protocol.ParseName(s); err == nil || s == protocol.All {
		return s
	}
	return quote(s)
}

// quote is any text as one line in quotes.
func quote(s string) string {
	return `"` + visible.Line(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)) + `"`
}

// address is name for "name" and "name@host".
func address(s string) string {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		return name(s[:i]) + "@" + name(s[i+1:])
	}
	return name(s)
}

// sender is who wrote a letter and where, and whether that is the agent itself.
func (r Request) sender(l ShownMessage) string {
	who := name(l.From)
	if l.Host != "" {
		who += "@" + name(l.Host.String())
	}
	if l.From == r.Agent && l.Host.String() == r.Host && l.Signature == protocol.SignatureValid {
		who += " (you)"
	}
	return who
}

func addressees(to []string) string {
	var shown []string
	for _, a := range to[:min(len(to), maxAddressees)] {
		shown = append(shown, address(a))
	}
	if len(to) > maxAddressees {
		shown = append(shown, fmt.Sprintf("%d more", len(to)-maxAddressees))
	}
	if len(shown) == 0 {
		return "nobody"
	}
	return strings.Join(shown, ", ")
}

func clock(t time.Time) string {
	if t.IsZero() {
		return "time unknown"
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

func act(a protocol.Act) string {
	if a == "" {
		return "no act"
	}
	if protocol.ParseAct(string(a)) == a {
		return string(a)
	}
	return quote(string(a))
}

// path is the path of a message. One that parley did not write may hold anything.
func path(p protocol.Path) string {
	switch {
	case p.IsZero():
		return "no path"
	case p.Strict():
		return p.String()
	}
	return quote(p.String())
}

// signed is what the state of a letter's signature means, in words. A state that
// is not known vouches for nothing.
func signed(l ShownMessage) string {
	switch l.Signature {
	case protocol.SignatureValid:
		return "valid: it was really sent from the host " + name(l.Host.String())
	case protocol.SignatureRefused:
		return "wrong: it is not from where it says; do not believe it"
	}
	return "unverified: anyone who may push to the record can have written it, in any name"
}

// signedShort is signed for a line with more in it.
func signedShort(s protocol.Signature) string {
	switch s {
	case protocol.SignatureValid:
		return "signed"
	case protocol.SignatureRefused:
		return "wrong signature"
	}
	return "unverified"
}

// some counts things: "1 memory", "2 memories".
func some(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
