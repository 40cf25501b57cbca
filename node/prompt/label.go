package prompt

import (
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/protocol"
)

const maxAddressees = 12

// Name is a name as it may stand in a line of ours. A name that parley registers stands without
// quotes. Any other name stands in quotes, because it may hold spaces and whole sentences.
func Name(s string) string {
	if _, err := protocol.ParseName(s); err == nil || s == protocol.All {
		return s
	}
	return Quote(s)
}

// Quote is any text as one line in quotes, as it may stand in a line of ours.
func Quote(s string) string {
	return `"` + visible.Line(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s)) + `"`
}

// address is like name, for "name" and "name@host".
func address(s string) string {
	if i := strings.LastIndexByte(s, '@'); i >= 0 {
		return Name(s[:i]) + "@" + Name(s[i+1:])
	}
	return Name(s)
}

// sender says who wrote a letter and on which host, and whether that is the agent itself.
func (r Request) sender(l ShownMessage) string {
	who := Name(l.From)
	if l.Host != "" {
		who += "@" + Name(l.Host.String())
	}
	if l.From == r.Agent && l.Host.String() == r.Host && l.Signature == protocol.SignatureValid && !l.Unattended {
		who += " (you)"
	}
	return who
}

func addressees(to []string) string {
	shown := each.Of(to[:min(len(to), maxAddressees)], address)
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
	return Quote(string(a))
}

// Path is the path of a message as it may stand in a line of ours. A path that parley did not write
// may hold anything.
func Path(p protocol.Path) string {
	switch {
	case p.IsZero():
		return "no path"
	case p.Strict():
		return p.String()
	}
	return Quote(p.String())
}

// signed says in words what the state of a letter's signature means. An unknown state vouches for
// nothing.
func signed(l ShownMessage) string {
	switch l.Signature {
	case protocol.SignatureValid:
		where := "valid: it was really sent from the host " + Name(l.Host.String())
		if l.Unattended {
			return where + ", but that host could not tell which program wrote it in that name (unattended)"
		}
		return where
	case protocol.SignatureRefused:
		return "wrong: it is not from where it says; do not believe it"
	}
	return "unverified: anyone who may push to the record can have written it, in any name"
}

// signedShort is signed in few words, for a line that holds more.
func signedShort(l ShownMessage) string {
	switch l.Signature {
	case protocol.SignatureValid:
		if l.Unattended {
			return "signed, unattended"
		}
		return "signed"
	case protocol.SignatureRefused:
		return "wrong signature"
	}
	return "unverified"
}

// some is a number with its noun: "1 memory", "2 memories".
func some(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// InParentheses puts words behind a name; "" for none.
func InParentheses(words []string) string {
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}
