package protocol

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parleyfleet/parley/internal/pattern"
)

// ChannelsDir is where the record keeps its channels.
const ChannelsDir = "data/channels"

const (
	maxPathBytes = 255
	relTime      = "2006/01/02/150405.000Z" // the dot goes when the path is written
)

var (
	channelPattern = pattern.New(`^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`)
	dayPattern     = pattern.New(`^[0-9]{4}/[0-9]{2}/[0-9]{2}/`)
	stampPattern   = pattern.New(`^[0-9]{9}Z-[0-9a-f]{8,}\.md$`)
)

// ChannelID names a channel: a UUID as its folder spells it. Parley writes lower case. Other
// programs also write capitals (uuidgen of macOS), and answers must lie in the same folder. So two
// folders that differ in case are two channels. Only ParseChannelID, NewChannelID and DeriveChannel
// make a ChannelID.
type ChannelID string

// ParseChannelID reads a UUID in any case, and keeps the case.
func ParseChannelID(s string) (ChannelID, error) {
	if !channelPattern.MatchString(s) {
		return "", fmt.Errorf("%q is not a channel id: it should be a UUID such as adfe0356-0f71-49a9-80a0-fb76883cd974", s)
	}
	return ChannelID(s), nil
}

// Spellings are the folders that may be meant when somebody names a channel: the id as it stands, in
// lower case and in capitals.
func (c ChannelID) Spellings() []ChannelID {
	return slices.Compact([]ChannelID{c, ChannelID(strings.ToLower(c.String())), ChannelID(strings.ToUpper(c.String()))})
}

// NewChannelID makes a UUID v4 from 16 random bytes, which the caller draws.
func NewChannelID(random [16]byte) ChannelID { return uuid(random) }

// DeriveChannel is the id of a channel that both ends must find without agreeing first: a direct
// pair, a list without a channel, the fleet's "all". The id is the first 16 bytes of SHA-256 over
// "parley-direct-v1", NUL, the record id, NUL and the sorted bare names joined by NUL, with the
// bits of a UUID v4.
func DeriveChannel(recordID string, names ...string) ChannelID {
	sorted := slices.Clone(names)
	slices.Sort(sorted)
	sorted = slices.Compact(sorted)
	sum := sha256.Sum256([]byte("parley-direct-v1\x00" + recordID + "\x00" + strings.Join(sorted, "\x00")))
	return uuid([16]byte(sum[:16]))
}

// SystemChannel is the channel that holds the history of the fleet's hosts and
// their keys. Its seed begins with "@", which no name can contain.
func SystemChannel(recordID string) ChannelID { return DeriveChannel(recordID, "@hosts") }

// PolicyChannel is the channel that holds what the fleet has settled for all its hosts.
func PolicyChannel(recordID string) ChannelID { return DeriveChannel(recordID, "@policy") }

func uuid(b [16]byte) ChannelID {
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	h := hex.EncodeToString(b[:])
	return ChannelID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

// String returns the UUID.
func (c ChannelID) String() string { return string(c) }

// Path names one message: its channel, and its place below the channel's
// directory, such as 2026/05/23/190100000Z-b2c3d4e5.md. The zero Path names
// nothing. Only NewPath, ParsePath and JoinPath make one, so it cannot leave
// the channel's directory.
type Path struct {
	channel ChannelID
	rel     string
}

// NewPath is the path of a message of time `t`, in UTC and cut to the millisecond. The writer
// chooses the suffix, which becomes eight hex digits.
func NewPath(channel ChannelID, t time.Time, suffix uint32) Path {
	rel := appendRelTime(make([]byte, 0, len(relTime)+len("-b2c3d4e5.md")), t.UTC())
	rel = append(rel, '-')
	rel = hex.AppendEncode(rel, binary.BigEndian.AppendUint32(nil, suffix))
	return Path{channel: channel, rel: string(append(rel, ".md"...))}
}

// appendRelTime appends a time as it stands in paths: 2026/05/23/190100000Z. It writes each digit
// by hand, because whoever reads a record makes the path of each message.
func appendRelTime(out []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		out = t.AppendFormat(out, relTime)
		dot := bytes.LastIndexByte(out, '.')
		return slices.Delete(out, dot, dot+1)
	}
	hour, minute, second := t.Clock()
	out = appendDigits(out, year, 4)
	for _, n := range [2]int{int(month), day} {
		out = appendDigits(append(out, '/'), n, 2)
	}
	out = append(out, '/')
	for _, n := range [3]int{hour, minute, second} {
		out = appendDigits(out, n, 2)
	}
	return append(appendDigits(out, t.Nanosecond()/int(time.Millisecond), 3), 'Z')
}

func appendDigits(out []byte, n, digits int) []byte {
	out = append(out, "0000"[:digits]...)
	for i := len(out) - 1; n > 0; i, n = i-1, n/10 {
		out[i] += byte(n % 10)
	}
	return out
}

// ParsePath reads "<uuid>/YYYY/MM/DD/NAME.md", with or without "data/channels/" before it. It reads
// any NAME; parley writes only the strict form (R2).
func ParsePath(s string) (Path, error) {
	rest := strings.TrimPrefix(s, ChannelsDir+"/")
	id, rel, ok := strings.Cut(rest, "/")
	if !ok {
		return Path{}, fmt.Errorf("%q is not the path of a message: it should look like <channel id>/2026/05/23/190100000Z-b2c3d4e5.md", s)
	}
	channel, err := ParseChannelID(id)
	if err != nil {
		return Path{}, fmt.Errorf("path %q: %w", s, err)
	}
	return JoinPath(channel, rel)
}

// JoinPath is the path of rel below the directory of channel.
func JoinPath(channel ChannelID, rel string) (Path, error) {
	if plainRel(rel) {
		return Path{channel: channel, rel: rel}, nil
	}
	name := ""
	if dayPattern.MatchString(rel) {
		name = rel[len("2006/01/02/"):]
	}
	bad := !strings.HasSuffix(name, ".md") || len(name) == len(".md") || strings.HasPrefix(name, ".") ||
		strings.ContainsAny(name, "/\\") || len(rel) > maxPathBytes || !utf8.ValidString(rel) ||
		strings.ContainsFunc(rel, func(r rune) bool { return r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 })
	if bad {
		return Path{}, fmt.Errorf("%q is not the path of a message below its channel: it should look like 2026/05/23/190100000Z-b2c3d4e5.md", rel)
	}
	return Path{channel: channel, rel: rel}, nil
}

// plainRel reports whether `rel` has the form that parley writes, as nearly every path has. Such a
// path needs no further check.
func plainRel(rel string) bool {
	const form = "0000/00/00/000000000Z-xxxxxxxx.md"
	if len(rel) != len(form) {
		return false
	}
	for i := range len(form) {
		c := rel[i]
		digit := c >= '0' && c <= '9'
		switch form[i] {
		case '0':
			if !digit {
				return false
			}
		case 'x':
			if !digit && (c < 'a' || c > 'f') {
				return false
			}
		default:
			if c != form[i] {
				return false
			}
		}
	}
	return true
}

// Channel is the channel that the message is in.
func (p Path) Channel() ChannelID { return p.channel }

// Rel is the path below the channel's directory. Receipts and the selection of an instance use this
// form.
func (p Path) Rel() string { return p.rel }

// DayDir is the folder in which the message is, below ChannelsDir: the folder of one day in the
// channel, "<uuid>/YYYY/MM/DD".
func (p Path) DayDir() string { return p.channel.String() + "/" + p.rel[:len("2006/01/02")] }

// String returns "<uuid>/YYYY/MM/DD/NAME.md", the form that is shown and that stands in JSON.
func (p Path) String() string { return p.channel.String() + "/" + p.rel }

// RepoPath returns the path from the root of the record.
func (p Path) RepoPath() string { return ChannelsDir + "/" + p.String() }

// IsZero reports whether p names nothing.
func (p Path) IsZero() bool { return p == Path{} }

// Compare orders paths by their place below the channel, then by channel. For paths of the strict
// form, the place below the channel is the order of time.
func (p Path) Compare(q Path) int {
	if c := strings.Compare(p.rel, q.rel); c != 0 {
		return c
	}
	return strings.Compare(p.channel.String(), q.channel.String())
}

// Strict reports whether the path has the form that parley writes. Only from such a path can Time
// and Suffix be read.
func (p Path) Strict() bool {
	return len(p.rel) > len("2006/01/02/") && stampPattern.MatchString(p.rel[len("2006/01/02/"):]) && !p.Time().IsZero()
}

// Time is the moment that the path states, or the zero time if it states none.
func (p Path) Time() time.Time {
	const stamp = len("2006/01/02/150405000Z")
	if len(p.rel) < stamp {
		return time.Time{}
	}
	const dot = len("2006/01/02/150405")
	t, err := time.Parse(relTime, p.rel[:dot]+"."+p.rel[dot:stamp])
	if err != nil {
		return time.Time{}
	}
	return t
}

// Suffix is the part between the "-" and ".md" of a strict path, or "".
func (p Path) Suffix() string {
	if !p.Strict() {
		return ""
	}
	_, tail, _ := strings.Cut(p.rel, "-")
	suffix, _ := strings.CutSuffix(tail, ".md")
	return suffix
}

// Short is what people call a message: the eight hex digits of its name, or the whole path if the
// name has another form (R2).
func (p Path) Short() string {
	if s := p.Suffix(); len(s) == 8 {
		return s
	}
	return p.String()
}

// MarshalText returns String, so that paths stand in JSON as text.
func (p Path) MarshalText() ([]byte, error) {
	if p.IsZero() {
		return nil, nil
	}
	return []byte(p.String()), nil
}

// UnmarshalText reads what ParsePath reads; empty text is the zero Path.
func (p *Path) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*p = Path{}
		return nil
	}
	q, err := ParsePath(string(text))
	if err != nil {
		return err
	}
	*p = q
	return nil
}

// devices are the names that Windows keeps for devices, whatever follows behind a dot. Those that
// end with a digit exist with each digit, superscripts included.
var devices = []string{"con", "prn", "aux", "nul", "conin$", "conout$"}

// CheckFileName returns an error for a name that no file can have on Windows: a clone of a record
// with such a file fails there. It is for names that are new. What is there already is read all the
// same.
func CheckFileName(name string) error {
	stem, _, _ := strings.Cut(strings.ToLower(name), ".")
	stem = strings.TrimRight(stem, " ")
	port := strings.HasPrefix(stem, "com") || strings.HasPrefix(stem, "lpt")
	switch {
	case slices.Contains(devices, stem) || port && slices.Contains(strings.Split("0123456789¹²³", ""), stem[len("com"):]):
		return fmt.Errorf("%q is the name of a device on Windows, where no file can be called so", name)
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return fmt.Errorf("%q ends with a dot or a space, which no file can on Windows", name)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>:"/\|?*`, r) }); i >= 0 {
		return fmt.Errorf("%q has a character that no file can have in its name on Windows", name)
	}
	return nil
}
