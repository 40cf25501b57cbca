package talk

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// receiptBatch is how many receipts are stored with one fsync. While that happens, so many messages
// cannot be answered.
const receiptBatch = 256

// Shown answers control.Shown. A message for which a command is to be run does not count as read
// because somebody saw it: else the agent would never be asked.
func (b *inbox) Shown(ctx context.Context, by control.Caller, r control.ShownRequest) (control.Marked, error) {
	who, err := b.Actors.Reader(by, r.As)
	if err != nil {
		return control.Marked{}, err
	}
	if b.Actors.Roster.Door(who.Name) == configs.DoorExec {
		return control.Marked{As: who.Name}, nil
	}
	marked, err := b.markRead(ctx, by, who, slices.Clone(r.Paths))
	return control.Marked{As: who.Name, Read: marked}, err
}

// ReadAll answers control.ReadAll.
func (b *inbox) ReadAll(ctx context.Context, by control.Caller, r control.ReadAllRequest) (control.Marked, error) {
	who, err := b.Actors.Reader(by, r.As)
	if err != nil {
		return control.Marked{}, err
	}
	waiting, err := b.waiting(who, r)
	if err != nil {
		return control.Marked{}, err
	}
	marked, err := b.markRead(ctx, by, who, waiting)
	return control.Marked{As: who.Name, Read: marked}, err
}

// waiting returns the paths of the unread mail that a request is about.
func (b *inbox) waiting(who fleet.Who, r control.ReadAllRequest) ([]protocol.Path, error) {
	from := func(*fleet.Item) bool { return true }
	if r.From != "" {
		address, err := knownAddress(b.Folded, r.From)
		if err != nil {
			return nil, err
		}
		from = func(it *fleet.Item) bool { return wroteAt(it, address) }
	}
	var channel protocol.ChannelID
	var paths []protocol.Path
	var err error
	b.Folded(func(s *fleet.State) {
		if r.Channel != "" {
			if channel, err = s.Channels.Find(r.Channel); err != nil {
				return
			}
		}
		for it := range s.Talk.Inbox(who, false) {
			if (channel == "" || it.Path.Channel() == channel) && from(it) {
				paths = append(paths, it.Path)
			}
		}
	})
	return paths, err
}

// markRead writes the receipts of `who` for those of the messages that wait for one, and returns
// how many there were. If it fails, what it has stored stays.
func (b *inbox) markRead(ctx context.Context, by control.Caller, who fleet.Who, paths []protocol.Path) (marked int, err error) {
	slices.SortFunc(paths, protocol.Path.Compare)
	for batch := range slices.Chunk(slices.Compact(paths), receiptBatch) {
		if err := ctx.Err(); err != nil {
			return marked, err
		}
		stored, err := b.Decider.ActOnEach(ctx, batch, func(p protocol.Path) fleet.Command {
			return writing.Called(by, fleet.GiveReceipt{As: who, Of: p})
		})
		marked += len(stored)
		if err != nil {
			return marked, err
		}
	}
	return marked, nil
}
