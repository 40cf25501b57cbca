package keys

import (
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Host is a host with a key, as its own signed messages describe it. It is never changed: a word
// that changes something makes a new Host.
type Host struct {
	Alias     protocol.Name
	Key       string // the last of its history
	Hostname  string
	Addresses []string // where other hosts link up; see protocol.HostState
	Humans    []protocol.Name
	Agents    []protocol.HostedAgent
	Unread    []string // lines of its last announcement that cannot be read

	keys     []heldKey           // its history, the first key in front
	rank     int                 // its place by seniority: 0 for the founder, or unranked
	first    *protocol.HostState // what its join says; nil as long as only others have named it
	joined   *File               // that join
	declared map[string]*File    // everybody whom it has ever declared, with the first word that did so
	// everHuman are those whom it has ever declared as humans.
	everHuman map[string]bool
	humanKeys map[string][]HumanKey // the keys of each human, the first key first
}

// unranked is the rank of hosts that nobody has vouched for.
const unranked = int(^uint(0) >> 1)

// Joined reports whether the fleet knows the host's key.
func (h *Host) Joined() bool { return h != nil && h.Key != "" }

// Out reports whether the host's last key is revoked: then what it says counts no more.
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
	Since   time.Time     // when it took the place of the key before it; zero for the first key
	Until   time.Time     // until when it counts; zero for the last
	Ended   protocol.Path // the rotation by which the next key followed: the last message that the host signed with this key
	Revoked time.Time     // when it was revoked; zero if it was not
	By      string        // who revoked it: the host, or "human at host"
	Removed bool          // it was revoked because the host was removed from the fleet
}

// Keys are the keys of the host, the first key first.
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
			k.Removed = r.Word.(protocol.Revocation).Removed
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

// Has reports whether the key is in the host's history, whether it still counts or not.
func (h *Host) Has(key string) bool { return h.keyAt(key) >= 0 }

// Announced reports whether the host has joined by a word of its own. Otherwise only others have
// named it.
func (h *Host) Announced() bool { return h.first != nil }

// Declared is the first word by which the host declared that name, even if it was long ago. It is
// nil if the host never did, or if `h` is nil.
func (h *Host) Declared(name string) *File { return h.orNone().declared[name] }

// EverHuman reports whether the host has ever declared that name as one of its humans. What a human
// decided stays decided when they have left.
func (h *Host) EverHuman(name string) bool { return h.orNone().everHuman[name] }

func (h *Host) take(word *File, says protocol.HostState) {
	h.Addresses, h.Humans, h.Agents, h.Unread = says.Addresses, says.Humans, says.Agents, says.Unread
	if says.Hostname != "" {
		h.Hostname = says.Hostname
	}
	for _, n := range says.Humans {
		h.declare(n, word)
		if h.everHuman == nil {
			h.everHuman = map[string]bool{}
		}
		h.everHuman[n.String()] = true
	}
	for _, a := range says.Agents {
		h.declare(a.Name, word)
	}
}

func (h *Host) declare(name protocol.Name, word *File) {
	if h.declared[name.String()] == nil {
		h.declared[name.String()] = word
	}
}

// orNone is the host, or one that has said nothing if `h` is nil.
func (h *Host) orNone() *Host {
	if h == nil {
		return &Host{}
	}
	return h
}
