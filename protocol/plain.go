package protocol

import (
	"bytes"
	"strings"
)

// maxPlainFields bounds what plainFields reads: it looks at all fields for each.
const maxPlainFields = 32

// plainFields reads a frontmatter of the form that Encode writes nearly always: one
// field a line, its value plain, in simple double quotes or an inline list of such. It
// reports false for everything else, which the YAML library then reads: that takes ten
// times as long, and a node reads each message several times.
func plainFields(front []byte) (fields, bool) {
	const usual = 20 // fields of a message
	all, single := make(fields, 0, usual), make([]string, 0, usual)
	for len(front) > 0 {
		line, rest, ended := bytes.Cut(front, []byte("\n"))
		key, value, ok := strings.Cut(string(line), ": ") // each for itself: who keeps one value keeps its line alone
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
	for _, f := range fs {
		if f.key == key {
			return true
		}
	}
	return false
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

// plainValue reads a scalar of letters, digits, a few signs that YAML gives no meaning
// between them, and those of also, in which a colon must not stand before a space or at
// the end. In double quotes anything of ASCII may stand that needs no escape; in a list
// no comma.
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
