package configs

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
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

// isTemp reports whether that is the name of an unfinished file. Readers pass over such files.
func isTemp(name string) bool { return strings.HasPrefix(name, durable.TempPrefix) }

// writeAtomic puts `data` at `path`. After a crash, either the old file or the new one is there,
// complete. The file has mode 0600.
func writeAtomic(path string, data []byte) error {
	return durable.WriteFile(path, data, privateFile)
}

// moveToNew moves `from` to a path that no file had, and makes the change of both folders durable.
// The error matches fs.ErrExist if the path is taken.
func moveToNew(from, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, privateFile)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		os.Remove(to) // the file that this function made, which is empty
		return err
	}
	if err := durable.Folder(filepath.Dir(to)); err != nil {
		return err
	}
	return durable.Folder(filepath.Dir(from))
}
