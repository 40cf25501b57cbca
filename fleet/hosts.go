package fleet

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

// Host is a host with a key, as its own signed messages describe it.
type Host struct {
	Alias     protocol.Name
	Key       string
	Hostname  string
	Addresses []string // where other hosts link up, see protocol.HostState
	Humans    []protocol.Name
	Agents    []protocol.HostedAgent

	joins    []*Item // host-join messages for this alias, whatever their key
	acts     []*Item // host-agents messages, whatever their key
	declared map[string]bool
}

// Joined reports whether the fleet knows the host's key.
func (h *Host) Joined() bool { return h != nil && h.Key != "" }

// Serves returns the agent of that name that the host serves.
func (h *Host) Serves(name string) (protocol.HostedAgent, bool) {
	for _, a := range h.Agents {
		if a.Name.String() == name {
			return a, true
		}
	}
	return protocol.HostedAgent{}, false
}

// Host is the host of that alias, if it has joined.
func (s *State) Host(alias protocol.Name) (*Host, bool) {
	h := s.hosts[alias]
	return h, h.Joined()
}

// Hosts are the joined hosts by alias.
func (s *State) Hosts() []*Host {
	var all []*Host
	for _, h := range s.hosts {
		if h.Joined() {
			all = append(all, h)
		}
	}
	slices.SortFunc(all, func(a, b *Host) int { return compareNames(a.Alias, b.Alias) })
	return all
}

func compareNames(a, b protocol.Name) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// HostOfKey is the alias of the host whose key this is: the first by name,
// should several hosts share it.
func (s *State) HostOfKey(key string) (protocol.Name, bool) {
	for _, h := range s.Hosts() {
		if h.Key == key {
			return h.Alias, true
		}
	}
	return "", false
}

// SetHostFile tells the state what a host file of the record says. It counts
// only for hosts without a key: those of other programs.
func (s *State) SetHostFile(h protocol.HostState) { s.files[h.Host] = h }

// DropHostFile forgets the host file of alias.
func (s *State) DropHostFile(alias protocol.Name) { delete(s.files, alias) }

// Signature is the state of a message's signature in this fleet: valid if the
// host's key signed it and the host declared its author, refused if another key
// than the host's signed it, else unverified. The key of an alias is that of its
// earliest join.
func (s *State) Signature(it *Item) protocol.Signature { return signatureOf(s.hosts, it) }

func signatureOf(hosts map[protocol.Name]*Host, it *Item) protocol.Signature {
	h := hosts[it.Host]
	switch {
	case !it.sealed || !h.Joined():
		return protocol.SignatureUnverified
	case h.Key != it.Key:
		return protocol.SignatureRefused
	case it.From != it.Host.String() && !h.declared[it.From]:
		return protocol.SignatureUnverified
	}
	return protocol.SignatureValid
}

// addToHost notes a signed message with its host, folds host acts, and reports
// whether that changed the host's key. Every signed file counts, whichever file
// wins its path: a stranger who claims the path of a host's word cannot unsay it,
// and who wins can be decided by the keys alone.
func (s *State) addToHost(it *Item) (keyed bool) {
	if !it.sealed {
		return false
	}
	who := signer{it.Host, it.Key}
	s.last[who] = later(s.last[who], it)
	h := s.hostOf(it.Host)
	if it.host == nil {
		return false
	}
	h.note(it)
	key, declared := h.Key, h.declared
	h.refold()
	s.judged++
	if key != "" && (h.Key != key || !includes(h.declared, declared)) {
		s.shaken++
	}
	return h.Key != key
}

// hostOf is what is known of the host of that alias.
func (s *State) hostOf(alias protocol.Name) *Host {
	h := s.hosts[alias]
	if h == nil {
		h = &Host{Alias: alias}
		s.hosts[alias] = h
	}
	return h
}

// note keeps a word of the host, for refold.
func (h *Host) note(it *Item) {
	if it.Act == protocol.ActHostJoin {
		h.joins = append(h.joins, it)
	} else {
		h.acts = append(h.acts, it)
	}
}

func includes(all, some map[string]bool) bool {
	for name := range some {
		if !all[name] {
			return false
		}
	}
	return true
}

// refold derives the host from its acts: the first join gives the key, every
// act of that key declares names, the last one says who is served now.
func (h *Host) refold() {
	slices.SortFunc(h.joins, byTimestamp)
	slices.SortFunc(h.acts, byPath)
	h.Key, h.Hostname, h.Addresses, h.Humans, h.Agents, h.declared = "", "", nil, nil, nil, map[string]bool{}
	if len(h.joins) > 0 {
		first := h.joins[0].host
		h.Key = first.Key
		h.take(first)
	}
	for _, it := range h.acts {
		if it.Key == h.Key {
			h.take(it.host)
		}
	}
}

// byTimestamp orders joins by what stands in them alone. Their place would depend
// on which of other contested files count, and that on the keys which the joins
// decide.
func byTimestamp(a, b *Item) int {
	if c := a.Timestamp.Compare(b.Timestamp); c != 0 {
		return c
	}
	return byPath(a, b)
}

// byPath is the order in which one host wrote: its paths strictly rise.
func byPath(a, b *Item) int {
	if c := a.Path.Compare(b.Path); c != 0 {
		return c
	}
	return strings.Compare(a.Hash, b.Hash)
}

func (h *Host) take(says *protocol.HostState) {
	h.Addresses, h.Humans, h.Agents = says.Addresses, says.Humans, says.Agents
	if says.Hostname != "" {
		h.Hostname = says.Hostname
	}
	for _, n := range says.Humans {
		h.declared[n.String()] = true
	}
	for _, a := range says.Agents {
		h.declared[a.Name.String()] = true
	}
}

// later is the one with the greater path, of items of one signer.
func later(a, b *Item) *Item {
	if a != nil && byPath(a, b) > 0 {
		return a
	}
	return b
}
