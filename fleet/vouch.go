package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Vouch has a host say which keys of others it has seen first.
type Vouch struct {
	Host  protocol.Name
	Knows []protocol.HostKey
}

// vouchedAtOnce is how many keys one message names that a host writes: the longest of
// them fit into protocol.MinMessageLimit.
const vouchedAtOnce = 100

func (c Vouch) decide(s *State, _ time.Time) ([]Draft, error) {
	var drafts []Draft
	for knows := range slices.Chunk(c.Knows, vouchedAtOnce) {
		drafts = append(drafts, s.hostDraft(protocol.ActHostVouch, protocol.Vouch{Host: c.Host, Knows: knows}))
	}
	return drafts, nil
}

// Claim is a key of a host that somebody has to vouch for.
type Claim struct {
	protocol.HostKey
	After string // the key that it follows; empty for a host's first
}

// Unvouched are the keys of other hosts that a host has to vouch for, by alias:
// those for which no host that is as senior has. It is empty for a host whose own
// word does not count, because nobody has vouched for it or its key is revoked.
func (s *State) Unvouched(by protocol.Name) []Claim {
	me, joined := s.Host(by)
	if !joined || me.rank == unranked || me.Out() {
		return nil
	}
	var all []Claim
	for _, h := range s.AllHosts() {
		if h.rank <= me.rank || h.Out() {
			continue
		}
		before := ""
		for _, held := range h.keys {
			k := protocol.HostKey{Host: h.Alias, Key: held.key}
			if rank, vouched := s.ring.vouched[k]; !vouched || rank > me.rank {
				all = append(all, Claim{k, before})
			}
			before = held.key
		}
	}
	return all
}

// Seniors are the hosts that are senior to one, the most senior first: all ranked
// ones where it is not ranked itself. Those that are out are left out.
func (s *State) Seniors(of protocol.Name) []protocol.Name {
	var all []protocol.Name
	for _, h := range s.ring.ranked {
		if h.Alias == of {
			break
		}
		if !h.Out() {
			all = append(all, h.Alias)
		}
	}
	return all
}
