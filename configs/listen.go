package configs

import (
	"iter"
	"slices"
	"strings"
)

// SetListen changes bus.listen in a config.yaml, as SetRemote changes the remote.
func SetListen(path, address string) error {
	said := "listen: " + quoted(address)
	return edit(path, "bus: {"+said+"}", func(c *Config) error { c.Bus.Listen = address; return nil }, func(data []byte) iter.Seq[[]byte] { return withListen(data, said) })
}

// withListen are the forms that a config.yaml with another bus.listen can have: with it in the place of
// the one that was there, below the key bus, or at the end.
func withListen(data []byte, said string) iter.Seq[[]byte] {
	root, _ := document(data)
	bus, settings := entry(root, "bus")
	text := strings.TrimRight(string(data), "\n") + "\nbus:\n  " + said + "\n"
	if bus != nil {
		if key, value := entry(settings, "listen"); key != nil {
			return withValue(data, key, value, said)
		}
		text = strings.Join(slices.Insert(strings.SplitAfter(string(data), "\n"), bus.Line, "  "+said+"\n"), "")
	}
	return slices.Values([][]byte{[]byte(text)})
}
