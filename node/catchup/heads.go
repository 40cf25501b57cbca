package catchup

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/protocol"
)

const (
	headAfterWord = time.Second            // after the last message
	headAfterLink = 200 * time.Millisecond // after a link has come up, because several often do
)

// Wrote says that this host has published a message.
func (m *Mender) Wrote() { wait.Nudge(m.wrote) }

// Linked says that a link came up.
func (m *Mender) Linked() { wait.Nudge(m.linked) }

// TellHeads tells the other hosts how far the chain of this host goes: a moment after its last
// message, when a link comes up, and at the start. So no host misses the last message before a
// silence (DESIGN section 7). At the same moments, it looks for what this host may have missed. It
// ends with `ctx`.
func (m *Mender) TellHeads(ctx context.Context) {
	timer := time.NewTimer(headAfterLink)
	defer timer.Stop()
	linked := true
	for {
		select {
		case <-m.wrote:
			if !linked {
				timer.Reset(headAfterWord)
			}
		case <-m.linked:
			timer.Reset(headAfterLink)
			linked = true
		case <-timer.C:
			m.publishHeads(linked)
			if linked {
				m.checkChains()
			}
			linked = false
		case <-ctx.Done():
			return
		}
	}
}

func (m *Mender) publishHeads(linked bool) {
	b := m.Bus()
	if b == nil {
		return
	}
	if err := b.PublishHeads(m.heads(linked)); err != nil {
		m.Log.Debug().Err(err).Msg("cannot tell how far the chain of this host goes")
	}
}

// heads are the last message of this host, and those of hosts that are away and have messages which
// the remote lacks. What this host has heard of those may be nowhere else. If a link has come up,
// they are those of all such hosts, away or not: the hosts behind the link have not heard them in
// the meantime, and the hosts that wrote them do not know that a link came up.
func (m *Mender) heads(linked bool) (heads []protocol.Head) {
	type last struct {
		protocol.Head
		other bool
	}
	var all []last
	m.Folded(func(s *fleet.State) {
		for _, h := range s.Keys().Hosts() {
			if it, ok := s.Chains.LastOf(h.Alias); ok {
				head := protocol.Head{Host: h.Alias, Run: it.Run, Seq: it.Seq, Hash: it.Hash, Path: it.Path}
				all = append(all, last{head, h.Alias != m.Host})
			}
		}
	})
	for _, h := range all {
		if _, err := protocol.DecodeHeads(protocol.EncodeHeads([]protocol.Head{h.Head})); err != nil {
			continue // another program has written a run that no head letter can tell
		}
		if h.other {
			if _, live := m.Live.PresenceOf(h.Host); live && !linked || m.Record.Place(h.Path) == gitsync.Pushed {
				continue
			}
		}
		heads = append(heads, h.Head)
	}
	return heads
}
