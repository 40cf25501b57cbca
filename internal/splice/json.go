package splice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// JSON is a file of JSON. As in the files that people keep, there may be comments, commas after
// the last value, and a byte order mark.
type JSON struct {
	data []byte
	root *value // nil: there is nothing in the file
	put  spans
}

// value is a value in the file.
type value struct {
	kind     byte // { [ " or 0 for a number and a word
	from, to int
	children []child // of { and [
}

// child is an element or a member.
type child struct {
	key   string // of a member
	from  int    // where it begins: the key of a member
	value *value
	comma int // the comma after it; -1: there is none
}

// maxDepth is how deep values may be nested.
const maxDepth = 200

// ParseJSON reads a file.
func ParseJSON(data []byte) (*JSON, error) {
	r := jsonReader{data: data}
	if bytes.HasPrefix(data, []byte("\ufeff")) {
		r.at = len("\ufeff")
	}
	if err := r.skip(); err != nil {
		return nil, err
	}
	doc := &JSON{data: data}
	if r.at == len(data) {
		return doc, nil
	}
	root, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if err := r.skip(); err != nil {
		return nil, err
	}
	if r.at < len(data) {
		return nil, r.unexpected("the end")
	}
	doc.root = root
	return doc, nil
}

// jsonReader reads JSON from a place on.
type jsonReader struct {
	data []byte
	at   int
}

func (r *jsonReader) unexpected(wanted string) error {
	if r.at >= len(r.data) {
		return fmt.Errorf("line %d: the file ends where %s should be", lineAt(r.data, r.at), wanted)
	}
	return fmt.Errorf("line %d: %q is where %s should be", lineAt(r.data, r.at), r.data[r.at], wanted)
}

// skip passes over white space and comments.
func (r *jsonReader) skip() error {
	for r.at < len(r.data) {
		rest := r.data[r.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			r.at++
		case bytes.HasPrefix(rest, []byte("//")):
			end := bytes.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			r.at += end
		case bytes.HasPrefix(rest, []byte("/*")):
			end := bytes.Index(rest[2:], []byte("*/"))
			if end < 0 {
				return fmt.Errorf("line %d: a comment has no end", lineAt(r.data, r.at))
			}
			r.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

func (r *jsonReader) value(depth int) (*value, error) {
	switch {
	case depth > maxDepth:
		return nil, fmt.Errorf("line %d: values are nested too deep", lineAt(r.data, r.at))
	case r.at == len(r.data):
		return nil, r.unexpected("a value")
	}
	v := &value{from: r.at}
	switch b := r.data[r.at]; b {
	case '{', '[':
		v.kind = b
		if err := r.children(v, depth); err != nil {
			return nil, err
		}
	case '"':
		v.kind = '"'
		if _, err := r.text(); err != nil {
			return nil, err
		}
	default:
		for r.at < len(r.data) && strings.IndexByte(" \t\r\n,:]}/\"", r.data[r.at]) < 0 {
			r.at++
		}
		if !json.Valid(r.data[v.from:r.at]) {
			r.at = v.from
			return nil, r.unexpected("a value")
		}
	}
	v.to = r.at
	return v, nil
}

// text reads a string.
func (r *jsonReader) text() (text string, err error) {
	from := r.at
	for r.at++; r.at < len(r.data) && r.data[r.at] != '"'; r.at++ {
		if r.data[r.at] == '\\' {
			r.at++
		}
	}
	if r.at >= len(r.data) {
		return "", fmt.Errorf("line %d: a text has no end", lineAt(r.data, from))
	}
	r.at++
	if err := json.Unmarshal(r.data[from:r.at], &text); err != nil {
		return "", fmt.Errorf("line %d: %w", lineAt(r.data, from), err)
	}
	return text, nil
}

// children reads what is between the brackets.
func (r *jsonReader) children(v *value, depth int) error {
	closing, name := byte(']'), "a value"
	if v.kind == '{' {
		closing, name = '}', "a name"
	}
	r.at++
	for {
		if err := r.skip(); err != nil {
			return err
		}
		switch {
		case r.at < len(r.data) && r.data[r.at] == closing:
			r.at++
			return nil
		case len(v.children) > 0 && v.children[len(v.children)-1].comma < 0:
			return r.unexpected("a comma")
		}
		c := child{from: r.at, comma: -1}
		if v.kind == '{' {
			if r.at == len(r.data) || r.data[r.at] != '"' {
				return r.unexpected(name)
			}
			var err error
			if c.key, err = r.text(); err != nil {
				return err
			}
			if err := r.skip(); err != nil {
				return err
			}
			if r.at == len(r.data) || r.data[r.at] != ':' {
				return r.unexpected("a colon")
			}
			r.at++
			if err := r.skip(); err != nil {
				return err
			}
		}
		var err error
		if c.value, err = r.value(depth + 1); err != nil {
			return err
		}
		if err := r.skip(); err != nil {
			return err
		}
		if r.at < len(r.data) && r.data[r.at] == ',' {
			c.comma = r.at
			r.at++
		}
		v.children = append(v.children, c)
	}
}

// Bytes is the file.
func (d *JSON) Bytes() []byte { return d.data }

// Added are the texts that were put in, in the order of the file. Cut takes them out.
func (d *JSON) Added() []string { return d.put.texts(d.data) }

// member is the member of an object with a name; nil if there is none.
func (d *JSON) member(v *value, key string) (*child, error) {
	var found *child
	for i := range v.children {
		if v.children[i].key != key {
			continue
		}
		if found != nil {
			return nil, fmt.Errorf("line %d: %q stands there twice", lineAt(d.data, v.children[i].from), key)
		}
		found = &v.children[i]
	}
	return found, nil
}

// at is the value at a path of names, and of numbers in lists; nil if there is none. `depth` is how
// much of the path there is, and `last` the value there.
func (d *JSON) at(path []string) (found, last *value, depth int, err error) {
	last = d.root
	if last == nil {
		return nil, nil, 0, nil
	}
	for depth < len(path) {
		if i, err := strconv.Atoi(path[depth]); err == nil && last.kind == '[' && i < len(last.children) {
			last = last.children[i].value
			depth++
			continue
		}
		if last.kind != '{' {
			return nil, nil, 0, d.noContainer(last, path[:depth], "an object")
		}
		c, err := d.member(last, path[depth])
		if err != nil || c == nil {
			return nil, last, depth, err
		}
		last = c.value
		depth++
	}
	return last, last, depth, nil
}

func (d *JSON) noContainer(v *value, path []string, wanted string) error {
	name := "the file"
	if len(path) > 0 {
		name = fmt.Sprintf("%q", strings.Join(path, "."))
	}
	return fmt.Errorf("line %d: %s is not %s", lineAt(d.data, v.from), name, wanted)
}

// Get reads the value at a path of names into `to`. It reports false if there is none.
func (d *JSON) Get(to any, path ...string) (bool, error) {
	v, _, _, err := d.at(path)
	if err != nil || v == nil {
		return false, err
	}
	var plain bytes.Buffer
	d.plain(&plain, v)
	if err := json.Unmarshal(plain.Bytes(), to); err != nil {
		return false, d.noContainer(v, path, "what programs expect there")
	}
	return true, nil
}

// plain writes a value without comments and white space.
func (d *JSON) plain(to *bytes.Buffer, v *value) {
	if v.kind != '{' && v.kind != '[' {
		to.Write(d.data[v.from:v.to])
		return
	}
	to.WriteByte(v.kind)
	for i, c := range v.children {
		if i > 0 {
			to.WriteByte(',')
		}
		if v.kind == '{' {
			key, _ := json.Marshal(c.key) // a text can be written as one
			to.Write(key)
			to.WriteByte(':')
		}
		d.plain(to, c.value)
	}
	to.WriteByte(v.kind + 2) // its closing bracket
}

// Append puts a value, written in one line, at the end of the list at a path, and makes what is
// missing of the path.
func (d *JSON) Append(raw string, path ...string) error {
	list, last, depth, err := d.at(path)
	switch {
	case err != nil:
		return err
	case list == nil:
		return d.make(last, path[depth:], "["+raw+"]")
	case list.kind != '[':
		return d.noContainer(list, path, "a list")
	case len(list.children) == 0:
		return d.changed(list.from+1, raw)
	}
	return d.insert(list, nil, raw)
}

// Set puts a member in that is not there yet, its value written in one line, and makes what is
// missing of the path to it.
func (d *JSON) Set(raw string, path ...string) error {
	_, last, depth, err := d.at(path)
	if err != nil {
		return err
	}
	return d.make(last, path[depth:], raw)
}

// make puts a value in below an object, with the rest of its path.
func (d *JSON) make(object *value, rest []string, raw string) error {
	eol, unit := lineEnd(d.data), d.unit()
	switch {
	case object == nil: // the file is empty
		text := "{" + eol + unit + nested(rest, raw, unit, unit, eol) + eol + "}"
		if len(d.data) == 0 {
			text += "\n"
		}
		return d.changed(len(d.data), text)
	case object.kind != '{':
		return d.noContainer(object, nil, "an object")
	case len(object.children) > 0:
		return d.insert(object, rest, raw)
	}
	outer := d.indentOf(object.from)
	text := eol + outer + unit + nested(rest, raw, outer+unit, unit, eol)
	if !bytes.Contains(d.data[object.from:object.to], []byte("\n")) {
		text += eol + outer
	}
	return d.changed(object.from+1, text)
}

// nested is a value with the names of the path to it, each in a line of its own. Without a path it
// is the value alone.
func nested(path []string, raw, indent, unit, eol string) string {
	if len(path) == 0 {
		return raw
	}
	key, _ := json.Marshal(path[0]) // a text can be written as one
	if len(path) == 1 {
		return string(key) + ": " + raw
	}
	return string(key) + ": {" + eol + indent + unit + nested(path[1:], raw, indent+unit, unit, eol) + eol + indent + "}"
}

// insert puts an element or a member after the others of a list or an object, in the way in which
// the last of them is written.
func (d *JSON) insert(to *value, path []string, raw string) error {
	last := to.children[len(to.children)-1]
	begin := to.from + 1
	if n := len(to.children); n > 1 {
		begin = to.children[n-2].comma + 1
	}
	text := " " + nested(path, raw, "", "", "")
	if bytes.Contains(d.data[begin:last.from], []byte("\n")) {
		eol, indent := lineEnd(d.data), d.indentOf(last.from)
		text = eol + indent + nested(path, raw, indent, d.unit(), eol)
	}
	if last.comma >= 0 {
		return d.changed(last.comma+1, text+",")
	}
	return d.changed(last.value.to, ","+text)
}

// changed puts a text in and reads the file again.
func (d *JSON) changed(at int, text string) error {
	fresh, err := ParseJSON(put(d.data, at, text))
	if err != nil {
		return err
	}
	d.data, d.root, d.put = fresh.data, fresh.root, d.put.add(at, len(text))
	return nil
}

// indentOf is the white space at the beginning of the line of a byte.
func (d *JSON) indentOf(at int) string {
	from := bytes.LastIndexByte(d.data[:at], '\n') + 1
	to := from
	for to < at && (d.data[to] == ' ' || d.data[to] == '\t') {
		to++
	}
	return string(d.data[from:to])
}

// unit is by how much each level is indented.
func (d *JSON) unit() string {
	if d.root != nil && len(d.root.children) > 0 {
		if unit := d.indentOf(d.root.children[0].from); unit != "" {
			return unit
		}
	}
	return "  "
}

// Remove takes an element out of the list at a path, and returns how many are left.
func (d *JSON) Remove(i int, path ...string) (left int, err error) {
	list, _, _, err := d.at(path)
	switch {
	case err != nil:
		return 0, err
	case list == nil || list.kind != '[' || i >= len(list.children):
		return 0, fmt.Errorf("there is no element %d at %q", i, strings.Join(path, "."))
	}
	return len(list.children) - 1, d.remove(list, i)
}

// Unset takes the member at a path out.
func (d *JSON) Unset(path ...string) error {
	last := len(path) - 1
	object, _, _, err := d.at(path[:last])
	if err != nil || object == nil || object.kind != '{' {
		return err
	}
	for i, c := range object.children {
		if c.key == path[last] {
			return d.remove(object, i)
		}
	}
	return nil
}

// remove takes a child out, with one comma and the white space around. Comments stay.
func (d *JSON) remove(from *value, i int) error {
	c := from.children[i]
	begin, end, comma := c.from, c.value.to, -1
	switch {
	case i > 0:
		comma = from.children[i-1].comma
	case c.comma >= 0:
		comma = c.comma
	}
	out := d.data
	cut := func(a, b int) { out = append(out[:a:a], out[b:]...) }
	blank := func(a, b int) bool { return len(bytes.TrimSpace(out[a:b])) == 0 }
	switch {
	case comma < 0: // it is the only one
		if blank(from.from+1, begin) && blank(end, from.to-1) {
			begin, end = from.from+1, from.to-1
		}
		cut(begin, end)
	case comma < begin && blank(comma+1, begin):
		cut(comma, end)
	case comma < begin:
		cut(begin, end)
		cut(comma, comma+1)
	default:
		next := from.to - 1
		if len(from.children) > 1 {
			next = from.children[1].from
		}
		if !blank(comma+1, next) {
			next = comma + 1
		}
		if blank(end, comma) {
			cut(begin, next)
			break
		}
		cut(comma, next)
		cut(begin, end)
	}
	fresh, err := ParseJSON(out)
	if err != nil {
		return err
	}
	d.data, d.root, d.put = fresh.data, fresh.root, nil
	return nil
}

// Tokens is the file without white space between its parts. Two files with the same tokens say the
// same, and have the same comments.
func (d *JSON) Tokens() string {
	var out strings.Builder
	r := jsonReader{data: d.data}
	for r.at < len(r.data) {
		from := r.at
		switch b := r.data[r.at]; {
		case strings.IndexByte(" \t\r\n", b) >= 0:
			r.at++
			continue
		case b == '/':
			_ = r.skip() // the file was read before
			out.WriteString(strings.TrimSpace(string(r.data[from:r.at])) + "\n")
			continue
		case b == '"':
			_, _ = r.text()
		default:
			r.at++
		}
		out.Write(r.data[from:r.at])
	}
	return out.String()
}
