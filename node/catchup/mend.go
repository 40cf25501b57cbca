package catchup

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/protocol"
)

const (
	askedAtOnce = 3                // hosts that are asked in one attempt
	resendWait  = 10 * time.Second // for one answer
	// largeGap is how many missing messages are fetched from the remote, if that can be used, and
	// not asked for. fetchWait is how long a fetch is waited for.
	largeGap  = 2000
	fetchWait = 3 * time.Second
)

// Mender keeps the chains of hosts whole. It finds what is missing of them here, and asks hosts
// that may have it. It tells the other hosts how far chains go here, so that they find what they
// lack themselves.
type Mender struct {
	MenderOptions
	gaps *gaps

	// Each holds a token.
	wrote  chan struct{} // this host has published a message
	linked chan struct{} // a link came up
}

// MenderOptions are what a Mender works with. All are required.
type MenderOptions struct {
	Host   protocol.Name // this host: of its own chain it lacks nothing
	Folded folded.State
	Live   *presence.Live
	Record *gitsync.Record
	Bus    func() *bus.Bus // nil if there is none
	// LetIn lets in what a host has sent again of another host's chain, or of its own. It returns
	// how many messages were new here.
	LetIn func(by, of protocol.Name, messages []protocol.Resent) int
	Came  func() // something that was missing has come
	Log   zerolog.Logger
}

// NewMender makes a Mender that knows of nothing that is missing.
func NewMender(o MenderOptions) *Mender {
	return &Mender{MenderOptions: o, gaps: newGaps(), wrote: make(chan struct{}, 1), linked: make(chan struct{}, 1)}
}

// Missing is a gap, with what is known about it.
type Missing struct {
	keys.Gap
	after End
}

// Missed has gaps asked for that the hosts of the chains themselves have told of.
func (m *Mender) Missed(all []Missing) {
	for _, one := range all {
		m.gaps.add(one.Host, one.Gap, one.after)
	}
}

// Counts returns how many gaps there are that were asked for in vain, and how many were closed, and
// left to git, since the start.
func (m *Mender) Counts() (open int, closed, givenUp uint64) { return m.gaps.counts() }

// GapBefore is the gap before a message that has just been taken in. `before` is where its host's
// chain ended until then.
func (m *Mender) GapBefore(s *fleet.State, it *fleet.Item, before End) (Missing, bool) {
	gap, ok := s.Chains.GapBefore(it)
	if !ok || it.Host == m.Host {
		return Missing{}, false
	}
	if before.Path.Compare(it.Path) >= 0 {
		before = End{} // it came late, and it is not known where the hole begins
	}
	return Missing{gap, before}, true
}

// Awaited are messages that revocations leave in but that are not here.
func (m *Mender) Awaited(s *fleet.State) (all []Missing) {
	for _, gap := range s.Chains.Awaited(mostOfOne) {
		if gap.Host != m.Host {
			all = append(all, Missing{Gap: gap})
		}
	}
	return all
}

// EndOf is where the chain of a host ends here.
func EndOf(s *fleet.State, host protocol.Name) End {
	if last, ok := s.Chains.LastOf(host); ok {
		return EndAt(last)
	}
	return End{}
}

// HeardHeads takes in how far chains go, as far as another host knows.
func (m *Mender) HeardHeads(from protocol.Name, heads []protocol.Head) {
	var found []Missing
	m.Folded(func(s *fleet.State) {
		for _, h := range heads {
			if _, joined := s.Keys().Host(h.Host); !joined || h.Host == m.Host || s.Chains.Knows(h.Hash) {
				continue
			}
			after := EndOf(s, h.Host)
			if after.Path.Compare(h.Path) >= 0 {
				after = End{}
			}
			found = append(found, Missing{keys.Gap{Host: h.Host, Hash: h.Hash, Path: h.Path, Run: h.Run, Seq: h.Seq}, after})
		}
	})
	for _, one := range found {
		m.gaps.add(from, one.Gap, one.after)
	}
}

// checkChains looks for holes among the last messages of every host, such as a start or a silence
// leaves behind.
func (m *Mender) checkChains() {
	var hosts []protocol.Name
	var awaited []Missing
	m.Folded(func(s *fleet.State) {
		hosts = each.Of(s.Keys().Hosts(), func(h *keys.Host) protocol.Name { return h.Alias })
		awaited = m.Awaited(s)
	})
	m.Missed(awaited)
	for _, host := range hosts {
		if one, ok := m.lastGap(host); ok {
			m.gaps.add(host, one.Gap, one.after)
		}
	}
}

// lastGap is the last hole in the chain of another host, if it is not too far back.
func (m *Mender) lastGap(host protocol.Name) (one Missing, ok bool) {
	m.Folded(func(s *fleet.State) {
		chain := s.Chains.Back(host, EndOf(s, host).Hash, protocol.Path{}, protocol.MaxResent)
		if len(chain) > 0 {
			one, ok = m.GapBefore(s, chain[0], End{})
		}
	})
	return one, ok
}

// MendAlways mends chains, a few at a time, until ctx ends.
func (m *Mender) MendAlways(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, atOnce)
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	for {
		due, next := m.gaps.take(atOnce - len(places))
		for _, key := range due {
			places <- struct{}{}
			running.Go(func() { // ends with the mending of its chain, or with ctx
				defer func() { <-places }()
				m.gaps.rest(key, m.mend(ctx, key))
			})
		}
		timer.Reset(next)
		select {
		case <-m.gaps.wake:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// mend asks for what is missing of a chain, as long as something comes.
func (m *Mender) mend(ctx context.Context, key told) (o outcome) {
	fetched := false
	for ctx.Err() == nil {
		one, ok := m.firstMissing(key)
		if !ok {
			return o
		}
		if !fetched && one.isLarge() && m.canFetch() {
			fetched = true
			m.Record.Ring()
			wait.Sleep(ctx, fetchWait)
			continue
		}
		came, busy := m.askAround(ctx, key, one)
		if !came {
			m.Record.Ring() // the missing messages may be on the remote
			o.Busy = busy
			return o
		}
		o.Progress = true
		m.Came()
	}
	return o
}

// firstMissing is the earliest gap of a chain that is still there.
func (m *Mender) firstMissing(key told) (first Missing, ok bool) {
	wants, after := m.gaps.of(key)
	var there []string
	m.Folded(func(s *fleet.State) {
		for hash, gap := range wants {
			if s.Chains.Knows(hash) {
				there = append(there, hash)
			} else if !ok || gap.Path.Compare(first.Path) < 0 {
				first, ok = Missing{Gap: gap}, true
			}
		}
		for chain := chainOn(s, key.Host, after); len(chain) > 0; chain = chainOn(s, key.Host, after) {
			after = EndAt(&chain[len(chain)-1].File)
		}
	})
	m.gaps.filled(key, there, after)
	if first.after = after; after.Path.Compare(first.Path) >= 0 {
		first.after = End{}
	}
	return first, ok
}

// chainOn is what follows the end of a chain without a hole.
func chainOn(s *fleet.State, host protocol.Name, after End) []*fleet.Item {
	if after.Hash == "" {
		return nil
	}
	return s.Chains.On(host, after.Hash, "", protocol.MaxResent)
}

// isLarge reports whether so many messages are missing that a fetch brings them faster.
func (one Missing) isLarge() bool {
	return one.Run == one.after.Run && one.Seq > one.after.Seq+largeGap
}

func (m *Mender) canFetch() bool {
	s := m.Record.Status()
	return s.Remote != "" && (s.Trouble.Kind == gitsync.KindNone || s.Trouble.Pushing)
}

// askAround asks hosts that may have what is missing, one after the other. It reports whether one
// of them had some of it. If none had, and one was asked too much, it returns how long to wait for
// that one.
func (m *Mender) askAround(ctx context.Context, key told, one Missing) (came bool, busy time.Duration) {
	request, err := protocol.EncodeResendRequest(protocol.ResendRequest{
		Host: one.Host, Want: one.Hash, After: one.after.Path, AfterHash: one.after.Hash})
	if err != nil {
		m.Log.Error().Err(err).Msg("cannot ask for what was missed")
		return false, 0
	}
	for _, host := range m.whomToAsk(key, one) {
		count, err := m.askResend(ctx, host, one.Host, request)
		if err != nil {
			m.Log.Debug().Err(err).Stringer("host", host).Stringer("of", one.Host).Msg("what was missed is not to be had there")
		}
		if later := new(bus.BusyError); errors.As(err, &later) && (busy == 0 || later.Wait < busy) {
			busy = later.Wait
		}
		if count > 0 {
			m.Log.Debug().Int("messages", count).Stringer("host", host).Stringer("of", one.Host).Msg("missed messages were sent again")
			return true, 0
		}
	}
	return false, busy
}

// whomToAsk are live hosts that may have what is missing: its author, the host that told of it,
// hosts that have heard what follows it, then any other. Each attempt takes another selection.
func (m *Mender) whomToAsk(key told, one Missing) []protocol.Name {
	live := map[protocol.Name]bool{}
	var others []protocol.Name
	for _, p := range m.Live.Present() {
		live[p.Host] = true
		others = append(others, p.Host)
	}
	for i := range others {
		j := i + int(time.Now().UnixNano()%int64(len(others)-i))
		others[i], others[j] = others[j], others[i]
	}
	var ask []protocol.Name
	for _, host := range slices.Concat([]protocol.Name{key.Host, key.By}, m.Live.Hearers(one.Path), others) {
		if live[host] && len(ask) < askedAtOnce {
			live[host] = false
			ask = append(ask, host)
		}
	}
	return ask
}

// askResend asks one host for messages of another host's chain, or of its own, and takes them in.
// It returns how many were new here.
func (m *Mender) askResend(ctx context.Context, host, of protocol.Name, request []byte) (int, error) {
	b := m.Bus()
	if b == nil {
		return 0, errors.New("there is no bus")
	}
	ctx, cancel := context.WithTimeout(ctx, resendWait)
	defer cancel()
	answer, err := b.Ask(ctx, host, protocol.AskResend, request)
	if err != nil {
		return 0, err
	}
	messages, err := protocol.DecodeResent(answer)
	if err != nil {
		return 0, err
	}
	return m.LetIn(host, of, messages), nil
}
