package protocol

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// All is the reserved addressee that reaches every participant.
const All = "all"

// Name is a checked name that parley registers: an agent, a human or the alias
// of a host. It matches ^[a-z0-9][a-z0-9_-]{0,63}$ and is never "all", so it
// can stand as a subject token, a file name and an address without escaping.
// Only ParseName makes one.
type Name string

var (
	namePattern   = pattern.New(`^[a-z0-9][a-z0-9_-]{0,63}$`)
	aliasPattern  = pattern.New(`^[a-z0-9_-]*[a-z][a-z0-9_-]*$`)
	hashedPattern = pattern.New(`^x-[0-9a-f]{32}$`)
)

// ParseName checks s and returns it as a Name. The error says what a name may
// look like.
func ParseName(s string) (Name, error) {
	switch {
	case s == All:
		return "", fmt.Errorf("%q is reserved: it addresses every participant", s)
	case !namePattern.MatchString(s):
		return "", fmt.Errorf("%q is not a name: use 1 to 64 of a-z, 0-9, _ and -, beginning with a letter or digit", s)
	case hashedPattern.MatchString(s):
		return "", fmt.Errorf("%q is reserved: it has the form of a subject token for a foreign name", s)
	}
	return Name(s), nil
}

// String returns the name.
func (n Name) String() string { return string(n) }

// CheckForeignName returns an error if `s` cannot be the name of a participant that parley did not
// register. Such names are free-form (Crosstalk, "Your identity"). Only names that would break a
// file or a terminal are refused: empty ones, and those with control characters, invalid UTF-8 or
// surrounding space. "@" is refused too, because it separates a name from its host (R5).
func CheckForeignName(s string) error {
	if strings.Contains(s, "@") {
		return fmt.Errorf("name %q contains @, which separates a name from its host", s)
	}
	return checkAuthor(s)
}

// checkAuthor is CheckForeignName for the author of a file that is read. Some authors stand there
// as "name@host", and their mail counts all the same.
func checkAuthor(s string) error {
	if s == "" {
		return errors.New("a name is empty")
	}
	if err := CheckLabel(s); err != nil {
		return fmt.Errorf("name %.80q: %w", s, err)
	}
	return nil
}

// Token is the subject token of any participant's name: the name itself if it is a Name, else "x-"
// and the first 16 bytes of the name's SHA-256, in hex.
func Token(name string) string {
	if n, err := ParseName(name); err == nil {
		return n.String()
	}
	sum := sha256.Sum256([]byte(name))
	return "x-" + hex.EncodeToString(sum[:16])
}

// Address is one addressee: a name, and the alias of the host if the sender named one. The written
// form is "name@alias". "alias:name", the form of a wormhole, means the same (R5).
type Address struct {
	Name string
	Host string // empty: any host that serves the name
}

// MarshalText returns String, so that addresses stand in JSON as text.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what MarshalText returns, whatever the names are: whoever shows an address
// need not check it.
func (a *Address) UnmarshalText(text []byte) error {
	*a = Address{Name: string(text)}
	if i := strings.LastIndexByte(a.Name, '@'); i >= 0 {
		a.Name, a.Host = a.Name[:i], a.Name[i+1:]
	}
	return nil
}

// Shown is the address as it may stand in a line of ours. A name that parley would not register can
// have spaces and whole sentences, so it stands in quotes.
func (a Address) Shown() string {
	quoted := func(name string) string {
		if _, err := ParseName(name); err == nil || name == All || name == "" {
			return name
		}
		return strconv.Quote(name)
	}
	if a.Host == "" {
		return quoted(a.Name)
	}
	return quoted(a.Name) + "@" + quoted(a.Host)
}

// ParseAddress reads "name", "name@alias" or "alias:name". Names and aliases may be free-form, as
// the seed has them. A free-form name may contain ":". So the part before a ":" is taken for an
// alias only if it has the form of one: "12:30" and "re: x" stay whole.
func ParseAddress(s string) (Address, error) {
	if i := strings.LastIndex(s, "@"); i >= 0 {
		return newAddress(s, s[:i], s[i+1:])
	}
	if alias, name, ok := strings.Cut(s, ":"); ok && aliasPattern.MatchString(alias) && CheckForeignName(name) == nil {
		return newAddress(s, name, alias)
	}
	if err := CheckForeignName(s); err != nil {
		return Address{}, err
	}
	return Address{Name: s}, nil
}

func newAddress(whole, name, alias string) (Address, error) {
	if err := CheckForeignName(name); err != nil {
		return Address{}, fmt.Errorf("address %q: %w", whole, err)
	}
	if err := CheckForeignName(alias); err != nil {
		return Address{}, fmt.Errorf("address %q: host: %w", whole, err)
	}
	return Address{Name: name, Host: alias}, nil
}

// CheckAddress returns an error if a file cannot name `a` as an addressee, because it would be read
// as another addressee or as none.
func CheckAddress(a Address) error {
	switch read, err := ParseAddress(a.String()); {
	case err != nil:
		return err
	case read != a:
		return fmt.Errorf("the addressee %q would be read as %q", a, read)
	}
	return nil
}

// String returns the form that is written into a message: "name" or
// "name@alias".
func (a Address) String() string {
	if a.Host == "" {
		return a.Name
	}
	return a.Name + "@" + a.Host
}
