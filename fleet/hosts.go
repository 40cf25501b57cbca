package fleet

import (
	"cmp"
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Host is a host with a key, as its own signed messages describe it. It does not
// change: a word that changes something makes a new one.
type Host struct {
	Alias     protocol.Name
	Key       string // the last of its history
	Hostname  string
	Addresses []string // where other hosts link up, see protocol.HostState
	Humans    []protocol.Name
	Agents    []protocol.HostedAgent
	Unread    []string // lines of its last announcement that cannot be read

	keys     []heldKey           // its history, the first key in front
	rank     int                 // its place by seniority, the founder's being 0, or unranked
	first    *protocol.HostState // what its join says; nil while only others have named it
	declared map[string]*Item    // whom it has ever declared, with the first word that did
}

// unranked is the rank of hosts that nobody has vouched for.
const unranked = int(^uint(0) >> 1)

// Joined reports whether the fleet knows the host's key.
func (h *Host) Joined() bool { return h != nil && h.Key != "" }

// Out reports whether the host's last key is revoked: what it says counts no more.
func (h *Host) Out() bool { return h.Joined() && len(h.keys[len(h.keys)-1].revoked) > 0 }

// Removed reports whether the host is out because it was removed from the fleet.
func (h *Host) Removed() bool {
	keys := h.Keys()
	return h.Out() && keys[len(keys)-1].Removed
}

// WhyOut says why a host is out, and who said so.
func (h *Host) WhyOut() string {
	keys := h.Keys()
	if h.Removed() {
		return "it was removed from the fleet by " + keys[len(keys)-1].By
	}
	return "its key was revoked by " + keys[len(keys)-1].By
}

// Founder reports whether the host is the one that began the fleet.
func (h *Host) Founder() bool { return h.Joined() && h.rank == 0 }

// HeldKey is one key of a host's history.
type HeldKey struct {
	Key     string
	Since   time.Time     // when the one before it was replaced; zero for the first
	Until   time.Time     // until when it counts; zero for the last
	Ended   protocol.Path // the rotation by which the next one followed, the last that the host signed with it
	Revoked time.Time     // when it was revoked; zero if it is not
	By      string        // who revoked it: the host, or "human at host"
	Removed bool          // because the host was removed from the fleet
}

// Keys are the keys of the host, the first one in front.
func (h *Host) Keys() []HeldKey {
	var all []HeldKey
	for i, held := range h.keys {
		k := HeldKey{Key: held.key, Until: held.until}
		if i+1 < len(h.keys) {
			k.Ended = h.keys[i+1].by.Path
		}
		if held.by != nil {
			k.Since = held.by.signedAt()
		}
		if len(held.revoked) > 0 {
			r := held.revoked[0]
			k.Revoked, k.By = r.signedAt(), r.Host.String()
			k.Removed = r.word.(protocol.Revocation).Removed
			if r.Human != "" {
				k.By = r.Human + " at " + k.By
			}
		}
		all = append(all, k)
	}
	return all
}

// Serves returns the agent of that name that the host serves.
func (h *Host) Serves(name string) (protocol.HostedAgent, bool) {
	for _, a := range h.Agents {
		if a.Name.String() == name {
			return a, true
		}
	}
	return protocol.HostedAgent{}, false
}

func (h *Host) take(word *Item, says protocol.HostState) {
	h.Addresses, h.Humans, h.Agents, h.Unread = says.Addresses, says.Humans, says.Agents, says.Unread
	if says.Hostname != "" {
		h.Hostname = says.Hostname
	}
	for _, n := range says.Humans {
		h.declare(n, word)
	}
	for _, a := range says.Agents {
		h.declare(a.Name, word)
	}
}

func (h *Host) declare(name protocol.Name, word *Item) {
	if h.declared[name.String()] == nil {
		h.declared[name.String()] = word
	}
}

// declarations are whom the host has declared, none where it is not known.
func (h *Host) declarations() map[string]*Item {
	if h == nil {
		return nil
	}
	return h.declared
}

// Host is the host of that alias, if it has joined. It may be out.
func (s *State) Host(alias protocol.Name) (*Host, bool) {
	h := s.ring.hosts[alias]
	return h, h.Joined()
}

// Hosts are the joined hosts by alias, without those that are out.
func (s *State) Hosts() []*Host {
	return slices.DeleteFunc(s.AllHosts(), (*Host).Out)
}

// BySeniority are the hosts of Hosts, the most senior first, those that nobody has
// vouched for last.
func (s *State) BySeniority() []*Host {
	all := s.Hosts()
	slices.SortStableFunc(all, func(a, b *Host) int { return cmp.Compare(a.rank, b.rank) })
	return all
}

// AllHosts are the hosts that have ever joined, by alias.
func (s *State) AllHosts() []*Host {
	var all []*Host
	for _, h := range s.ring.hosts {
		if h.first != nil {
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

// HostOfKey is the alias of the host whose key this is at that time, the last one
// or an older one that still counts: the first by name, should several hosts share
// it. A revoked key is nobody's.
func (s *State) HostOfKey(key string, now time.Time) (protocol.Name, bool) {
	for _, alias := range s.ring.aliases[key] {
		if s.HasKey(alias, key, now) {
			return alias, true
		}
	}
	return "", false
}

// RevokedHost is the alias of the host whose key this was until it was revoked: the
// first by name, should several hosts share it.
func (s *State) RevokedHost(key string) (protocol.Name, bool) {
	for _, alias := range s.ring.aliases[key] {
		h, joined := s.Host(alias)
		if joined && slices.ContainsFunc(h.Keys(), func(k HeldKey) bool { return k.Key == key && !k.Revoked.IsZero() }) {
			return alias, true
		}
	}
	return "", false
}

// HasKey reports whether the key is the host's at that time, as HostOfKey.
func (s *State) HasKey(alias protocol.Name, key string, now time.Time) bool {
	h, joined := s.Host(alias)
	return joined && h.counts(key, now) && !h.Out()
}

// KeysVersion changes whenever messages come to be judged otherwise.
func (s *State) KeysVersion() int { return s.ringed }

// NextKeyEnd is when the time of an old key will be over next, if one counts still
// at that time beside the key that has followed it.
func (s *State) NextKeyEnd(now time.Time) (next time.Time, ok bool) {
	for _, h := range s.ring.hosts {
		for _, held := range h.keys {
			if held.until.After(now) && (!ok || held.until.Before(next)) {
				next, ok = held.until, true
			}
		}
	}
	return next, ok
}

// KnowsKey reports whether the key is in the host's history, whether it counts
// still or not.
func (s *State) KnowsKey(alias protocol.Name, key string) bool {
	h, joined := s.Host(alias)
	return joined && h.keyAt(key) >= 0
}

// Signature is the state of a message's signature in this fleet: valid if a key
// signed it that was its host's then and the host declared its author, refused if
// another key signed it or the key was over, else unverified.
func (s *State) Signature(it *Item) protocol.Signature { return s.ring.signature(it) }

// Counts reports whether a key signed the message that was its host's then.
func (s *State) Counts(it *Item) bool { return s.ring.judge(it) == genuine }
