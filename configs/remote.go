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
	return edit(path, "remote: "+quoted(remote), func(c *Config) error { c.Remote = remote; return nil }, func(data []byte) iter.Seq[[]byte] {
		return slices.Values([][]byte{withRemote(data, remote)})
	})
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

// withRemote is the text of a config.yaml with another remote, in the line that had it or in a new
// line.
func withRemote(data []byte, remote string) []byte {
	said := "remote: " + quoted(remote)
	root, _ := document(data)
	key, value := entry(root, "remote")
	if key == nil {
		text := string(data)
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return []byte(text + said + "\n")
	}
	lines := strings.SplitAfter(string(data), "\n")
	line := lines[key.Line-1]
	lines[key.Line-1] = said + line[len("remote:")+scalarEnd(line[min(len(line), len("remote:")):], value):]
	return []byte(strings.Join(lines, ""))
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

// scalarEnd is the place in the rest of a line, behind its key, at which the value ends. Behind it
// come only space, a comment and the end of the line.
func scalarEnd(rest string, value *yaml.Node) int {
	begin := len(rest) - len(strings.TrimLeft(rest, " \t"))
	switch value.Style {
	case yaml.DoubleQuotedStyle:
		for i := begin + 1; i < len(rest); i++ {
			switch rest[i] {
			case '\\':
				i++
			case '"':
				return i + 1
			}
		}
	case yaml.SingleQuotedStyle:
		for i := begin + 1; i < len(rest); i++ {
			if rest[i] != '\'' {
				continue
			}
			if i+1 == len(rest) || rest[i+1] != '\'' {
				return i + 1
			}
			i++
		}
	}
	end := len(strings.TrimRight(rest, "\r\n"))
	if strings.HasPrefix(rest[begin:], "#") {
		return max(0, begin-1) // the line has nothing but a comment
	}
	if comment := strings.Index(rest, " #"); comment >= 0 {
		end = comment
	}
	return len(strings.TrimRight(rest[:end], " \t"))
}
