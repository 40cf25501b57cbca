package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// HostsDir is where the record keeps its host files.
const HostsDir = "hosts"

// HostFilePath is the path of the host file of alias from the record's root.
func HostFilePath(alias Name) string { return HostsDir + "/" + alias.String() + ".md" }

// UpdateHostFile renders h, with the fingerprint of its key history's current
// key, as the host file of the seed. Where old is an earlier version of the
// file, only the fields that are this program's are replaced: what a person
// wrote into others, and the text below, stays (R12). Commands are never
// written: an actor's tier carries its count alone.
func UpdateHostFile(old []byte, h HostState) ([]byte, error) {
	root, body := hostFileParts(old)
	set(root, "alias", scalar(h.Host.String()))
	set(root, "key", scalar(h.Key))
	if h.Hostname != "" {
		set(root, "hostname", scalar(h.Hostname))
	}
	setAddresses(root, h.Addresses)
	set(root, "humans", names(h.Humans))
	set(root, "actors", actors(h.Agents))
	file, err := renderHostFile(root, body)
	if err != nil {
		return nil, fmt.Errorf("cannot write the host file of %s: %w", h.Host, err)
	}
	if _, err := ParseHostFile(file); err != nil {
		// The encoder puts some comments where they break the YAML.
		dropComments(root)
		if file, err = renderHostFile(root, body); err != nil {
			return nil, fmt.Errorf("cannot write the host file of %s: %w", h.Host, err)
		}
	}
	return file, nil
}

func renderHostFile(root *yaml.Node, body string) ([]byte, error) {
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	file := append([]byte("---\n"), out.Bytes()...)
	file = append(file, "---\n"...)
	if body != "" {
		file = append(file, "\n"+body+"\n"...)
	}
	return file, nil
}

func dropComments(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, c := range n.Content {
		dropComments(c)
	}
}

// hostFileParts takes an earlier file apart; one that cannot be read counts as
// none.
func hostFileParts(old []byte) (*yaml.Node, string) {
	const about = "Written by the node of this host from its own configuration.\n" +
		"The key is a copy: keys are decided by the signed messages of the record."
	front, body, err := split(old)
	if err == nil {
		if root, err := mapping(front); err == nil {
			return root, NormalBody(body)
		}
	}
	return &yaml.Node{Kind: yaml.MappingNode}, about
}

// set replaces or appends the field key of a mapping.
func set(root *yaml.Node, key string, value *yaml.Node) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			root.Content[i+1] = value
			return
		}
	}
	root.Content = append(root.Content, scalar(key), value)
}

// setAddresses writes the addresses, and takes the field out where there are
// none: a host that only dials has nothing to say there.
func setAddresses(root *yaml.Node, addresses []string) {
	if len(addresses) == 0 {
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value == "addresses" {
				root.Content = slices.Delete(root.Content, i, i+2)
				return
			}
		}
		return
	}
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, a := range addresses {
		text := scalar(a)
		text.Style = yaml.DoubleQuotedStyle // a colon and brackets mean much to YAML
		n.Content = append(n.Content, text)
	}
	set(root, "addresses", n)
}

func scalar(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if retyped(s) {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

func names(list []Name) *yaml.Node {
	n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
	for _, name := range list {
		n.Content = append(n.Content, scalar(name.String()))
	}
	return n
}

func actors(list []HostedAgent) *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, a := range list {
		tiers := &yaml.Node{Kind: yaml.MappingNode}
		for _, t := range a.Tiers {
			count := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
			count.Content = []*yaml.Node{scalar("count"), {Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(t.Count)}}
			tiers.Content = append(tiers.Content, scalar(t.Name), count)
		}
		n.Content = append(n.Content, scalar(a.Name.String()), tiers)
	}
	return n
}

// ParseHostFile reads a host file of the record, of parley or of another
// program: alias, key, hostname, addresses, humans and actors with their tiers.
// An address that nobody could dial is passed over. A tier's
// command ("cli", or the bare string of the shorthand) is passed over: what
// arrives through the record is never run (R12).
func ParseHostFile(data []byte) (HostState, error) {
	front, _, err := split(data)
	if err != nil {
		return HostState{}, err
	}
	root, err := mapping(front)
	if err != nil {
		return HostState{}, err
	}
	var h HostState
	for i := 0; i+1 < len(root.Content); i += 2 {
		if err := h.takeFileField(root.Content[i].Value, root.Content[i+1]); err != nil {
			return HostState{}, err
		}
	}
	if h.Host == "" {
		return HostState{}, errors.New("the host file has no alias")
	}
	return h, nil
}

func (h *HostState) takeFileField(key string, value *yaml.Node) error {
	switch key {
	case "alias":
		host, err := ParseName(value.Value)
		if err != nil {
			return fmt.Errorf("field alias: %w", err)
		}
		h.Host = host
	case "key":
		h.Key = value.Value
	case "hostname":
		h.Hostname = value.Value
	case "addresses":
		for _, n := range value.Content {
			_ = h.takeAddress(n.Value)
		}
	case "humans":
		for _, n := range value.Content {
			if name, err := ParseName(n.Value); err == nil && !slices.Contains(h.Humans, name) {
				h.Humans = append(h.Humans, name)
			}
		}
	case "actors":
		agents, err := fileActors(value)
		if err != nil {
			return fmt.Errorf("field actors: %w", err)
		}
		h.Agents = agents
	}
	return nil
}

func fileActors(n *yaml.Node) ([]HostedAgent, error) {
	if key := repeated(n); key != nil {
		return nil, fmt.Errorf("line %d repeats an actor", key.Line)
	}
	var agents []HostedAgent
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, err := ParseName(n.Content[i].Value)
		if err != nil {
			return nil, err
		}
		a := HostedAgent{Name: name}
		tiers := n.Content[i+1]
		if key := repeated(tiers); key != nil {
			return nil, fmt.Errorf("actor %s: line %d repeats a tier", name, key.Line)
		}
		for j := 0; j+1 < len(tiers.Content); j += 2 {
			t, err := parseTier(tiers.Content[j].Value + "*" + fileCount(tiers.Content[j+1]))
			if err != nil {
				return nil, fmt.Errorf("actor %s: %w", name, err)
			}
			a.Tiers = append(a.Tiers, t)
		}
		agents = append(agents, a)
	}
	return agents, nil
}

// fileCount is the count of a tier: its field "count", else 1.
func fileCount(tier *yaml.Node) string {
	for i := 0; i+1 < len(tier.Content); i += 2 {
		if tier.Content[i].Value == "count" {
			return tier.Content[i+1].Value
		}
	}
	return "1"
}
