package splice

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
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
	r := tomlReader{data: data}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		r.at = len("\ufeff")
	}
	doc := &TOML{data: data}
	var table []string
	for {
		r.skip(true)
		if r.at >= len(data) {
			return doc, nil
		}
		s := statement{from: bytes.LastIndexByte(data[:r.at], '\n') + 1, head: data[r.at] == '['}
		var err error
		if s.head {
			if s.path, err = r.heading(); err != nil {
				return nil, err
			}
			table = s.path
		} else {
			if s.path, err = r.key(); err != nil {
				return nil, err
			}
			s.path = slices.Concat(table, s.path)
			if err := r.expect('='); err != nil {
				return nil, err
			}
			r.skip(false)
			begin := r.at
			if err := r.value(0); err != nil {
				return nil, err
			}
			s.value = strings.TrimSpace(string(data[begin:r.at]))
		}
		if err := r.endOfLine(); err != nil {
			return nil, err
		}
		s.to = r.at
		doc.said = append(doc.said, s)
	}
}

// tomlReader reads TOML from a place on.
type tomlReader struct {
	data []byte
	at   int
}

func (r *tomlReader) wrong(what string) error {
	return fmt.Errorf("line %d: %s", lineAt(r.data, r.at), what)
}

// skip passes over white space. With `lines` it passes over comments and ends of lines too.
func (r *tomlReader) skip(lines bool) {
	for ; r.at < len(r.data); r.at++ {
		switch b := r.data[r.at]; {
		case b == ' ' || b == '\t':
		case lines && (b == '\n' || b == '\r'):
		case lines && b == '#':
			r.comment()
			r.at--
		default:
			return
		}
	}
}

// comment passes over the rest of a line.
func (r *tomlReader) comment() {
	for r.at < len(r.data) && r.data[r.at] != '\n' {
		r.at++
	}
}

func (r *tomlReader) endOfLine() error {
	r.skip(false)
	if r.at < len(r.data) && r.data[r.at] == '#' {
		r.comment()
	}
	switch rest := r.data[r.at:]; {
	case bytes.HasPrefix(rest, []byte("\n")):
		r.at++
	case bytes.HasPrefix(rest, []byte("\r\n")):
		r.at += 2
	case len(rest) > 0:
		return r.wrong("there is more in the line than belongs there")
	}
	return nil
}

func (r *tomlReader) expect(b byte) error {
	r.skip(false)
	if r.at >= len(r.data) || r.data[r.at] != b {
		return r.wrong(fmt.Sprintf("%q is missing", b))
	}
	r.at++
	return nil
}

// heading reads the head of a table.
func (r *tomlReader) heading() ([]string, error) {
	brackets := 1
	if bytes.HasPrefix(r.data[r.at:], []byte("[[")) {
		brackets = 2
	}
	r.at += brackets
	path, err := r.key()
	for range brackets {
		if err == nil {
			err = r.expect(']')
		}
	}
	return path, err
}

// key reads a name, or several with dots between them.
func (r *tomlReader) key() (path []string, err error) {
	for {
		r.skip(false)
		from := r.at
		switch {
		case r.at < len(r.data) && (r.data[r.at] == '"' || r.data[r.at] == '\''):
			if err := r.text(); err != nil {
				return nil, err
			}
			path = append(path, Text(string(r.data[from:r.at])))
		default:
			for r.at < len(r.data) && isBare(r.data[r.at]) {
				r.at++
			}
			if r.at == from {
				return nil, r.wrong("a name is missing")
			}
			path = append(path, string(r.data[from:r.at]))
		}
		r.skip(false)
		if r.at >= len(r.data) || r.data[r.at] != '.' {
			return path, nil
		}
		r.at++
	}
}

func isBare(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '_' || b == '-'
}

// text passes over a string of any of the four kinds.
func (r *tomlReader) text() error {
	from, quote := r.at, r.data[r.at]
	end, escapes := []byte{quote}, quote == '"'
	if triple := bytes.Repeat(end, 3); bytes.HasPrefix(r.data[r.at:], triple) {
		end = triple
	}
	for r.at += len(end); r.at < len(r.data); r.at++ {
		switch {
		case escapes && r.data[r.at] == '\\':
			r.at++
		case bytes.HasPrefix(r.data[r.at:], end):
			r.at += len(end)
			for n := 0; len(end) == 3 && n < 2 && r.at < len(r.data) && r.data[r.at] == quote; n++ {
				r.at++ // quotes right before the end belong to the text
			}
			return nil
		case len(end) == 1 && r.data[r.at] == '\n':
			r.at = from
			return r.wrong("a text has no end")
		}
	}
	r.at = from
	return r.wrong("a text has no end")
}

// value passes over a value.
func (r *tomlReader) value(depth int) error {
	switch {
	case depth > maxDepth:
		return r.wrong("values are nested too deep")
	case r.at >= len(r.data):
		return r.wrong("a value is missing")
	}
	switch b := r.data[r.at]; b {
	case '"', '\'':
		return r.text()
	case '[', '{':
		closing := b + 2
		for r.at++; ; {
			r.skip(true)
			switch {
			case r.at >= len(r.data):
				return r.wrong("a bracket is not closed")
			case r.data[r.at] == closing:
				r.at++
				return nil
			case r.data[r.at] == ',':
				r.at++
				continue
			}
			if b == '{' {
				if _, err := r.key(); err != nil {
					return err
				}
				if err := r.expect('='); err != nil {
					return err
				}
				r.skip(true)
			}
			if err := r.value(depth + 1); err != nil {
				return err
			}
		}
	}
	from := r.at
	for r.at < len(r.data) && strings.IndexByte(",]}#\r\n", r.data[r.at]) < 0 {
		r.at++
	}
	if !bareValue.Match(bytes.TrimSpace(r.data[from:r.at])) {
		r.at = from
		return r.wrong("a value is missing")
	}
	return nil
}

// bareValue is a number, a word or a moment.
var bareValue = regexp.MustCompile(`^[\w+.:-]+( [\w+.:-]+)?$`)

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
