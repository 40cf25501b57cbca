package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Decode reads the message file data that lies at path p. It accepts what
// other programs write: CRLF line ends, a file that ends right after the
// frontmatter, unknown fields, and "to" as a string or a list (R3). The error
// says which field is missing or wrong; such a file is skipped with one warning.
func Decode(p Path, data []byte) (*Message, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("the file has more than %d bytes; a message has at most %[1]d", MaxFile)
	}
	front, body, err := split(data)
	if err != nil {
		return nil, err
	}
	fields, err := parseFrontmatter(front)
	if err != nil {
		return nil, err
	}
	m := &Message{Path: p, Body: body}
	if err := m.takeRequired(fields); err != nil {
		return nil, err
	}
	m.takeOptional(fields)
	if m.Act == "" {
		m.Act = actOfBody(m.Type, body)
	}
	return m, nil
}

// split cuts a file into its frontmatter and its body. The body is what stands
// after the closing line and one blank line, without the final newline.
func split(data []byte) (front []byte, body string, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	first, rest, ok := cutLine(data)
	if !ok || string(first) != "---" {
		return nil, "", errors.New("the file does not begin with a line ---")
	}
	crlf := bytes.HasPrefix(data, []byte("---\r"))
	at := 0
	for {
		line, after, ok := cutLine(rest[at:])
		if !ok {
			return nil, "", errors.New("the frontmatter has no closing line ---")
		}
		if string(line) == "---" {
			front = rest[:at]
			return front, bodyOf(after, crlf), nil
		}
		at = len(rest) - len(after)
		if at > MaxFrontmatter {
			return nil, "", fmt.Errorf("the frontmatter is longer than %d bytes", MaxFrontmatter)
		}
	}
}

// cutLine takes one line off data, without its line end and trailing spaces.
// It fails at the end of data.
func cutLine(data []byte) (line, rest []byte, ok bool) {
	if len(data) == 0 {
		return nil, nil, false
	}
	line, rest, _ = bytes.Cut(data, []byte("\n"))
	return bytes.TrimRight(line, " \t\r"), rest, true
}

func bodyOf(after []byte, crlf bool) string {
	end := "\n"
	if crlf {
		end = "\r\n"
	}
	s := string(after)
	if rest, ok := strings.CutPrefix(s, end); ok {
		s = rest
	} else {
		s = strings.TrimPrefix(s, "\n")
	}
	return strings.TrimSuffix(s, end)
}

// fields are the frontmatter in order; a scalar has one value.
type fields []field

type field struct {
	key    string
	values []string
	list   bool
}

func (fs fields) text(key string) string {
	for _, f := range fs {
		if f.key == key && !f.list {
			return f.values[0]
		}
	}
	return ""
}

func (fs fields) list(key string) []string {
	for _, f := range fs {
		if f.key == key {
			return f.values
		}
	}
	return nil
}

// parseFrontmatter reads a YAML mapping. A scalar counts by its literal text, whatever type YAML
// would give it.
func parseFrontmatter(front []byte) (fields, error) {
	if !utf8.Valid(front) {
		return nil, errors.New("the frontmatter is not valid UTF-8")
	}
	if fs, ok := plainFields(front); ok {
		return fs, nil
	}
	return yamlFields(front)
}

func yamlFields(front []byte) (fields, error) {
	root, err := mapping(front)
	if err != nil {
		return nil, err
	}
	var fs fields
	for i := 0; i+1 < len(root.Content); i += 2 {
		f, ok := fieldOf(root.Content[i].Value, root.Content[i+1])
		if !ok {
			continue // a nested value, which some other program understands
		}
		fs = append(fs, f)
	}
	return fs, nil
}

// mapping parses text as one YAML mapping and refuses anchors, aliases, tags and
// fields that stand twice.
func mapping(text []byte) (*yaml.Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), &doc); err != nil {
		return nil, fmt.Errorf("the frontmatter is not YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("the frontmatter is not a list of fields")
	}
	if n := special(doc.Content[0]); n != nil {
		return nil, fmt.Errorf("the frontmatter's line %d uses an anchor, alias or tag", n.Line)
	}
	if n := repeated(doc.Content[0]); n != nil {
		return nil, fmt.Errorf("the frontmatter's line %d repeats a field or has no plain name", n.Line)
	}
	return doc.Content[0], nil
}

// repeated finds a key of a mapping that stands twice or is no scalar.
func repeated(mapping *yaml.Node) *yaml.Node {
	seen := map[string]bool{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key := mapping.Content[i]
		if key.Kind != yaml.ScalarNode || seen[key.Value] {
			return key
		}
		seen[key.Value] = true
	}
	return nil
}

// special finds a node that has an anchor or an explicit tag, or that is an alias.
func special(n *yaml.Node) *yaml.Node {
	if n.Anchor != "" || n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0 {
		return n
	}
	for _, c := range n.Content {
		if bad := special(c); bad != nil {
			return bad
		}
	}
	return nil
}

func fieldOf(key string, value *yaml.Node) (field, bool) {
	switch value.Kind {
	case yaml.ScalarNode:
		return field{key: key, values: []string{value.Value}}, true
	case yaml.SequenceNode:
		f := field{key: key, list: true}
		for _, item := range value.Content {
			if item.Kind != yaml.ScalarNode {
				return field{}, false
			}
			f.values = append(f.values, item.Value)
		}
		return f, true
	}
	return field{}, false
}

func (m *Message) takeRequired(fs fields) error {
	m.From = fs.text("from")
	if err := checkAuthor(m.From); err != nil {
		return fmt.Errorf("field from: %w", err)
	}
	for _, s := range fs.list("to") {
		a, err := ParseAddress(s)
		if err != nil {
			return fmt.Errorf("field to: %w", err)
		}
		m.To = append(m.To, a)
	}
	if len(m.To) == 0 {
		return errors.New("field to: nobody is addressed")
	}
	m.Type = Type(fs.text("type"))
	m.Ref = fs.text("ref")
	switch {
	case m.Type != TypeText && m.Type != TypeRead:
		return fmt.Errorf("field type: %q is neither text nor read", m.Type)
	case m.Type == TypeRead && m.Ref == "":
		return errors.New("field ref: a receipt does not say which message was read")
	}
	t, err := parseTimestamp(fs.text("timestamp"))
	if err != nil {
		return fmt.Errorf("field timestamp: %w", err)
	}
	m.Timestamp = t
	return nil
}

func parseTimestamp(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil && writable(t) {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time such as 2026-05-23T19:00:00.000Z", s)
}

// takeOptional reads parley's fields, and keeps those that parley does not know.
func (m *Message) takeOptional(fs fields) {
	for _, f := range fs {
		switch at := knownField(f.key); {
		case at >= 0 && messageFields[at].read != nil:
			messageFields[at].read(m, f)
		case at < 0 && !f.list:
			m.Extra = append(m.Extra, Field{f.key, f.values[0]})
		}
	}
}
