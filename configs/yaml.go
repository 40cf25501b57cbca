package configs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/internal/size"
	"github.com/parleyfleet/parley/internal/spelling"
)

const maxFileBytes = 64 * kib

func readCapped(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFileBytes {
		return nil, fmt.Errorf("it is larger than %s", size.Exact(maxFileBytes))
	}
	return data, nil
}

// document parses one YAML document whose root is a mapping. It returns nil
// for a file without content.
func document(data []byte) (*yaml.Node, []Problem) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, []Problem{syntaxProblem(err)}
	}
	if ps := forbidden(&doc); len(ps) > 0 {
		return nil, ps
	}
	if len(doc.Content) != 1 {
		return nil, nil
	}
	root := doc.Content[0]
	switch {
	case root.Kind == yaml.ScalarNode && root.Tag == "!!null":
		return nil, nil
	case root.Kind != yaml.MappingNode:
		return nil, []Problem{{Line: root.Line, Text: "the file should be a list of keys and values, such as  fleet: home"}}
	}
	var more yaml.Node
	switch err := dec.Decode(&more); {
	case errors.Is(err, io.EOF):
		return root, nil
	case err != nil:
		return nil, []Problem{syntaxProblem(err)}
	}
	return nil, []Problem{{Line: more.Line, Text: "a second document begins here; a file holds one"}}
}

// forbidden finds the features of YAML that let one text mean another.
func forbidden(n *yaml.Node) []Problem {
	switch {
	case n.Kind == yaml.AliasNode:
		return []Problem{{Line: n.Line, Text: "aliases (*" + n.Value + ") are not used here: write the value out"}}
	case n.Anchor != "":
		return []Problem{{Line: n.Line, Text: "anchors (&" + n.Anchor + ") are not used here: write the value out"}}
	case n.Style&yaml.TaggedStyle != 0:
		return []Problem{{Line: n.Line, Text: "tags (" + n.Tag + ") are not used here: values are taken by their text"}}
	}
	var ps []Problem
	for _, child := range n.Content {
		ps = append(ps, forbidden(child)...)
	}
	return ps
}

var yamlLine = pattern.New(`^line ([0-9]+): (.*)$`)

func syntaxProblem(err error) Problem {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		line, _ := strconv.Atoi(m[1])
		return Problem{Line: line, Text: "not YAML: " + m[2]}
	}
	return Problem{Text: "not YAML: " + text}
}

// readMapping hands each value of `n` to the setting of its key. `prefix` stands before the keys in
// the name of a problem. A misspelt key is compared with those of the settings, and with `more`.
func readMapping(n *yaml.Node, prefix string, settings []Setting, more []string) []Problem {
	if n.Kind != yaml.MappingNode {
		return []Problem{{Line: n.Line, Key: strings.TrimSuffix(prefix, "."), Text: fmt.Sprintf("should hold keys such as %s, %s and %s, with their values", settings[0].Key, settings[1].Key, settings[2].Key)}}
	}
	known := slices.Clone(more)
	for _, s := range settings {
		if s.Key != "" {
			known = append(known, prefix+s.Key)
		}
	}
	var ps []Problem
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode {
			ps = append(ps, Problem{Line: key.Line, Text: "a key should be one word"})
			continue
		}
		full := prefix + key.Value
		if first, ok := seen[key.Value]; ok {
			ps = append(ps, Problem{Line: key.Line, Key: full, Text: fmt.Sprintf("stands twice, first in line %d", first)})
			continue
		}
		seen[key.Value] = key.Line
		at := slices.IndexFunc(settings, func(s Setting) bool { return s.Key == key.Value })
		if at < 0 || key.Value == "" {
			ps = append(ps, Problem{Line: key.Line, Text: unknownKey(full, known).Error()})
			continue
		}
		for _, p := range problemsIn(full, settings[at].read(value)) {
			p.Line = cmp.Or(p.Line, value.Line)
			ps = append(ps, p)
		}
	}
	return ps
}

func unknownKey(key string, known []string) error {
	if near := Nearest(key, known); near != "" {
		return fmt.Errorf("unknown key %q: did you mean %s?", key, near)
	}
	return fmt.Errorf("unknown key %q", key)
}

// scalar is the literal text of a single value.
func scalar(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", errors.New("should be a single value")
	}
	return n.Value, nil
}

// items are the elements of a list. A missing value is the empty list.
func items(n *yaml.Node) ([]*yaml.Node, error) {
	switch {
	case n.Kind == yaml.SequenceNode:
		return n.Content, nil
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null":
		return nil, nil
	}
	return nil, errors.New("should be a list, such as  [a, b]")
}

// quoted is `s` as a double-quoted YAML scalar. All escapes of Go are escapes of YAML too.
func quoted(s string) string { return strconv.Quote(s) }

// Nearest is the known key that somebody most likely meant, or "" if none is similar. A key in a
// wrong place is similar to the same key in the right place: "listen" to "bus.listen".
func Nearest(key string, known []string) string {
	best, bestDistance := "", 3
	norm := plainKey(key)
	for _, k := range known {
		d := min(spelling.Distance(norm, plainKey(k)), 1+spelling.Distance(last(norm), last(plainKey(k))))
		if d < bestDistance && d < len(last(norm)) {
			best, bestDistance = k, d
		}
	}
	return best
}

func plainKey(key string) string { return strings.ToLower(strings.ReplaceAll(key, "-", "_")) }

func last(key string) string { return key[strings.LastIndex(key, ".")+1:] }
