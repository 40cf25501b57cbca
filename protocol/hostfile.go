package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"gopkg.in/yaml.v3"
)

// HostsDir is where the record keeps its host files.
const HostsDir = "hosts"

// HostFilePath is the path of the host file of alias from the record's root.
func HostFilePath(alias Name) string { return HostsDir + "/" + alias.String() + ".md" }

// UpdateHostFile writes `h` as the host file of the seed, with the fingerprint of h.Key. If `old`
// is an earlier version of the file, it replaces only the fields that are this program's. What a
// person wrote into other fields, and the text below, stays (R12). It never writes commands: an
// actor's tier carries only its count.
func UpdateHostFile(old []byte, h HostState) ([]byte, error) {
	file, err := updateHostFile(old, h)
	if err == nil {
		err = checkHostFile(file)
	}
	if err != nil && len(old) > 0 { // something that a person wrote there makes it unreadable
		file, err = updateHostFile(nil, h)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot write the host file of %s: %w", h.Host, err)
	}
	return file, nil
}

func updateHostFile(old []byte, h HostState) ([]byte, error) {
	root, body := hostFileParts(old)
	set(root, "alias", scalar(h.Host.String()))
	set(root, "key", scalar(h.Key))
	if h.Hostname != "" {
		set(root, "hostname", scalar(h.Hostname))
	}
	setAddresses(root, h.Addresses)
	set(root, "humans", names(h.Humans))
	set(root, "actors", actors(h.Agents))
	unset(root, "removed")
	return renderFile(root, body, checkHostFile)
}

// checkHostFile returns an error if a reader would leave something out of the host file.
func checkHostFile(file []byte) error {
	h, err := ParseHostFile(file)
	if err == nil && len(h.Unread) > 0 {
		err = fmt.Errorf("%q cannot be read", h.Unread[0])
	}
	return err
}

// RetireHostFile is UpdateHostFile for a host that is out since the time `since`. The host serves
// nobody and is reached nowhere. The field "removed" says since when. The host's name stays taken.
func RetireHostFile(old []byte, h HostState, since time.Time) ([]byte, error) {
	h.Agents, h.Humans, h.Addresses = nil, nil, nil
	file, err := UpdateHostFile(old, h)
	if err != nil {
		return nil, err
	}
	root, body := hostFileParts(file)
	set(root, "removed", scalar(since.UTC().Format(TimestampLayout)))
	return encodeFile(root, body)
}

// HostFileRemoved says since when a host is out, by its file. `ok` is false for a host that is not
// out.
func HostFileRemoved(file []byte) (since time.Time, ok bool) {
	root, _ := hostFileParts(file)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "removed" {
			since, err := time.Parse(TimestampLayout, root.Content[i+1].Value)
			return since, err == nil
		}
	}
	return time.Time{}, false
}

// HostFileUser is the user of the host's machine whose host it is, by its file; "" if the file does
// not say. Several hosts of one machine differ by it (R11).
func HostFileUser(file []byte) string {
	root, _ := hostFileParts(file)
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == "username" {
			return root.Content[i+1].Value
		}
	}
	return ""
}

// renderFile writes a changed frontmatter and the body as a file. The YAML encoder puts some
// comments where they break the YAML. If `check` then cannot read the file, it is written without
// comments.
func renderFile(root *yaml.Node, body string, check func([]byte) error) ([]byte, error) {
	file, err := encodeFile(root, body)
	if err != nil || check(file) == nil {
		return file, err
	}
	dropComments(root)
	return encodeFile(root, body)
}

func encodeFile(root *yaml.Node, body string) ([]byte, error) {
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

// hostFileParts takes an earlier file apart. A file that cannot be read counts as none.
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

// unset takes the field key out of a mapping.
func unset(root *yaml.Node, key string) {
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value == key {
			root.Content = slices.Delete(root.Content, i, i+2)
			return
		}
	}
}

// setAddresses writes the addresses. If there are none, it removes the field: a host that only
// dials has no addresses to tell.
func setAddresses(root *yaml.Node, addresses []string) {
	if len(addresses) == 0 {
		unset(root, "addresses")
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

// ParseHostFile reads a host file of the record, whether parley or another program wrote it: alias,
// key, hostname, addresses, humans and actors with their tiers. It passes over an address that
// nobody could dial. It also passes over a tier's command ("cli", or the bare string of the
// shorthand), because what arrives through the record is never run (R12).
//
// Other programs choose names of hosts and actors freely, so a name need only be one that can be
// addressed. An actor, human or tier that cannot be read is left out, and Unread says which.
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
		if err := CheckForeignName(value.Value); err != nil {
			return fmt.Errorf("field alias: %w", err)
		}
		h.Host = Name(value.Value)
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
			if name := Name(n.Value); !h.addressable("human", n.Value) || slices.Contains(h.Humans, name) {
				continue
			}
			h.Humans = append(h.Humans, Name(n.Value))
		}
	case "actors":
		h.takeFileActors(value)
	}
	return nil
}

// addressable reports whether a name of a host file can be addressed. If it cannot, it notes the
// name in Unread.
func (h *HostState) addressable(kind, name string) bool {
	if CheckForeignName(name) != nil || name == All {
		h.Unread = append(h.Unread, kind+": "+oneLine(name))
		return false
	}
	return true
}

func (h *HostState) takeFileActors(actors *yaml.Node) {
	for i := 0; i+1 < len(actors.Content); i += 2 {
		name, tiers := actors.Content[i], actors.Content[i+1]
		if name.Kind != yaml.ScalarNode || slices.ContainsFunc(h.Agents, func(a HostedAgent) bool { return a.Name.String() == name.Value }) {
			h.Unread = append(h.Unread, "actor: "+oneLine(name.Value)+" (twice, or no plain name)")
			continue
		}
		if !h.addressable("actor", name.Value) {
			continue
		}
		a := HostedAgent{Name: Name(name.Value)}
		for tier, value := range eachField(tiers) {
			t, err := parseTier(tier + "*" + fileCount(value))
			if err != nil || slices.ContainsFunc(a.Tiers, func(u Tier) bool { return u.Name == t.Name }) {
				h.Unread = append(h.Unread, "actor "+name.Value+", tier: "+oneLine(tier))
				continue
			}
			a.Tiers = append(a.Tiers, t)
		}
		h.Agents = append(h.Agents, a)
	}
}

// fileCount is the count of a tier: its field "count", or 1 without that field.
func fileCount(tier *yaml.Node) string {
	for i := 0; i+1 < len(tier.Content); i += 2 {
		if tier.Content[i].Value == "count" {
			return tier.Content[i+1].Value
		}
	}
	return "1"
}
