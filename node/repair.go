package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/catchup"
	"github.com/parleyfleet/parley/protocol"
)

const (
	askedAtOnce = 3                // hosts that one attempt asks
	resendWait  = 10 * time.Second // for one answer
	// largeGap is how many messages are rather fetched than asked for, where the
	// remote can be used; fetchWait is how long a fetch is waited for.
	largeGap  = 2000
	fetchWait = 3 * time.Second
)

// missing is a gap with what is known of it.
type missing struct {
	keys.Gap
	after catchup.End
}

// gapBefore is the gap before a message that has just been taken in. before is where
// its host's chain ended until then. The caller holds mu.
func (n *Node) gapBefore(it *fleet.Item, before catchup.End) (missing, bool) {
	gap, ok := n.state.Chains.GapBefore(it)
	if !ok || it.Host == n.cfg.Alias {
		return missing{}, false
	}
	if before.Path.Compare(it.Path) >= 0 {
		before = catchup.End{} // it came late: where the hole begins is not known
	}
	return missing{gap, before}, true
}

// awaited are the messages that revocations leave in and that are not here. The caller
// holds mu.
func (n *Node) awaited() (all []missing) {
	for _, gap := range n.state.Chains.Awaited(catchup.MostOfOne) {
		if gap.Host != n.cfg.Alias {
			all = append(all, missing{Gap: gap})
		}
	}
	return all
}

// endOf is where the chain of a host ends here. The caller holds mu.
func (n *Node) endOf(host protocol.Name) catchup.End {
	if last, ok := n.state.Chains.LastOf(host); ok {
		return catchup.EndAt(last)
	}
	return catchup.End{}
}

// heardHeads takes in how far chains go, as another host knows.
func (n *Node) heardHeads(from protocol.Name, heads []protocol.Head) {
	var found []missing
	n.mu.Lock()
	for _, h := range heads {
		if _, joined := n.state.Keys().Host(h.Host); !joined || h.Host == n.cfg.Alias || n.state.Chains.Knows(h.Hash) {
			continue
		}
		after := n.endOf(h.Host)
		if after.Path.Compare(h.Path) >= 0 {
			after = catchup.End{}
		}
		found = append(found, missing{keys.Gap{Host: h.Host, Hash: h.Hash, Path: h.Path, Run: h.Run, Seq: h.Seq}, after})
	}
	n.mu.Unlock()
	for _, m := range found {
		n.delivery.gaps.Add(from, m.Gap, m.after)
	}
}

// checkChains looks for holes among the last messages of every host: those that a
// start or a silence has left behind.
func (n *Node) checkChains() {
	n.mu.Lock()
	hosts, awaited := n.state.Keys().Hosts(), n.awaited()
	n.mu.Unlock()
	for _, m := range awaited {
		n.delivery.gaps.Add(m.Host, m.Gap, m.after)
	}
	for _, h := range hosts {
		if m, ok := n.lastGap(h.Alias); ok {
			n.delivery.gaps.Add(h.Alias, m.Gap, m.after)
		}
	}
}

// lastGap is the last hole in the chain of another host, if it is not far back.
func (n *Node) lastGap(host protocol.Name) (missing, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	chain := n.state.Chains.Back(host, n.endOf(host).Hash, protocol.Path{}, protocol.MaxResent)
	if len(chain) == 0 {
		return missing{}, false
	}
	return n.gapBefore(chain[0], catchup.End{})
}

// repairAlways mends chains, a few at a time, until ctx ends.
func (n *Node) repairAlways(ctx context.Context) {
	var running sync.WaitGroup
	defer running.Wait()
	places := make(chan struct{}, catchup.AtOnce)
	timer := time.NewTimer(time.Minute)
	defer timer.Stop()
	for {
		due, next := n.delivery.gaps.Take(catchup.AtOnce - len(places))
		for _, key := range due {
			places <- struct{}{}
			running.Go(func() { // ends with its chain's mending, or ctx
				defer func() { <-places }()
				n.delivery.gaps.Rest(key, n.repair(ctx, key))
			})
		}
		timer.Reset(next)
		select {
		case <-n.delivery.gaps.Wake:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
	}
}

// repair asks for what is missing of a chain, as long as something comes.
func (n *Node) repair(ctx context.Context, key catchup.Told) (o catchup.Outcome) {
	fetched := false
	for ctx.Err() == nil {
		m, ok := n.firstMissing(key)
		if !ok {
			return o
		}
		if !fetched && m.isLarge() && n.canFetch() {
			fetched = true
			n.record.Ring()
			wait.Sleep(ctx, fetchWait)
			continue
		}
		came, busy := n.askAround(ctx, key, m)
		if !came {
			n.record.Ring() // it may be on the remote
			o.Busy = busy
			return o
		}
		o.Progress = true
		n.nudgeWorkers()
	}
	return o
}

// nudgeWorkers has every door look at its queue: what messages waited for may have come.
func (n *Node) nudgeWorkers() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, w := range n.workers {
		w.nudge()
	}
}

// firstMissing is the gap of a chain that lies furthest back and is still there.
func (n *Node) firstMissing(key catchup.Told) (m missing, ok bool) {
	wants, after := n.delivery.gaps.Of(key)
	var there []string
	n.mu.Lock()
	for hash, gap := range wants {
		if n.state.Chains.Knows(hash) {
			there = append(there, hash)
		} else if !ok || gap.Path.Compare(m.Path) < 0 {
			m, ok = missing{Gap: gap}, true
		}
	}
	for chain := n.chainOn(key.Host, after); len(chain) > 0; chain = n.chainOn(key.Host, after) {
		after = catchup.EndAt(&chain[len(chain)-1].File)
	}
	n.mu.Unlock()
	n.delivery.gaps.Filled(key, there, after)
	if m.after = after; after.Path.Compare(m.Path) >= 0 {
		m.after = catchup.End{}
	}
	return m, ok
}

// chainOn is what follows on the end of a chain without a hole. The caller holds mu.
func (n *Node) chainOn(host protocol.Name, after catchup.End) []*fleet.Item {
	if after.Hash == "" {
		return nil
	}
	return n.state.Chains.On(host, after.Hash, "", protocol.MaxResent)
}

// isLarge reports whether so many messages are missing that a fetch brings them
// faster.
func (m missing) isLarge() bool { return m.Run == m.after.Run && m.Seq > m.after.Seq+largeGap }

// canFetch reports whether the remote can be read.
func (n *Node) canFetch() bool {
	s := n.record.Status()
	return s.Remote != "" && (s.Trouble.Kind == gitsync.KindNone || s.Trouble.Pushing)
}

// askAround asks those who may have what is missing, one after the other, and reports
// whether somebody had some of it. Where nobody had and somebody was asked too much, it
// says how long to wait for that one.
func (n *Node) askAround(ctx context.Context, key catchup.Told, m missing) (came bool, busy time.Duration) {
	request, err := protocol.EncodeResendRequest(protocol.ResendRequest{
		Host: m.Host, Want: m.Hash, After: m.after.Path, AfterHash: m.after.Hash})
	if err != nil {
		n.log.Error().Err(err).Msg("cannot ask for what was missed")
		return false, 0
	}
	for _, host := range n.whomToAsk(key, m) {
		count, err := n.askResend(ctx, host, m.Host, request)
		if err != nil {
			n.log.Debug().Err(err).Stringer("host", host).Stringer("of", m.Host).Msg("what was missed is not to be had there")
		}
		if later := new(bus.BusyError); errors.As(err, &later) && (busy == 0 || later.Wait < busy) {
			busy = later.Wait
		}
		if count > 0 {
			n.log.Debug().Int("messages", count).Stringer("host", host).Stringer("of", m.Host).Msg("missed messages were sent again")
			return true, 0
		}
	}
	return false, busy
}

// whomToAsk are live hosts that may have what is missing: its author, who told of it,
// who has heard what follows it, then any other; another selection with each attempt.
func (n *Node) whomToAsk(key catchup.Told, m missing) []protocol.Name {
	live := map[protocol.Name]bool{}
	var others []protocol.Name
	for _, p := range n.live.Present() {
		live[p.Host] = true
		others = append(others, p.Host)
	}
	for i := range others {
		j := i + int(time.Now().UnixNano()%int64(len(others)-i))
		others[i], others[j] = others[j], others[i]
	}
	var ask []protocol.Name
	for _, host := range slices.Concat([]protocol.Name{key.Host, key.By}, n.live.Hearers(m.Path), others) {
		if live[host] && len(ask) < askedAtOnce {
			live[host] = false
			ask = append(ask, host)
		}
	}
	return ask
}

// askResend asks one host for messages of another one's chain, or its own, and takes
// them in. It returns how many were new here.
func (n *Node) askResend(ctx context.Context, host, of protocol.Name, request []byte) (int, error) {
	b := n.currentBus()
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
	return n.takeResent(host, of, messages), nil
}

// takeResent lets in what a host sent again of the chain of one host. What is not of
// that host, or would be refused at the bus's door, is refused here too.
func (n *Node) takeResent(by, of protocol.Name, messages []protocol.Resent) int {
	subjects := protocol.Subjects{Fleet: n.cfg.Fleet}
	var in []bus.Incoming
	for _, r := range messages {
		m, err := protocol.Decode(r.Path, r.Data)
		if err == nil && m.Host != of {
			err = fmt.Errorf("%s sent it again as one of %s", by, of)
		}
		if err != nil {
			n.refusals.Add(by, r.Path, err)
			continue
		}
		in = append(in, bus.Incoming{Sender: of, Subject: subjects.Message(m), Path: r.Path, Data: r.Data})
	}
	return n.letIn(in) // all at once: of a revoked key the last say which of those before them count
}
