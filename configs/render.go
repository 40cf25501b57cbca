package configs

import (
	_ "embed"
	"fmt"
	"os"
	"strings"

	"github.com/parleyfleet/parley/internal/durable"
)

// example is the documented example file. It is the reference of all keys, and has their defaults
// as values. Its fleet, alias and human are made up.
//
//go:embed config.example.yaml
var example string

// Render is the text of a config.yaml with the values of `c` and the comments of the example. Load
// reads it back if `c` is valid.
func Render(c Config) []byte {
	values := map[string]string{}
	for _, s := range Settings(&c) {
		values[s.Key] = s.yaml()
	}
	var out strings.Builder
	section := ""
	for line := range strings.Lines(example) {
		key, _, isKey := strings.Cut(line, ":")
		name := strings.TrimLeft(key, " ")
		if !isKey || strings.HasPrefix(name, "#") {
			out.WriteString(line)
			continue
		}
		if name == key {
			section = name + "."
		} else {
			name = section + name
		}
		value, ok := values[name]
		if !ok { // the beginning of a section
			out.WriteString(line)
			continue
		}
		fmt.Fprintf(&out, "%s: %s\n", key, value)
	}
	return []byte(out.String())
}

// WriteDraft writes, or replaces, the configuration of a home that is being made.
func (h Home) WriteDraft(c Config) error {
	if err := c.Validate(); err != nil {
		return fmt.Errorf("cannot write %s: %w", h.Draft(), err)
	}
	if err := writeAtomic(h.Draft(), Render(c)); err != nil {
		return fmt.Errorf("cannot write %s: %w", h.Draft(), err)
	}
	return nil
}

// TakeDraft makes the draft config.yaml, in one step: from then on the folder is a home.
func (h Home) TakeDraft() error {
	if err := os.Rename(h.Draft(), h.Config()); err != nil {
		return fmt.Errorf("cannot write %s: %w", h.Config(), err)
	}
	return durable.Folder(h.Dir)
}
