package talk

import (
	"context"
	"iter"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// logbook tells the messages of the record: those that are there, and those that come.
type logbook struct {
	*tools
}

// Log answers control.Log.
func (lb *logbook) Log(ctx context.Context, r control.LogRequest, yield func(control.Message) error) error {
	channel, wanted, err := lb.filter(r)
	if err != nil {
		return err
	}
	var before *fleet.Item
	if r.Before != "" {
		if r.Follow {
			return control.Errorf(control.KindUsage, "", "cannot follow the log: what comes stands before no message")
		}
		if before, err = lb.views.Item(r.Before); err != nil {
			return err
		}
	}
	f := lb.Messages.Follow(feed.MaxMessages, nil)
	defer f.End()
	if err := lb.past(ctx, r, f, channel, before, wanted, yield); err != nil || !r.Follow {
		return err
	}
	return f.Each(ctx, func(p protocol.Path) error { return lb.tell(p, wanted, yield) }, func(int) error {
		return control.Errorf(control.KindFailed, "start it again", "cannot follow the log: messages came faster than they were taken")
	})
}

// filter returns a function that says which messages the request is about. `channel` is the channel
// that all of them are in, if there is one.
func (lb *logbook) filter(r control.LogRequest) (channel protocol.ChannelID, wanted func(*fleet.Item) bool, err error) {
	if r.Channel != "" {
		lb.Folded(func(s *fleet.State) { channel, err = s.Channels.Find(r.Channel) })
		if err != nil {
			return "", nil, err
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

// isText reports whether a message is a text of a participant, and not a part of the fleet's
// book-keeping.
func isText(it *fleet.Item) bool { return it.Type == protocol.TypeText && !it.Act.HostWord() }

// past yields what the record holds, and empties the feed at the same moment. So a message that
// arrives in the meantime is yielded once.
func (lb *logbook) past(ctx context.Context, r control.LogRequest, f *feed.Feed[protocol.Path], channel protocol.ChannelID, before *fleet.Item, wanted func(*fleet.Item) bool, yield func(control.Message) error) error {
	if r.Last <= 0 && before == nil {
		return lb.all(ctx, f, wanted, yield)
	}
	var last []facts
	lb.Folded(func(s *fleet.State) {
		f.Drain()
		var backward iter.Seq[*fleet.Item]
		switch {
		case before != nil && channel != "":
			backward = s.Ledger.ChannelBefore(channel, before)
		case before != nil:
			backward = s.Ledger.Before(before)
		case channel != "":
			backward = s.Ledger.ChannelBackward(channel)
		default:
			backward = s.Ledger.Backward()
		}
		for it := range backward {
			if wanted(it) {
				last = append(last, factsOf(s, it))
			}
			if r.Last > 0 && len(last) == r.Last {
				break
			}
		}
	})
	slices.Reverse(last)
	return lb.tellAll(ctx, last, yield)
}

// all yields the whole past, in pieces. A message that came in the meantime and is in a piece
// leaves the feed.
func (lb *logbook) all(ctx context.Context, f *feed.Feed[protocol.Path], wanted func(*fleet.Item) bool, yield func(control.Message) error) error {
	var last *fleet.Item
	for {
		var items []*fleet.Item
		var all []facts
		lb.Folded(func(s *fleet.State) {
			items = folded.Following(s, last)
			for _, it := range items {
				f.Leave(func(p protocol.Path) bool { return p == it.Path })
				if wanted(it) {
					all = append(all, factsOf(s, it))
				}
			}
		})
		if err := lb.tellAll(ctx, all, yield); err != nil || len(items) == 0 {
			return err
		}
		last = items[len(items)-1]
	}
}

func (lb *logbook) tellAll(ctx context.Context, all []facts, yield func(control.Message) error) error {
	for _, f := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := yield(lb.views.shown(f)); err != nil {
			return err
		}
	}
	return nil
}

func (lb *logbook) tell(p protocol.Path, wanted func(*fleet.Item) bool, yield func(control.Message) error) error {
	var f facts
	lb.Folded(func(s *fleet.State) {
		if it, ok := s.Ledger.Item(p); ok && wanted(it) {
			f = factsOf(s, it)
		}
	})
	if f.item == nil {
		return nil
	}
	return yield(lb.views.shown(f))
}
