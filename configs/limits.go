package configs

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/size"
	"github.com/parleyfleet/parley/internal/span"
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
func limitSettings(l *Limits) []setting {
	return []setting{
		numberSetting("nice", &l.Nice),
		valueSetting("memory", &l.Memory, size.Parse, size.Exact),
		durationSetting("cpu", &l.CPU),
		numberSetting("files", &l.Files),
		numberSetting("processes", &l.Processes),
		valueSetting("network", &l.NoNetwork, parseNetwork, showNetwork),
		valueSetting("output", &l.Output, size.Parse, size.Exact),
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

// problems are the values that are out of their ranges.
func (l Limits) problems() []Problem {
	const (
		minMemory, maxMemory = 16 * mib, 16 << 40
		minFiles, maxFiles   = 16, 1 << 20
		maxNice              = 19
		maxProcesses         = 100000
		minOutput, maxOutput = 1000, 1 << 40
	)
	var ps []Problem
	add := func(key string, set bool, err error) {
		if set && err != nil {
			ps = append(ps, Problem{Key: "limits." + key, Text: err.Error()})
		}
	}
	add("nice", true, checkRange(l.Nice, 0, maxNice, strconv.Itoa))
	add("memory", l.Memory != 0, checkRange(l.Memory, minMemory, maxMemory, size.Exact))
	add("cpu", l.CPU != 0, checkRange(l.CPU, time.Second, maxTimeout, span.Exact))
	add("files", l.Files != 0, checkRange(l.Files, minFiles, maxFiles, strconv.Itoa))
	add("processes", l.Processes != 0, checkRange(l.Processes, 1, maxProcesses, strconv.Itoa))
	add("output", l.Output != 0, checkRange(l.Output, minOutput, maxOutput, size.Exact))
	return ps
}

// Change sets a limit, such as "memory=2GB". "memory=" removes it.
func (l *Limits) Change(text string) error {
	name, value, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("the limit %q is not of the form NAME=VALUE, such as memory=2GB", text)
	}
	if value == "" {
		for _, s := range limitSettings(new(Limits)) {
			if s.key == name {
				value = s.show()
			}
		}
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: name}, {Kind: yaml.ScalarNode, Value: value}}}
	return readLimits(n, l)
}

// Texts are the limits that are set, in the form that Change reads.
func (l Limits) Texts() []string {
	var texts []string
	none := limitSettings(new(Limits))
	for i, s := range limitSettings(&l) {
		if value := s.show(); value != none[i].show() {
			texts = append(texts, s.key+"="+value)
		}
	}
	return texts
}

// readLimits reads "limits" of an agent's file.
func readLimits(n *yaml.Node, l *Limits) error {
	if n.Kind != yaml.MappingNode {
		return errors.New("should hold limits and their values, such as  {memory: 2GB, nice: 10}")
	}
	var fields []field
	for _, s := range limitSettings(l) {
		fields = append(fields, asField(s))
	}
	return asError("", readMapping(n, "limits.", fields, nil))
}

// yaml is the limits in the form of the file, nil if there are none.
func (l Limits) yaml() *yaml.Node {
	texts := l.Texts()
	if len(texts) == 0 {
		return nil
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, &yaml.Node{Kind: yaml.ScalarNode, Value: value})
	}
	return n
}
