package protocol

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/internal/each"
)

// channelFileName is the file of a channel's directory that describes it.
const channelFileName = "CHANNEL.md"

// maxBookBytes bounds the files that agents are given whole, in bytes: what a channel is for, and
// who an actor is.
const maxBookBytes = 64 << 10

// maxLabelBytes bounds the names of channels, the subjects of memories and the names that other programs
// write, in bytes.
const maxLabelBytes = 255

// ChannelFile is a CHANNEL.md: what a channel is called and what it is for
// (Crosstalk, "CHANNEL.md").
type ChannelFile struct {
	Name      string // a label for people, unique in the record
	CreatedBy string
	CreatedAt time.Time // UTC; zero if not said
	Parent    ChannelID // of a sub-channel; "" otherwise
	Members   []string  // for whom a message to all in the channel is; none: everybody of the fleet
	About     string    // purpose, participants, how to behave: read by people and given to agents
}

// maxMembers bounds the members of a channel, because a message to all of them names each one.
const maxMembers = 256

// CheckMember returns an error if `s` cannot be a member of a channel. A member is a name that can
// be addressed. It names no host, because an agent's host may change.
func CheckMember(s string) error {
	a, err := ParseAddress(s)
	switch {
	case s == All:
		return fmt.Errorf("%q addresses everybody: leave the members out for that", s)
	case err != nil:
		return err
	case a.Host != "":
		return fmt.Errorf("%q names a host: a member is a name alone", s)
	}
	return nil
}

func checkMembers(members []string) error {
	if len(members) > maxMembers {
		return fmt.Errorf("a channel has %d members at most", maxMembers)
	}
	for i, m := range members {
		if err := CheckMember(m); err != nil {
			return err
		}
		if slices.Contains(members[:i], m) {
			return fmt.Errorf("%q stands twice", m)
		}
	}
	return nil
}

// readMembers are those of the members in a CHANNEL.md that CheckMember allows.
func readMembers(values []string) []string {
	var members []string
	for _, m := range values {
		if CheckMember(m) == nil && !slices.Contains(members, m) && len(members) < maxMembers {
			members = append(members, m)
		}
	}
	return members
}

// ChannelFilePath is the path of a channel's CHANNEL.md from the record's root.
func ChannelFilePath(c ChannelID) string {
	return ChannelsDir + "/" + c.String() + "/" + channelFileName
}

// ParseChannelFilePath is the channel that the file at `path` describes. `ok` is false if the path
// is not that of a CHANNEL.md.
func ParseChannelFilePath(path string) (ChannelID, bool) {
	rest, ok := strings.CutPrefix(path, ChannelsDir+"/")
	if !ok {
		return "", false
	}
	id, file, _ := strings.Cut(rest, "/")
	c, err := ParseChannelID(id)
	return c, err == nil && file == channelFileName && c.String() == id
}

// EncodeChannelFile writes c in the strict form.
func EncodeChannelFile(c ChannelFile) ([]byte, error) {
	if err := CheckLabel(c.Name); err != nil {
		return nil, fmt.Errorf("cannot write the channel: its name: %w", err)
	}
	if err := checkMembers(c.Members); err != nil {
		return nil, fmt.Errorf("cannot write the channel: its members: %w", err)
	}
	var w frontmatter
	w.text("name", c.Name)
	w.text("parent", c.Parent.String())
	w.text("created_by", c.CreatedBy)
	if !c.CreatedAt.IsZero() {
		w.plain("created_at", c.CreatedAt.UTC().Format(TimestampLayout))
	}
	w.block("members", c.Members)
	file, err := w.finish(c.About, maxBookBytes)
	if err != nil {
		return nil, fmt.Errorf("cannot write the channel: %w", err)
	}
	return file, nil
}

// SetChannelMembers is the CHANNEL.md `old` with other members. Everything else in it stays, even
// what other programs wrote there.
func SetChannelMembers(old []byte, members []string) ([]byte, error) {
	file, err := withMembers(old, members)
	if err == nil {
		_, err = ParseChannelFile(file) // it may have become too long to be read
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write the channel's members: %w", err)
	}
	return file, nil
}

func withMembers(old []byte, members []string) ([]byte, error) {
	if err := checkMembers(members); err != nil {
		return nil, err
	}
	if _, err := ParseChannelFile(old); err != nil {
		return nil, err
	}
	front, body, err := split(old)
	if err != nil {
		return nil, err
	}
	root, err := mapping(front)
	if err != nil {
		return nil, err
	}
	unset(root, "members")
	if len(members) > 0 {
		// One line each, so that changes of two hosts can be merged.
		set(root, "members", &yaml.Node{Kind: yaml.SequenceNode, Content: each.Of(members, scalar)})
	}
	return renderFile(root, NormalBody(body), func(file []byte) error {
		_, err := ParseChannelFile(file)
		return err
	})
}

// ParseChannelFile reads a CHANNEL.md. Only the name is required. A time, parent or member that
// cannot be read is left out.
func ParseChannelFile(data []byte) (ChannelFile, error) {
	fs, body, err := document(data, maxBookBytes)
	if err != nil {
		return ChannelFile{}, err
	}
	c := ChannelFile{Name: fs.text("name"), CreatedBy: fs.text("created_by"), About: NormalBody(body)}
	if err := CheckLabel(c.Name); err != nil {
		return ChannelFile{}, fmt.Errorf("field name: %w", err)
	}
	c.CreatedAt, _ = parseTimestamp(fs.text("created_at"))
	c.Parent, _ = ParseChannelID(fs.text("parent"))
	c.Members = readMembers(fs.list("members"))
	return c, nil
}

// CheckLabel returns an error if `s` cannot be the name of a channel or the subject of a memory.
// Both are free text of one line.
func CheckLabel(s string) error {
	switch {
	case s == "":
		return errors.New("it is empty")
	case len(s) > maxLabelBytes:
		return fmt.Errorf("it is longer than %d bytes", maxLabelBytes)
	case !utf8.ValidString(s):
		return errors.New("it is not valid UTF-8")
	case strings.TrimSpace(s) != s:
		return errors.New("it begins or ends with a space")
	case strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("it contains a control character")
	}
	return nil
}

// document splits a file of at most limit bytes into its fields and its body.
func document(data []byte, limit int) (fields, string, error) {
	if err := checkSize(data, limit); err != nil {
		return nil, "", err
	}
	front, body, err := split(data)
	if err != nil {
		return nil, "", err
	}
	fs, err := parseFrontmatter(front)
	return fs, body, err
}

func checkSize(data []byte, limit int) error {
	if len(data) > limit {
		return fmt.Errorf("it has %d bytes; at most %d are read", len(data), limit)
	}
	return nil
}

// finish makes the file from the fields written so far and `body`. It has at most `limit` bytes.
func (w *frontmatter) finish(body string, limit int) ([]byte, error) {
	switch body = NormalBody(body); {
	case w.invalid != "":
		return nil, fmt.Errorf("field %s is not valid UTF-8 text", w.invalid)
	case !utf8.ValidString(body):
		return nil, errors.New("its text is not valid UTF-8")
	case w.Len() > MaxFrontmatter:
		return nil, fmt.Errorf("the frontmatter would be longer than %d bytes", MaxFrontmatter)
	}
	file := w.file(body)
	return file, checkSize(file, limit)
}
