package protocol

import (
	"bytes"
	"slices"
	"strings"
)

// maxPlainFields bounds how many fields plainFields reads, because for each field it looks at all
// others.
const maxPlainFields = 32

// plainFields reads a frontmatter of the form that Encode writes nearly always: one field on each
// line, whose value is plain, in simple double quotes, or an inline list of such values. It reports
// false for everything else. Then the YAML library reads it, which takes ten times as long, and a
// node reads each message several times.
func plainFields(front []byte) (fields, bool) {
	const usual = 20 // fields of a message
	all, single := make(fields, 0, usual), make([]string, 0, usual)
	for len(front) > 0 {
		line, rest, ended := bytes.Cut(front, []byte("\n"))
		key, value, ok := strings.Cut(string(line), ": ") // one string for each line, so that a value keeps only its own line in memory
		if !ended || !ok || !isPlainKey(key) || all.has(key) || len(all) == maxPlainFields {
			return nil, false
		}
		f := field{key: key}
		if inner, list := strings.CutPrefix(value, "["); list {
			f.list = true
			f.values, ok = plainList(inner)
		} else if value, ok = plainValue(value, " :()"); ok {
			single = append(single, value)
			f.values = single[len(single)-1 : len(single) : len(single)]
		}
		if !ok {
			return nil, false
		}
		all, front = append(all, f), rest
	}
	return all, len(all) > 0
}

func (fs fields) has(key string) bool {
	return slices.ContainsFunc(fs, func(f field) bool { return f.key == key })
}

// plainList reads the values of an inline list behind its bracket.
func plainList(inner string) (values []string, ok bool) {
	if inner, ok = strings.CutSuffix(inner, "]"); !ok {
		return nil, false
	}
	for item := range strings.SplitSeq(inner, ", ") {
		value, ok := plainValue(item, "")
		if !ok {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

// plainValue reads a scalar of letters, digits, a few signs to which YAML gives no meaning between
// them, and the signs in `also`. A colon must not stand before a space or at the end. A text in
// double quotes may have any ASCII character that needs no escape; in a list it may have no comma.
func plainValue(text, also string) (value string, ok bool) {
	if inner, quoted := strings.CutPrefix(text, `"`); quoted {
		inner, ok = strings.CutSuffix(inner, `"`)
		return inner, ok && !strings.ContainsFunc(inner, func(r rune) bool {
			return r < ' ' || r > '~' || r == '"' || r == '\\' || r == ',' && also == ""
		})
	}
	if text == "" || !isAlnum(text[0]) || strings.HasSuffix(text, " ") || strings.HasSuffix(text, ":") || strings.Contains(text, ": ") {
		return "", false
	}
	for i := range len(text) {
		if c := text[i]; !isAlnum(c) && strings.IndexByte("./@=+_-", c) < 0 && strings.IndexByte(also, c) < 0 {
			return "", false
		}
	}
	return text, true
}

func isPlainKey(key string) bool {
	if key == "" || len(key) > 64 || !isAlnum(key[0]) || isDigit(key[0]) {
		return false
	}
	for i := range len(key) {
		if c := key[i]; !isAlnum(c) && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
