package fleet

import (
	"slices"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Vouch has a host say which keys of others it has seen before any other key claimed the same
// place.
type Vouch struct {
	Host  protocol.Name
	Knows []protocol.HostKey
}

// vouchedAtOnce is how many keys one message of this program names. So many of the longest keys fit
// into protocol.MinMessageLimit.
const vouchedAtOnce = 100

func (c Vouch) decide(s *State, _ time.Time) ([]Draft, error) {
	var drafts []Draft
	for knows := range slices.Chunk(c.Knows, vouchedAtOnce) {
		drafts = append(drafts, s.hostDraft(protocol.ActHostVouch, protocol.Vouch{Host: c.Host, Knows: knows}))
	}
	return drafts, nil
}
