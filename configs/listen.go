package configs

import (
	"iter"
	"slices"
	"strings"
)

// SetListen changes bus.listen in a config.yaml, as SetRemote changes the remote.
func SetListen(path, address string) error {
	said := "listen: " + quoted(address)
	return edit(path, "bus: {"+said+"}", func(c *Config) error { c.Bus.Listen = address; return nil }, func(data []byte) iter.Seq[[]byte] {
		return slices.Values([][]byte{withListen(data, said)})
	})
}

// withListen is the text of a config.yaml with another line of bus.listen: in the place of the one that
// was there, below the key bus, or at the end.
func withListen(data []byte, said string) []byte {
	lines := strings.SplitAfter(string(data), "\n")
	root, _ := document(data)
	bus, settings := entry(root, "bus")
	if bus == nil {
		return []byte(strings.TrimRight(string(data), "\n") + "\nbus:\n  " + said + "\n")
	}
	key, value := entry(settings, "listen")
	if key == nil {
		return []byte(strings.Join(slices.Insert(lines, bus.Line, "  "+said+"\n"), ""))
	}
	line, behind := lines[key.Line-1], key.Column-1+len("listen:")
	rest := line[min(len(line), behind):]
	lines[key.Line-1] = line[:key.Column-1] + said + rest[scalarEnd(rest, value):]
	return []byte(strings.Join(lines, ""))
}
