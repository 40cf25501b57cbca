package configs

import (
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/size"
	"gopkg.in/yaml.v3"
)

// Limits are what each run of an agent's command may use: "limits" in its file. 0 is no limit.
type Limits struct {
	Nice      int           // by how much it gives way to other programs
	Memory    int           // bytes
	CPU       time.Duration // processor time
	Files     int           // open files of each process
	Processes int           // processes and threads at once
	NoNetwork bool          // "network: none"
	Output    int           // bytes that it may print
}

// The networks of a run.
const (
	networkNone = "none" // no network, not even that of the machine with itself
	networkHost = "host" // the network of the node
)

// limitSettings are all limits, bound to `l`, in the order in which they are written.
func limitSettings(l *Limits) []Setting {
	sizeSetting := func(key string, at *int, low, high int) Setting {
		return rangeSetting(key, at, size.Parse, size.Exact, 0, low, high)
	}
	return []Setting{
		numberSetting("nice", &l.Nice, 0, 0, 19),
		sizeSetting("memory", &l.Memory, 16*mib, 16<<40),
		durationSetting("cpu", &l.CPU, 0, time.Second, maxTimeout),
		numberSetting("files", &l.Files, 0, 16, 1<<20),
		numberSetting("processes", &l.Processes, 0, 1, 100000),
		valueSetting("network", &l.NoNetwork, false, parseNetwork, showNetwork, plainOrQuoted),
		sizeSetting("output", &l.Output, 1000, 1<<40),
	}
}

func parseNetwork(s string) (none bool, err error) {
	if s != networkNone && s != networkHost {
		return false, fmt.Errorf("%q is neither %s nor %s", s, networkNone, networkHost)
	}
	return s == networkNone, nil
}

func showNetwork(none bool) string {
	if none {
		return networkNone
	}
	return networkHost
}

// Change sets a limit, such as "memory=2GB". "memory=" removes it.
func (l *Limits) Change(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("the limit %q is not of the form NAME=VALUE, such as memory=2GB", text)
	}
	var known []string
	for _, s := range limitSettings(l) {
		if s.Key == name {
			s.Name = s.Key
			return s.Take([]string{value})
		}
		known = append(known, "limits."+s.Key)
	}
	return unknownKey("limits."+name, known)
}

// Texts are the limits that are set, in the form that Change reads.
func (l Limits) Texts() []string {
	var texts []string
	for _, s := range limitSettings(&l) {
		if !s.unset() {
			texts = append(texts, s.Key+"="+s.yaml())
		}
	}
	return texts
}

// limitsSetting are limits. On a command line, each text changes one of them.
func limitsSetting(key string, l *Limits) Setting {
	return Setting{
		Key: key, List: true,
		read: func(n *yaml.Node) error { return asError("", readMapping(n, key+".", limitSettings(l), nil)) },
		take: func(texts []string) error {
			changed := *l
			for _, text := range texts {
				if err := changed.Change(text); err != nil {
					return err
				}
			}
			*l = changed
			return nil
		},
		yaml:  func() string { return "{" + strings.Join(keyed(limitSettings(l), false), ", ") + "}" },
		text:  func() string { return strings.Join(l.Texts(), " ") },
		unset: func() bool { return *l == Limits{} },
		reset: func() { *l = Limits{} },
		check: func() error { return asError("", wrongIn(key+".", limitSettings(l))) },
	}
}
