package node

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// receiptBatch is how many receipts are stored with one fsync, and how many messages
// are kept from being answered meanwhile.
const receiptBatch = 256

// Shown answers control.Shown. What a command is run for is not read because
// somebody saw it: the agent would never be asked.
func (n *Node) Shown(ctx context.Context, by control.Caller, r control.ShownRequest) (control.Marked, error) {
	who, err := n.reader(by, r.As)
	if err != nil {
		return control.Marked{}, err
	}
	if n.roster.Door(who.Name) == configs.DoorExec {
		return control.Marked{As: who.Name}, nil
	}
	marked, err := n.markRead(ctx, by, who, slices.Clone(r.Paths))
	return control.Marked{As: who.Name, Read: marked}, asError(err)
}

// ReadAll answers control.ReadAll.
func (n *Node) ReadAll(ctx context.Context, by control.Caller, r control.ReadAllRequest) (control.Marked, error) {
	who, err := n.reader(by, r.As)
	if err != nil {
		return control.Marked{}, err
	}
	waiting, err := n.waiting(who, r)
	if err != nil {
		return control.Marked{}, err
	}
	marked, err := n.markRead(ctx, by, who, waiting)
	return control.Marked{As: who.Name, Read: marked}, asError(err)
}

// waiting are the paths of the unread mail that a request is about.
func (n *Node) waiting(who fleet.Who, r control.ReadAllRequest) ([]protocol.Path, error) {
	from := func(*fleet.Item) bool { return true }
	if r.From != "" {
		address, err := n.knownAddress(r.From)
		if err != nil {
			return nil, err
		}
		from = func(it *fleet.Item) bool { return wroteAt(it, address) }
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	var channel protocol.ChannelID
	var err error
	if r.Channel != "" {
		if channel, err = n.state.Channels.Find(r.Channel); err != nil {
			return nil, asError(err)
		}
	}
	var paths []protocol.Path
	for it := range n.state.Talk.Inbox(who, false) {
		if (channel == "" || it.Path.Channel() == channel) && from(it) {
			paths = append(paths, it.Path)
		}
	}
	return paths, nil
}

// markRead leaves the receipts of who for those of the messages that wait for it,
// and returns how many they were. What it has stored stays when it fails.
func (n *Node) markRead(ctx context.Context, by control.Caller, who fleet.Who, paths []protocol.Path) (marked int, err error) {
	slices.SortFunc(paths, protocol.Path.Compare) // all lock them in one order
	for batch := range slices.Chunk(slices.Compact(paths), receiptBatch) {
		if err := ctx.Err(); err != nil {
			return marked, err
		}
		stored, err := n.markBatch(ctx, by, who, batch)
		marked += stored
		if err != nil {
			return marked, err
		}
	}
	return marked, nil
}

func (n *Node) markBatch(ctx context.Context, by control.Caller, who fleet.Who, paths []protocol.Path) (int, error) {
	for _, p := range paths {
		defer n.once.lock(p)()
	}
	var receipts []fleet.Draft
	n.mu.Lock()
	for _, p := range paths {
		drafts, err := n.state.Decide(called(by, fleet.Acknowledge{As: who, Of: p}), n.now())
		if err != nil && !isRefusal(err) {
			n.mu.Unlock()
			return 0, err
		}
		receipts = append(receipts, drafts...) // none for a message that is not here
	}
	n.mu.Unlock()
	ws, err := n.writer.write(ctx, receipts)
	return len(ws), err
}
