package configs

import (
	"fmt"
	"iter"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// SetRemote changes "remote" in a config.yaml, and not a byte besides, because the rest is people's
// own text. It returns an error for a file that Load refuses. It also does for one in which a
// change of one line does not change the remote.
func SetRemote(path, remote string) error {
	said := "remote: " + quoted(remote)
	return edit(path, said, func(c *Config) error { c.Remote = remote; return nil }, func(data []byte) iter.Seq[[]byte] { return withRemote(data, said) })
}

// edit changes a config.yaml: `change` says what it is to mean, and the first of `texts` that means
// that is written. `said` is what a person would write.
func edit(path, said string, change func(*Config) error, texts func(data []byte) iter.Seq[[]byte]) error {
	at, err := filepath.EvalSymlinks(path) // the file may be kept elsewhere
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	data, err := readCapped(at)
	if err != nil {
		return fmt.Errorf("cannot read %s: %w", path, err)
	}
	want, problems := parse(data)
	if err := asError(path, problems); err != nil {
		return err
	}
	if err := change(&want); err != nil {
		return err
	}
	if err := want.Validate(); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	for text := range texts(data) {
		if got, problems := parse(text); len(problems) > 0 || !reflect.DeepEqual(got, want) {
			continue
		}
		if err := writeAtomic(at, text); err != nil {
			return fmt.Errorf("cannot write %s: %w", path, err)
		}
		return nil
	}
	return fmt.Errorf("cannot change %s, which is not written line by line: write  %s  into it", path, said)
}

// withRemote are the forms that a config.yaml with another remote can have: with it in the place of the
// one that was there, or at the end.
func withRemote(data []byte, said string) iter.Seq[[]byte] {
	root, _ := document(data)
	if key, value := entry(root, "remote"); key != nil {
		return withValue(data, key, value, said)
	}
	text := string(data)
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return slices.Values([][]byte{[]byte(text + said + "\n")})
}

// withValue are the forms that a config.yaml can have in which a key and its value are replaced. Where
// the value ends in its line is tried out: behind it come only space and a comment, which stay.
func withValue(data []byte, key, value *yaml.Node, said string) iter.Seq[[]byte] {
	lines := strings.SplitAfter(string(data), "\n")
	line := lines[key.Line-1]
	least := key.Column + len(key.Value) // behind the colon
	if value.Line == key.Line {
		least = max(least, value.Column-1+len(value.Value))
	}
	return func(yield func([]byte) bool) {
		for end := min(least, len(line)); end <= len(line); end++ {
			lines[key.Line-1] = line[:key.Column-1] + said + line[end:]
			if !yield([]byte(strings.Join(lines, ""))) {
				return
			}
		}
	}
}

// entry is a key of a mapping and its value. Both are nil if the key is not there.
func entry(root *yaml.Node, name string) (key, value *yaml.Node) {
	if root == nil {
		return nil, nil
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == name {
			return root.Content[i], root.Content[i+1]
		}
	}
	return nil, nil
}
