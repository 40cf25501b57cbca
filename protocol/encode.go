package protocol

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
)

// TimestampLayout is the form of every time that parley writes into a file:
// UTC, to the millisecond.
const TimestampLayout = "2006-01-02T15:04:05.000Z"

// usualFront is how many bytes the fields of a message have in most cases, with the signature.
const usualFront = 768

// unattended is the value of the field of that name.
const unattended = "yes"

// Encode writes m as a file of the strict form: fields in a fixed order, quotes around a text that
// YAML would take for something else, and one newline at the end. It refuses a message that a
// reader would skip. Act is left out if a reader finds the same act without it: by the body's
// heading, or as plain talk or a receipt.
func Encode(m *Message) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	var w frontmatter
	w.Grow(usualFront)
	for _, f := range messageFields {
		f.write(&w, m)
	}
	if w.invalid != "" {
		return nil, fmt.Errorf("cannot write the message: field %s is not valid UTF-8 text", w.invalid)
	}
	if w.Len() > MaxFrontmatter {
		return nil, fmt.Errorf("cannot write the message: the frontmatter would be longer than %d bytes", MaxFrontmatter)
	}
	return w.file(m.Body), nil
}

// check refuses a message that a reader would skip or read differently.
func (m *Message) check() error {
	var err error
	switch {
	case len(m.To) == 0:
		err = errors.New("nobody is addressed")
	case m.Type != TypeText && m.Type != TypeRead:
		err = fmt.Errorf("type %q is neither text nor read", m.Type)
	case (m.Type == TypeRead) != (m.Ref != ""):
		err = errors.New("a receipt, and nothing else, refers to the message that was read")
	case m.Timestamp.IsZero() || !writable(m.Timestamp):
		err = errors.New("it has no timestamp of the years 0 to 9999")
	case m.Act != ParseAct(string(m.Act)):
		err = fmt.Errorf("act %q is not a word of small letters", m.Act)
	case m.Hops < 0:
		err = errors.New("its hops are negative")
	case !utf8.ValidString(m.Body):
		err = errors.New("its body is not valid UTF-8 text")
	case NormalBody(m.Body) != m.Body:
		err = errors.New("its body ends in a newline, which the file adds itself")
	case m.Request != "" && CheckRequest(m.Request) != nil:
		err = CheckRequest(m.Request)
	default:
		err = m.checkNames()
	}
	if err != nil {
		return fmt.Errorf("cannot write the message: %w", err)
	}
	return nil
}

func (m *Message) checkNames() error {
	if err := CheckForeignName(m.From); err != nil {
		return err
	}
	for _, a := range m.To {
		if err := CheckAddress(a); err != nil {
			return err
		}
	}
	for _, c := range m.Chosen {
		if i, err := ParseInstance(c.Instance.String()); err != nil || i != c.Instance {
			return fmt.Errorf("the chosen instance %q would not be read", c.Instance)
		}
	}
	seen := map[string]bool{}
	for _, f := range m.Extra {
		if !plainKey.MatchString(f.Key) || knownField(f.Key) >= 0 || seen[f.Key] {
			return fmt.Errorf("field name %q is taken or is not a plain word", f.Key)
		}
		seen[f.Key] = true
	}
	return nil
}

func writable(t time.Time) bool {
	year := t.UTC().Year()
	return year >= 0 && year <= 9999
}

// frontmatter builds the block of fields; empty values are left out.
type frontmatter struct {
	strings.Builder
	invalid string // a field whose value is not UTF-8
}

func (w *frontmatter) plain(key, value string) {
	w.WriteString(key)
	w.WriteString(": ")
	w.WriteString(value)
	w.WriteByte('\n')
}

func (w *frontmatter) text(key, value string) {
	if value != "" {
		w.plain(key, w.quote(key, value))
	}
}

func (w *frontmatter) quote(key, value string) string {
	if !utf8.ValidString(value) {
		w.invalid = key
	}
	return Quote(value)
}

func (w *frontmatter) count(key string, n uint64) {
	if n > 0 {
		w.plain(key, strconv.FormatUint(n, 10))
	}
}

// list writes one value as a scalar and several as an inline list.
func (w *frontmatter) list(key string, values []string) {
	if len(values) == 1 {
		w.text(key, values[0])
		return
	}
	if len(values) > 0 {
		w.plain(key, "["+strings.Join(each.Of(values, func(v string) string { return w.quote(key, v) }), ", ")+"]")
	}
}

// block writes values as a list, one on each line. If there are none, it writes nothing.
func (w *frontmatter) block(key string, values []string) {
	if len(values) > 0 {
		w.WriteString(key + ":\n")
	}
	for _, v := range values {
		w.WriteString("  - " + w.quote(key, v) + "\n")
	}
}

// file puts the block and the body together.
func (w *frontmatter) file(body string) []byte {
	const line = "---\n"
	file := make([]byte, 0, 2*len(line)+w.Len()+len(body)+2)
	file = append(append(append(file, line...), w.String()...), line...)
	if body != "" {
		file = append(append(append(file, '\n'), body...), '\n')
	}
	return file
}

var (
	plainKey   = pattern.New(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)
	numberLike = pattern.New(`^([0-9.][0-9_.eE+-]*|0[xX][0-9A-Fa-f_]*|0[oO][0-7_]*|0[bB][01_]*)$`)
)

// Quote writes `s` as a YAML scalar. It is plain if every reader gets the same text back, else in
// double quotes. Bytes that are not UTF-8 do not survive.
func Quote(s string) string {
	if plainScalar(s) && !strings.HasSuffix(s, " ") && !strings.Contains(s, "---") && (pathOrHash(s) || !retyped(s)) {
		return s
	}
	quoted, err := json.Marshal(s)
	if err != nil { // a string always marshals
		return strconv.Quote(s)
	}
	return escapeForYAML(string(quoted))
}

// escapeForYAML escapes what JSON allows in quotes and YAML does not: what YAML forbids, and
// U+0085, which YAML takes for a line break.
func escapeForYAML(quoted string) string {
	var b strings.Builder
	for _, r := range quoted {
		if r >= 0x7f && r < 0xa0 || r == 0xfeff || r == 0xfffe || r == 0xffff {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// plainScalar reports whether s consists of letters, digits and a few signs to which YAML gives no
// meaning between them. It is called for each field of each message, so it must be fast.
func plainScalar(s string) bool {
	for i, r := range s {
		switch {
		case r < utf8.RuneSelf && isAlnum(byte(r)), r == '.', r == '/':
		case i > 0 && strings.ContainsRune(" @=+()_-", r):
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsNumber(r)):
		default:
			return false
		}
	}
	return s != ""
}

// pathOrHash reports whether the plain scalar `s` is a path, a hash or a signature. YAML takes
// these for nothing but text. Most fields that are no words are of this kind, and the YAML library
// would need ten times as long to say so.
func pathOrHash(s string) bool {
	const inNoNumberOrTime = "/ghijklmnpqrsuvwyGHIJKLMNPQRSUVWY"
	if !isAlnum(s[0]) {
		return false
	}
	// A number has letters only after 0x and the like; "e" is the exception.
	hash := len(s) > 1 && (s[0] != '0' || isDigit(s[1])) && strings.Trim(s, "0123456789abcdef") == "" && strings.ContainsAny(s, "abcdf")
	return hash || isDigit(s[0]) && strings.ContainsAny(s, inNoNumberOrTime) || strings.Contains(s, "/")
}

func isWord(s string) bool {
	return s != "" && isAlnum(s[0]) && !isDigit(s[0]) && strings.IndexFunc(s, notOfWord) < 0
}

func notOfWord(r rune) bool { return r >= utf8.RuneSelf || !isAlnum(byte(r)) && r != '_' && r != '-' }

// retyped reports whether YAML 1.1 or 1.2 would read the plain scalar `s` as something else than
// this text. It reports true for everything that looks like a number or a date, because readers
// differ in which of them they take for an overflow or an error.
func retyped(s string) bool {
	if isWord(s) { // see pathOrHash
		return oldBool(s)
	}
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(s), &n); err != nil || len(n.Content) != 1 {
		return true
	}
	scalar := n.Content[0]
	return scalar.Kind != yaml.ScalarNode || scalar.Value != s || scalar.ShortTag() != "!!str" || oldBool(s) ||
		numberLike.MatchString(s)
}

// oldBool reports words that YAML 1.1 readers take for booleans.
func oldBool(s string) bool {
	if len(s) > len("false") { // nearly all: keys and signatures are long
		return false
	}
	switch strings.ToLower(s) {
	case "y", "n", "yes", "no", "on", "off", "true", "false", "null":
		return true
	}
	return false
}
