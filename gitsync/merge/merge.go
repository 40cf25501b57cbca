// Package merge puts two versions of one file together: field by field in a frontmatter,
// line by line elsewhere. Pure.
package merge

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

// theText is the name of a clash outside the fields of a frontmatter.
const theText = "the text"

// File merges two versions of a file that both come from `base`: field by field in a frontmatter,
// line by line elsewhere. If both have changed the same thing, it takes the version of `first`, and
// `clashes` names the thing. A field that only one of them removed stays as the other one changed
// it.
func File(base, first, second []byte) (merged []byte, clashes []string) {
	switch {
	case bytes.Equal(first, second), bytes.Equal(second, base):
		return first, nil
	case bytes.Equal(first, base):
		return second, nil
	case !isText(base) || !isText(first) || !isText(second):
		return first, []string{theText}
	}
	b, f, s := splitFile(base), splitFile(first), splitFile(second)
	if !f.whole || !s.whole || !b.whole && len(base) > 0 {
		text, clean := mergeLines(string(base), string(first), string(second))
		return []byte(text), unlessClean(clean, theText)
	}
	var out strings.Builder
	out.WriteString(f.open)
	for _, key := range unionOfKeys(f, s) {
		text, clean := mergeField(b.fields[key], f.fields[key], s.fields[key])
		clashes = append(clashes, unlessClean(clean, strings.TrimSpace(key))...)
		out.WriteString(text)
	}
	text, clean := mergeLines(b.body, f.body, s.body)
	out.WriteString(text)
	return []byte(out.String()), append(clashes, unlessClean(clean, theText)...)
}

func isText(data []byte) bool { return utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 }

func unlessClean(clean bool, what string) []string {
	if clean {
		return nil
	}
	return []string{what}
}

func mergeField(base, first, second string) (text string, clean bool) {
	text, clean = mergeLines(base, first, second)
	switch {
	case clean:
		return text, true
	case first == "":
		return second, false
	case strings.Count(first, "\n") < 2: // a field of one line has no parts
		return first, false
	}
	return text, false
}

// splitText is a file taken apart. The parts together give the file again.
type splitText struct {
	open   string            // the line that opens the frontmatter
	keys   []string          // in their order
	fields map[string]string // each with its lines; the key "" is for what stands before the first field
	body   string            // from the line that closes the frontmatter
	whole  bool              // the file could be taken apart
}

func splitFile(data []byte) splitText {
	s := splitText{fields: map[string]string{}}
	lines := strings.SplitAfter(string(data), "\n")
	if strings.TrimRight(lines[0], "\r\n") != "---" {
		return s
	}
	s.open = lines[0]
	key := ""
	for i, line := range lines[1:] {
		if strings.TrimRight(line, "\r\n") == "---" {
			s.body, s.whole = strings.Join(lines[i+1:], ""), true
			return s
		}
		if name, _, ok := strings.Cut(line, ":"); ok && !strings.ContainsAny(line[:1], " \t#-") {
			key = name
			if slices.Contains(s.keys, key) {
				return s // a key stands twice: the fields cannot be used
			}
			s.keys = append(s.keys, key)
		} else if key == "" && !slices.Contains(s.keys, "") {
			s.keys = append(s.keys, "")
		}
		s.fields[key] += line
	}
	return s
}

// unionOfKeys are the keys of both. A key that only `second` has stands behind the key that it
// follows there.
func unionOfKeys(first, second splitText) []string {
	all := slices.Clone(first.keys)
	for i, key := range second.keys {
		if slices.Contains(all, key) {
			continue
		}
		at := 0
		if i > 0 {
			at = slices.Index(all, second.keys[i-1]) + 1
		}
		all = slices.Insert(all, at, key)
	}
	return all
}

// maxCells bounds the table for the comparison of lines.
const maxCells = 4 << 20

// mergeLines merges line by line. `clean` is false if both have changed the same lines; then `text`
// has those of `first`.
func mergeLines(base, first, second string) (text string, clean bool) {
	switch {
	case first == second || second == base:
		return first, true
	case first == base:
		return second, true
	}
	b, f, s := strings.SplitAfter(base, "\n"), strings.SplitAfter(first, "\n"), strings.SplitAfter(second, "\n")
	if len(b)*max(len(f), len(s)) > maxCells {
		return first, false
	}
	inFirst, inSecond := matches(b, f), matches(b, s)
	var out strings.Builder
	clean = true
	i, j, k := 0, 0, 0
	for i < len(b) || j < len(f) || k < len(s) {
		// The next line that all three have ends the part in which they differ.
		end, jEnd, kEnd := len(b), len(f), len(s)
		for at := i; at < len(b); at++ {
			if inFirst[at] >= 0 && inSecond[at] >= 0 {
				end, jEnd, kEnd = at, inFirst[at], inSecond[at]
				break
			}
		}
		part, ok := choosePart(b[i:end], f[j:jEnd], s[k:kEnd])
		clean = clean && ok
		for _, line := range part {
			out.WriteString(line)
		}
		i, j, k = end, jEnd, kEnd
		if i < len(b) {
			out.WriteString(b[i])
			i, j, k = i+1, j+1, k+1
		}
	}
	return out.String(), clean
}

func choosePart(base, first, second []string) (part []string, clean bool) {
	switch {
	case slices.Equal(first, second), slices.Equal(second, base):
		return first, true
	case slices.Equal(first, base):
		return second, true
	}
	return first, false
}

// matches pairs the lines of `a` with lines of `b`, as many as possible in their order. It returns
// the index in `b` for each line of `a`, or -1.
func matches(a, b []string) []int {
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	pairs := make([]int, len(a))
	j := 0
	for i := range a {
		pairs[i] = -1
		for j < len(b) && length[i][j] > length[i+1][j] {
			if a[i] == b[j] && length[i][j] == length[i+1][j+1]+1 {
				pairs[i] = j
				j++
				break
			}
			j++
		}
	}
	return pairs
}
