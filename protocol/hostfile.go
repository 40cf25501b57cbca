package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/pattern"
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
	since, err := time.Parse(TimestampLayout, hostFileField(file, "removed"))
	return since, err == nil
}

// HostFileUser is the user of the host's machine whose host it is, by its file; "" if the file does
// not say. Several hosts of one machine differ by it (R11).
func HostFileUser(file []byte) string { return hostFileField(file, "username") }

func hostFileField(file []byte, key string) string {
	root, _ := hostFileParts(file)
	if i := fieldAt(root, key); i >= 0 {
		return root.Content[i+1].Value
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

func set(root *yaml.Node, key string, value *yaml.Node) {
	if i := fieldAt(root, key); i >= 0 {
		root.Content[i+1] = value
		return
	}
	root.Content = append(root.Content, scalar(key), value)
}

func unset(root *yaml.Node, key string) {
	if i := fieldAt(root, key); i >= 0 {
		root.Content = slices.Delete(root.Content, i, i+2)
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
	content := each.Of(list, func(name Name) *yaml.Node { return scalar(name.String()) })
	return &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: content}
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
			count := "1"
			if i := fieldAt(value, "count"); i >= 0 {
				count = value.Content[i+1].Value
			}
			t, err := parseTier(tier + "*" + count)
			if err != nil || slices.ContainsFunc(a.Tiers, func(u Tier) bool { return u.Name == t.Name }) {
				h.Unread = append(h.Unread, "actor "+name.Value+", tier: "+oneLine(tier))
				continue
			}
			a.Tiers = append(a.Tiers, t)
		}
		h.Agents = append(h.Agents, a)
	}
}

// FounderPath is the path of the file in the first commit of a record that says who began the
// record.
const FounderPath = "local/FOUNDER.md"

const founderText = `This host began the record. The file counts as it stands in the record's first
commit, whose hash is the record's id; what later commits make of it counts for
nothing. The humans may have keys of hosts revoked through this host.`

// FormatFounder writes the file at FounderPath: the host that begins a record, its
// key, and the humans who may have keys revoked.
func FormatFounder(h HostState) ([]byte, error) {
	root, _ := hostFileParts(nil)
	set(root, "alias", scalar(h.Host.String()))
	set(root, "key", scalar(h.Key))
	set(root, "humans", names(h.Humans))
	return encodeFile(root, founderText)
}

// ParseFounder reads a file that FormatFounder wrote. Fields that it does not know
// are passed over.
func ParseFounder(data []byte) (HostState, error) {
	h, err := ParseHostFile(data)
	if err != nil {
		return HostState{}, fmt.Errorf("%s: %w", FounderPath, err)
	}
	if err := CheckKey(h.Key); err != nil {
		return HostState{}, fmt.Errorf("%s: %w", FounderPath, err)
	}
	if len(h.Humans) == 0 {
		return HostState{}, errors.New(FounderPath + ": it names no human")
	}
	return HostState{Host: h.Host, Key: h.Key, Humans: h.Humans}, nil
}

// MaxAddresses is how many addresses a host may have.
const MaxAddresses = 8

// maxHostName bounds a name of the domain name system, in bytes.
const maxHostName = 253

var hostNamePattern = pattern.New(`^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$`)

// SplitHostPort splits the address of a host, "host:port" or "[IPv6]:port". It insists on both
// parts. The host is an IP address without a zone, or a name of the domain name system. The port is
// at most 65535; the port 0 is only for listeners.
func SplitHostPort(address string) (host string, port uint16, err error) {
	i := strings.LastIndexByte(address, ':')
	if i < 0 {
		return "", 0, fmt.Errorf("address %q is not host:port, such as 192.0.2.7:4222", address)
	}
	host, text := address[:i], address[i+1:]
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || strconv.FormatUint(n, 10) != text {
		return "", 0, fmt.Errorf("address %q has no port from 0 to 65535", address)
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, ok = strings.CutSuffix(inner, "]")
		if ip, err := netip.ParseAddr(inner); !ok || err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", 0, fmt.Errorf("address %q holds no IPv6 address between its brackets", address)
		}
		return inner, uint16(n), nil
	}
	if len(host) > maxHostName || !hostNamePattern.MatchString(host) {
		return "", 0, fmt.Errorf("address %q names no host", address)
	}
	return host, uint16(n), nil
}

// CheckHostPort returns an error if others could not dial the address. It must name a host and a
// port. The host must not stand for all addresses of a machine.
func CheckHostPort(address string) error {
	host, port, err := SplitHostPort(address)
	if err != nil {
		return err
	}
	if port == 0 {
		return fmt.Errorf("address %q has no port from 1 to 65535", address)
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Unmap().IsUnspecified() {
		return fmt.Errorf("address %q means all addresses of a machine, of which others cannot know which to dial", address)
	}
	return nil
}

// IsLoopback reports whether the host of an address means this machine alone.
func IsLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

// takeAddress adds an address to the host's list.
func (h *HostState) takeAddress(address string) error {
	if err := CheckHostPort(address); err != nil {
		return err
	}
	if slices.Contains(h.Addresses, address) {
		return nil
	}
	if len(h.Addresses) == MaxAddresses {
		return errors.New("a host has at most " + strconv.Itoa(MaxAddresses) + " addresses")
	}
	h.Addresses = append(h.Addresses, address)
	return nil
}

// HostFileCommands are the actors of a host file for which the file states a command, in the order
// of the file. The node of a host writes no command, and no node runs one from the record (R12). So
// somebody else has written it. A file that cannot be read has none.
func HostFileCommands(data []byte) []string {
	root, _ := hostFileParts(data)
	var found []string
	for field, actors := range eachField(root) {
		if field != "actors" {
			continue
		}
		for actor, tiers := range eachField(actors) {
			if stateCommand(tiers) {
				found = append(found, actor)
			}
		}
	}
	return found
}

// stateCommand reports whether one of an actor's tiers has a command: as its field
// "cli", or as the bare string of the shorthand.
func stateCommand(tiers *yaml.Node) bool {
	for _, tier := range eachField(tiers) {
		if tier.Kind == yaml.ScalarNode && tier.Tag == "!!str" || fieldAt(tier, "cli") >= 0 {
			return true
		}
	}
	return false
}

func fieldAt(mapping *yaml.Node, key string) int {
	for i := 0; mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return i
		}
	}
	return -1
}

// eachField are the keys of a mapping with their values, in its order.
func eachField(mapping *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 0; mapping.Kind == yaml.MappingNode && i+1 < len(mapping.Content); i += 2 {
			if !yield(mapping.Content[i].Value, mapping.Content[i+1]) {
				return
			}
		}
	}
}
