package splice

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/parleyfleet/parley/internal/pattern"
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
	doc := &JSON{data: data}
	plain := withoutMark(data)
	depth, empty, last := 0, true, 0
	for _, at := range jsonPart.FindAllIndex(plain, -1) {
		switch plain[at[0]] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if depth > maxDepth {
			return nil, fmt.Errorf("line %d: values are nested too deep", lineAt(data, at[0]))
		}
		empty, last = empty && plain[at[0]] == '/' && at[1] > at[0]+1, at[0]
	}
	if empty {
		return doc, nil
	}
	if bytes.HasPrefix(plain[last:], []byte("//")) {
		plain = append(plain, '\n') // the library wants one behind a comment
	}
	root, err := hujson.Parse(plain)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	doc.root = valueOf(root)
	return doc, nil
}

// valueOf is a value as we use it.
func valueOf(from hujson.Value) *value {
	v := &value{kind: byte(from.Value.Kind()), from: from.StartOffset, to: from.EndOffset}
	add := func(key string, begin int, one hujson.Value, last bool) {
		c := child{key: key, from: begin, value: valueOf(one), comma: -1}
		if !last || one.AfterExtra != nil { // so the library tells that there is a comma after the last
			c.comma = one.EndOffset + len(one.AfterExtra)
		}
		v.children = append(v.children, c)
	}
	switch from := from.Value.(type) {
	case *hujson.Object:
		for i, m := range from.Members {
			add(m.Name.Value.(hujson.Literal).String(), m.Name.StartOffset, m.Value, i == len(from.Members)-1)
		}
	case *hujson.Array:
		for i, one := range from.Elements {
			add("", one.StartOffset, one, i == len(from.Elements)-1)
		}
	}
	return v
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
	plain, err := hujson.Minimize(d.data[v.from:v.to])
	if err == nil {
		err = json.Unmarshal(plain, to)
	}
	if err != nil {
		return false, d.noContainer(v, path, "what programs expect there")
	}
	return true, nil
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

// jsonPart is a part of a file: a comment, a text, or a byte of anything else.
var jsonPart = pattern.New(`//[^\n]*|/\*[\s\S]*?\*/|"(?:[^"\\]|\\.)*"|[^\s]`)

// Tokens is the file without white space between its parts. Two files with the same tokens say the
// same, and have the same comments.
func (d *JSON) Tokens() string {
	var out strings.Builder
	for _, at := range jsonPart.FindAllIndex(d.data, -1) {
		out.Write(d.data[at[0]:at[1]])
		if d.data[at[0]] == '/' {
			out.WriteString("\n")
		}
	}
	return out.String()
}
