package configs

import (
	"iter"
	"slices"
	"strings"
)

// SetListen changes bus.listen in a config.yaml, as SetRemote changes the remote.
func SetListen(path, address string) error {
	said := "listen: " + quoted(address)
	return edit(path, "bus: {"+said+"}", func(c *Config) error { c.Bus.Listen = address; return nil }, func(data []byte) iter.Seq[[]byte] { return withBus(data, "listen", said) })
}

// SetLinks changes bus.links and bus.advertise in a config.yaml, as SetRemote changes the remote.
func SetLinks(path, address string, advertise []string) error {
	shown := slices.Clone(advertise)
	for i, a := range shown {
		shown[i] = quoted(a)
	}
	links, told := "links: "+quoted(address), "advertise: ["+strings.Join(shown, ", ")+"]"
	change := func(c *Config) error { c.Bus.Links, c.Bus.Advertise = address, slices.Clone(advertise); return nil }
	return edit(path, "bus: {"+links+", "+told+"}", change, func(data []byte) iter.Seq[[]byte] {
		return func(yield func([]byte) bool) {
			for one := range withBus(data, "links", links) {
				if !yield(one) {
					return
				}
				for both := range withBus(one, "advertise", told) {
					if !yield(both) {
						return
					}
				}
			}
		}
	})
}

// withBus are the forms that a config.yaml with another value of a key of bus can have: with `said` in
// the place of what was there, below the key bus, or at the end.
func withBus(data []byte, name, said string) iter.Seq[[]byte] {
	root, _ := document(data)
	bus, settings := entry(root, "bus")
	text := strings.TrimRight(string(data), "\n") + "\nbus:\n  " + said + "\n"
	if bus != nil {
		if key, value := entry(settings, name); key != nil {
			return withValue(data, key, value, said)
		}
		text = strings.Join(slices.Insert(strings.SplitAfter(string(data), "\n"), bus.Line, "  "+said+"\n"), "")
	}
	return slices.Values([][]byte{[]byte(text)})
}
