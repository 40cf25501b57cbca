package node

import (
	"context"
	"time"

	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Channels answers control.Channels.
func (n *Node) Channels(context.Context) ([]control.Channel, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	channels := n.state.Channels.All()
	all := make([]control.Channel, len(channels))
	for i, c := range channels {
		all[i] = n.channelView(c)
	}
	return all, nil
}

// Channel answers control.ShowChannel.
func (n *Node) Channel(_ context.Context, r control.ChannelRequest) (control.Channel, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	id, err := n.state.Channels.Find(r.Channel)
	if err != nil {
		return control.Channel{}, asError(err)
	}
	return n.channelView(n.state.Channels.Describe(id)), nil
}

// channelView is a channel as it is shown. The caller holds mu.
func (n *Node) channelView(c shelf.Channel) control.Channel {
	return control.Channel{
		ID: c.ID, Name: c.Name, CreatedBy: c.CreatedBy, CreatedAt: c.CreatedAt, Parent: c.Parent, ParentName: n.state.Channels.Name(c.Parent), Members: c.Members, About: c.About,
		Messages: c.Messages, Last: c.Last, Participants: c.Participants, Children: c.Children,
	}
}

// NewChannel answers control.NewChannel.
func (n *Node) NewChannel(ctx context.Context, by control.Caller, r control.NewChannelRequest) (control.Channel, error) {
	who, err := n.actor(by, r.As)
	if err != nil {
		return control.Channel{}, err
	}
	defer n.writing.Unlock()
	n.writing.Lock()
	file, err := n.found(shelf.NewChannel{By: who.Name, Name: r.Name, About: r.About, Members: r.Members}, r.Parent)
	if err != nil {
		return control.Channel{}, asError(err)
	}
	data, err := protocol.EncodeChannelFile(file)
	if err != nil {
		return control.Channel{}, asError(err)
	}
	var b [16]byte
	random.Fill(b[:])
	id := protocol.NewChannelID(b)
	if err := n.books.Write(ctx, protocol.ChannelFilePath(id), data); err != nil {
		return control.Channel{}, asError(err)
	}
	return n.Channel(ctx, control.ChannelRequest{Channel: id.String()})
}

// ChangeMembers answers control.ChangeMembers.
func (n *Node) ChangeMembers(ctx context.Context, by control.Caller, r control.MembersRequest) (control.Channel, error) {
	if _, err := n.actor(by, r.As); err != nil {
		return control.Channel{}, err
	}
	defer n.writing.Unlock()
	n.writing.Lock()
	id, members, err := n.membersAfter(r)
	if err != nil {
		return control.Channel{}, asError(err)
	}
	path := protocol.ChannelFilePath(id)
	err = n.record.ChangeFile(ctx, path, func(old []byte) ([]byte, error) {
		data, err := protocol.SetChannelMembers(old, members)
		if err == nil {
			err = n.books.Fits(path, data)
		}
		return data, err
	})
	if err == nil {
		err = n.books.Take(path)
	}
	if err != nil {
		return control.Channel{}, asError(err)
	}
	return n.Channel(ctx, control.ChannelRequest{Channel: id.String()})
}

func (n *Node) membersAfter(r control.MembersRequest) (id protocol.ChannelID, members []string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if id, err = n.state.Channels.Find(r.Channel); err != nil {
		return id, nil, err
	}
	members, err = n.state.Channels.MembersAfter(shelf.ChangeMembers{Channel: id, Add: r.Add, Remove: r.Remove})
	return id, members, err
}

func (n *Node) found(c shelf.NewChannel, parent string) (file protocol.ChannelFile, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if parent != "" {
		if c.Parent, err = n.state.Channels.Find(parent); err != nil {
			return file, err
		}
	}
	return n.state.Channels.Found(c, n.now().UTC().Truncate(time.Millisecond))
}
