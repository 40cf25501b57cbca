package talk

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Channels answers control.Channels.
func (sh *shelves) Channels(context.Context) (all []control.Channel, err error) {
	sh.Folded(func(s *fleet.State) {
		all = each.Of(s.Channels.All(), func(c shelf.Channel) control.Channel { return channelView(s, c) })
	})
	return all, nil
}

// Channel answers control.ShowChannel.
func (sh *shelves) Channel(_ context.Context, r control.ChannelRequest) (c control.Channel, err error) {
	sh.Folded(func(s *fleet.State) {
		var id protocol.ChannelID
		if id, err = s.Channels.Find(r.Channel); err == nil {
			c = channelView(s, s.Channels.Describe(id))
		}
	})
	return c, err
}

func channelView(s *fleet.State, c shelf.Channel) control.Channel {
	return control.Channel{
		ID: c.ID, Name: c.Name, CreatedBy: c.CreatedBy, CreatedAt: c.CreatedAt, Parent: c.Parent, ParentName: s.Channels.Name(c.Parent), Members: c.Members, About: c.About,
		Messages: c.Messages, Last: c.Last, Participants: c.Participants, Children: c.Children,
	}
}

// NewChannel answers control.NewChannel.
func (sh *shelves) NewChannel(ctx context.Context, by control.Caller, r control.NewChannelRequest) (control.Channel, error) {
	who, err := sh.Actors.Actor(by, r.As)
	if err != nil {
		return control.Channel{}, err
	}
	defer sh.writing.Unlock()
	sh.writing.Lock()
	file, err := sh.found(shelf.NewChannel{By: who.Name, Name: r.Name, About: r.About, Members: r.Members}, r.Parent)
	if err != nil {
		return control.Channel{}, err
	}
	data, err := protocol.EncodeChannelFile(file)
	if err != nil {
		return control.Channel{}, err
	}
	var b [16]byte
	random.Fill(b[:])
	id := protocol.NewChannelID(b)
	if err := sh.Books.Write(ctx, protocol.ChannelFilePath(id), data); err != nil {
		return control.Channel{}, err
	}
	return sh.Channel(ctx, control.ChannelRequest{Channel: id.String()})
}

// ChangeMembers answers control.ChangeMembers.
func (sh *shelves) ChangeMembers(ctx context.Context, by control.Caller, r control.MembersRequest) (control.Channel, error) {
	if _, err := sh.Actors.Actor(by, r.As); err != nil {
		return control.Channel{}, err
	}
	defer sh.writing.Unlock()
	sh.writing.Lock()
	id, members, err := sh.membersAfter(r)
	if err != nil {
		return control.Channel{}, err
	}
	path := protocol.ChannelFilePath(id)
	err = sh.Record.ChangeFile(ctx, path, func(old []byte) ([]byte, error) {
		data, err := protocol.SetChannelMembers(old, members)
		if err == nil {
			err = sh.Books.Fits(path, data)
		}
		return data, err
	})
	if err == nil {
		err = sh.Books.Take(path)
	}
	if err != nil {
		return control.Channel{}, err
	}
	return sh.Channel(ctx, control.ChannelRequest{Channel: id.String()})
}

func (sh *shelves) membersAfter(r control.MembersRequest) (id protocol.ChannelID, members []string, err error) {
	sh.Folded(func(s *fleet.State) {
		if id, err = s.Channels.Find(r.Channel); err == nil {
			members, err = s.Channels.MembersAfter(shelf.ChangeMembers{Channel: id, Add: r.Add, Remove: r.Remove})
		}
	})
	return id, members, err
}

func (sh *shelves) found(c shelf.NewChannel, parent string) (file protocol.ChannelFile, err error) {
	sh.Folded(func(s *fleet.State) {
		if parent != "" {
			if c.Parent, err = s.Channels.Find(parent); err != nil {
				return
			}
		}
		file, err = s.Channels.Found(c, sh.Now().UTC().Truncate(time.Millisecond))
	})
	return file, err
}

// shelves are what the record holds in addition to messages and what this host may write: channels,
// memories, and the files that come with the program. They answer the verbs about
// these.
type shelves struct {
	*tools
	writing  sync.Mutex // held from the decision about a file until it is written; guards memoryAt
	memoryAt time.Time  // time of the last memory that was written here
}
