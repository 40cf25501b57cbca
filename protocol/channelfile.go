package protocol

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// channelFileName is the file of a channel's directory that describes it.
const channelFileName = "CHANNEL.md"

// maxBookBytes bounds the files that agents are given whole: what a channel is
// for, and who an actor is.
const maxBookBytes = 64 << 10

// maxLabelBytes bounds the names of channels and the subjects of memories.
const maxLabelBytes = 255

// ChannelFile is a CHANNEL.md: what a channel is called and what it is for
// (Crosstalk, "CHANNEL.md").
type ChannelFile struct {
	Name      string // a label for people, unique in the record
	CreatedBy string
	CreatedAt time.Time // UTC; zero if not said
	Parent    ChannelID // of a sub-channel; "" otherwise
	About     string    // purpose, participants, how to behave: read by people and given to agents
}

// ChannelFilePath is the path of a channel's CHANNEL.md from the record's root.
func ChannelFilePath(c ChannelID) string {
	return ChannelsDir + "/" + c.String() + "/" + channelFileName
}

// ParseChannelFilePath is the channel that the file at path describes, if path
// is that of a CHANNEL.md.
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
	var w frontmatter
	w.text("name", c.Name)
	w.text("parent", c.Parent.String())
	w.text("created_by", c.CreatedBy)
	if !c.CreatedAt.IsZero() {
		w.plain("created_at", c.CreatedAt.UTC().Format(TimestampLayout))
	}
	file, err := w.finish(c.About)
	if err == nil {
		err = checkSize(file, maxBookBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write the channel: %w", err)
	}
	return file, nil
}

// ParseChannelFile reads a CHANNEL.md. Only the name is required; a time or a
// parent that cannot be read counts as not said.
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
	return c, nil
}

// CheckLabel reports why s cannot be the name of a channel or the subject of a
// memory: both are free text of one line.
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

// finish is the file of the fields written so far and a body.
func (w *frontmatter) finish(body string) ([]byte, error) {
	switch body = NormalBody(body); {
	case w.invalid != "":
		return nil, fmt.Errorf("field %s is not valid UTF-8 text", w.invalid)
	case !utf8.ValidString(body):
		return nil, errors.New("its text is not valid UTF-8")
	case w.Len() > MaxFrontmatter:
		return nil, fmt.Errorf("the frontmatter would be longer than %d bytes", MaxFrontmatter)
	}
	return w.file(body), nil
}
