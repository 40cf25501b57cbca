package splice

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// TOML is a file of TOML. Of its values it knows only where they begin and end.
type TOML struct {
	data []byte
	said []statement
	put  spans
}

// statement is the head of a table, or a key with its value.
type statement struct {
	from, to int // the whole lines
	head     bool
	path     []string // whole, with that of its table
	value    string   // as it is written
}

// ParseTOML reads a file.
func ParseTOML(data []byte) (*TOML, error) {
	var p unstable.Parser
	p.Reset(withoutMark(data))
	doc := &TOML{data: data}
	var table []string
	for p.NextExpression() {
		expr := p.Expression()
		s := statement{head: expr.Kind != unstable.KeyValue}
		var key []string
		first, end := -1, 0
		for it := expr.Key(); it.Next(); {
			raw := it.Node().Raw
			if first < 0 {
				first = int(raw.Offset)
			}
			key, end = append(key, string(it.Node().Data)), int(raw.Offset+raw.Length)
		}
		if s.head {
			table, s.path = key, key
		} else {
			_, value, _ := bytes.Cut(p.Raw(expr.Raw)[end-first:], []byte("="))
			s.path, s.value = slices.Concat(table, key), string(bytes.TrimSpace(value))
			end = int(expr.Raw.Offset + expr.Raw.Length)
		}
		s.from, s.to = bytes.LastIndexByte(data[:first], '\n')+1, len(data)
		if n := bytes.IndexByte(data[end:], '\n'); n >= 0 {
			s.to = end + n + 1
		}
		doc.said = append(doc.said, s)
	}
	if bad, ok := errors.AsType[*unstable.ParserError](p.Error()); ok {
		return nil, fmt.Errorf("line %d: %w", lineAt(data, int(p.Range(bad.Highlight).Offset)), bad)
	}
	return doc, p.Error()
}

// Text is what a string says, as it is written. What is no string is returned as it is.
func Text(written string) string {
	if len(written) >= 2 && written[0] == '\'' {
		return strings.Trim(written, "'")
	}
	if said, err := strconv.Unquote(written); err == nil {
		return said
	}
	return written
}

// Bytes is the file.
func (t *TOML) Bytes() []byte { return t.data }

// Added are the texts that were put in. Cut takes them out.
func (t *TOML) Added() []string { return t.put.texts(t.data) }

// Value is the value at a path as it is written; "" if there is none.
func (t *TOML) Value(path ...string) string {
	for _, s := range t.said {
		if !s.head && slices.Equal(s.path, path) {
			return s.value
		}
	}
	return ""
}

// Below are the names that stand right below a path, of tables and of keys.
func (t *TOML) Below(path ...string) (names []string) {
	for _, s := range t.said {
		if len(s.path) > len(path) && below(s.path, path) && !slices.Contains(names, s.path[len(path)]) {
			names = append(names, s.path[len(path)])
		}
	}
	return names
}

// Line is the number of the first line that says something about what is at a path or below it; 0
// if there is none. A value above the path counts, for it holds all that is below it.
func (t *TOML) Line(path ...string) int {
	for _, s := range t.said {
		if below(s.path, path) || !s.head && below(path, s.path) {
			return lineAt(t.data, s.from)
		}
	}
	return 0
}

func below(path, above []string) bool {
	return len(path) >= len(above) && slices.Equal(path[:len(above)], above)
}

// Append puts lines at the end of the file, after an empty line. They have to begin with the head
// of a table or with a comment above it.
func (t *TOML) Append(text string) error {
	eol := lineEnd(t.data)
	text = strings.ReplaceAll(text, "\n", eol)
	switch {
	case len(t.data) == 0:
	case bytes.HasSuffix(t.data, []byte("\n")):
		text = eol + text
	default:
		text = eol + eol + strings.TrimSuffix(text, eol)
	}
	at := len(t.data)
	fresh, err := ParseTOML(put(t.data, at, text))
	if err != nil {
		return err
	}
	t.data, t.said, t.put = fresh.data, fresh.said, t.put.add(at, len(text))
	return nil
}

// Remove takes out the table at a path and those below it, with the line `above` if it stands above
// the table, and an empty line before that.
func (t *TOML) Remove(above string, path ...string) error {
	out := t.data
	for i := len(t.said) - 1; i >= 0; i-- {
		if !t.said[i].head || !below(t.said[i].path, path) {
			continue
		}
		end := t.said[i].to
		for j := i + 1; j < len(t.said) && !t.said[j].head; j++ {
			end = t.said[j].to
		}
		out = append(slices.Clone(out[:t.begin(t.said[i].from, above)]), out[end:]...) // never nil
	}
	fresh, err := ParseTOML(out)
	if err != nil {
		return err
	}
	t.data, t.said, t.put = fresh.data, fresh.said, nil
	return nil
}

// begin is where the lines begin that belong to the table at `from`.
func (t *TOML) begin(from int, above string) int {
	line := func(to int) (int, string) {
		begin := bytes.LastIndexByte(t.data[:max(to-1, 0)], '\n') + 1
		return begin, strings.TrimSpace(string(t.data[begin:to]))
	}
	if begin, said := line(from); said == above && said != "" {
		from = begin
	}
	if begin, said := line(from); said == "" {
		from = begin
	}
	return from
}

// Tokens is the file without empty lines and white space at the ends of lines.
func (t *TOML) Tokens() string {
	var out strings.Builder
	for line := range strings.Lines(string(t.data)) {
		if line = strings.TrimSpace(line); line != "" {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}
