package configs

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"gopkg.in/yaml.v3"
)

// Load reads and checks config.yaml. What the file leaves out has its default value. The error is a
// *NotFoundError if there is no file. It is an *Error if the content is wrong, with all problems
// and their lines.
func Load(path string) (Config, error) {
	data, err := readCapped(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, &NotFoundError{Path: path}
	}
	if err != nil {
		return Config{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	c, problems := parse(data)
	if err := asError(path, problems); err != nil {
		return Config{}, err
	}
	return c, nil
}

func parse(data []byte) (Config, []Problem) {
	c := Default()
	root, problems := document(data)
	if len(problems) > 0 {
		return c, problems
	}
	lines := map[string]int{}
	if root != nil {
		problems = readConfig(root, &c)
		lines = keyLines(root)
	}
	said := map[string]bool{}
	for _, p := range problems {
		said[p.Key] = true
	}
	for _, p := range c.problems() {
		if said[p.Key] {
			continue // the value could not even be read
		}
		p.Line = lines[p.Key]
		problems = append(problems, p)
	}
	return c, problems
}

func readConfig(root *yaml.Node, c *Config) []Problem {
	var top, bus []Setting
	var known []string
	for _, s := range Settings(c) {
		known = append(known, s.Key)
		if key, ok := strings.CutPrefix(s.Key, "bus."); ok {
			s.Key = key
			bus = append(bus, s)
		} else {
			top = append(top, s)
		}
	}
	top = append(top, Setting{Key: "bus", read: func(n *yaml.Node) error {
		if n.Kind == yaml.ScalarNode && n.Tag == "!!null" {
			return nil
		}
		return asError("", readMapping(n, "bus.", bus, known))
	}})
	return readMapping(root, "", top, known)
}

// keyLines is the line of each key, by the full name of the key, such as "bus.listen" or
// "tiers[0].exec".
func keyLines(root *yaml.Node) map[string]int {
	lines := map[string]int{}
	addLines(lines, "", root)
	return lines
}

func addLines(lines map[string]int, name string, n *yaml.Node) {
	switch n.Kind {
	case yaml.SequenceNode:
		for i, element := range n.Content {
			addLines(lines, fmt.Sprintf("%s[%d]", name, i), element)
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			full := strings.TrimPrefix(name+"."+n.Content[i].Value, ".")
			lines[full] = n.Content[i].Line
			addLines(lines, full, n.Content[i+1])
		}
	}
}
