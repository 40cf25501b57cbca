package node

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// maxFeed bounds what a follower of messages that does not keep up may leave lying.
const maxFeed = 100_000

// Log answers control.Log.
func (n *Node) Log(ctx context.Context, r control.LogRequest, yield func(control.Message) error) error {
	channel, wanted, err := n.logFilter(r)
	if err != nil {
		return err
	}
	f := n.messages.Follow(maxFeed, nil)
	defer f.End()
	if err := n.logPast(ctx, r, f, channel, wanted, yield); err != nil || !r.Follow {
		return err
	}
	for {
		select {
		case <-f.Wake():
		case <-ctx.Done():
			return nil
		}
		paths, missed := f.Drain()
		for _, p := range paths {
			if err := n.logOne(p, wanted, yield); err != nil {
				return err
			}
		}
		if missed > 0 {
			return control.Errorf(control.KindFailed, "start it again", "cannot follow the log: messages came faster than they were taken")
		}
	}
}

// logFilter says which messages the request is about, and the channel that they are
// in if that is one.
func (n *Node) logFilter(r control.LogRequest) (channel protocol.ChannelID, wanted func(*fleet.Item) bool, err error) {
	if r.Channel != "" {
		n.mu.Lock()
		channel, err = n.state.Channels.Find(r.Channel)
		n.mu.Unlock()
		if err != nil {
			return "", nil, asError(err)
		}
	}
	return channel, func(it *fleet.Item) bool {
		switch {
		case channel != "" && it.Path.Channel() != channel:
			return false
		case r.Everything:
			return true
		}
		return isText(it)
	}, nil
}

// isText reports whether a message is none of the fleet's book-keeping.
func isText(it *fleet.Item) bool { return it.Type == protocol.TypeText && !it.Act.HostWord() }

// logPast yields what the record holds and empties the feed at the same moment,
// so that what arrives meanwhile is yielded once.
func (n *Node) logPast(ctx context.Context, r control.LogRequest, f *feed.Feed[protocol.Path], channel protocol.ChannelID, wanted func(*fleet.Item) bool, yield func(control.Message) error) error {
	if r.Last <= 0 {
		return n.logAll(ctx, f, wanted, yield)
	}
	n.mu.Lock()
	f.Drain()
	var items []*fleet.Item
	past := n.state.Ledger.Backward()
	if channel != "" {
		past = n.state.Ledger.ChannelBackward(channel)
	}
	for it := range past {
		if wanted(it) {
			items = append(items, it)
		}
		if len(items) == r.Last {
			break
		}
	}
	slices.Reverse(items)
	all := factsOfAll(n.state, items)
	n.mu.Unlock()
	return n.yieldAll(ctx, all, yield)
}

// logAll yields the whole past, in pieces: what came meanwhile and is among them
// leaves the feed.
func (n *Node) logAll(ctx context.Context, f *feed.Feed[protocol.Path], wanted func(*fleet.Item) bool, yield func(control.Message) error) error {
	var last *fleet.Item
	for {
		n.mu.Lock()
		items := folded.Following(n.state, last)
		for _, it := range items {
			f.Leave(func(p protocol.Path) bool { return p == it.Path })
		}
		if len(items) > 0 {
			last = items[len(items)-1]
		}
		all := factsOfAll(n.state, slices.DeleteFunc(slices.Clone(items), func(it *fleet.Item) bool { return !wanted(it) }))
		n.mu.Unlock()
		if err := n.yieldAll(ctx, all, yield); err != nil || len(items) == 0 {
			return err
		}
	}
}

func (n *Node) yieldAll(ctx context.Context, all []facts, yield func(control.Message) error) error {
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return asError(err)
		}
		m, err := n.views.of(f)
		if err != nil {
			return asError(err)
		}
		if err := yield(m); err != nil {
			return err
		}
	}
	return nil
}

func (n *Node) logOne(p protocol.Path, wanted func(*fleet.Item) bool, yield func(control.Message) error) error {
	n.mu.Lock()
	it, ok := n.state.Ledger.Item(p)
	if !ok || !wanted(it) {
		n.mu.Unlock()
		return nil
	}
	f := factsOf(n.state, it)
	n.mu.Unlock()
	m, err := n.views.of(f)
	if err != nil {
		return asError(err)
	}
	return yield(m)
}
