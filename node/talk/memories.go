package talk

import (
	"cmp"
	"context"
	"encoding/binary"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// AddMemory answers control.AddMemory.
func (sh *shelves) AddMemory(ctx context.Context, by control.Caller, r control.AddMemoryRequest) (control.Memory, error) {
	who, err := sh.Actors.Actor(by, r.As)
	if err != nil {
		return control.Memory{}, err
	}
	// One at a time: of two that supersede the same memory, the second one gets an error.
	defer sh.writing.Unlock()
	sh.writing.Lock()
	at := sh.Now().UTC().Truncate(time.Millisecond)
	if !at.After(sh.memoryAt) { // two memories of the same moment would have no order
		at = sh.memoryAt.Add(time.Millisecond)
	}
	var m protocol.Memory
	sh.Folded(func(s *fleet.State) {
		m, err = s.Memories.Remembered(shelf.Remember{
			From: who.Name, Subject: r.Subject, Scope: r.Scope, Tags: r.Tags, Session: r.Session, Supersedes: r.Supersedes, Body: r.Body,
		}, at)
	})
	if err != nil {
		return control.Memory{}, err
	}
	sh.memoryAt = m.Timestamp
	var b [4]byte
	random.Fill(b[:])
	m.File = protocol.MemoryFileName(m.Timestamp, binary.BigEndian.Uint32(b[:]))
	data, err := protocol.EncodeMemory(m)
	if err != nil {
		return control.Memory{}, err
	}
	if err := sh.Books.Write(ctx, protocol.MemoryPath(m.File), data); err != nil {
		return control.Memory{}, err
	}
	return sh.Memory(ctx, control.MemoryRequest{File: m.File})
}

// Memories answers control.Memories.
func (sh *shelves) Memories(_ context.Context, r control.MemoriesRequest) (all []control.Memory, err error) {
	f := shelf.MemoryFilter{Subject: r.Subject, Tags: r.Tags, All: r.All}
	sh.Folded(func(s *fleet.State) {
		switch r.Scope {
		case "":
		case globalScope:
			f.Scopes = []protocol.ChannelID{""}
		default:
			var id protocol.ChannelID
			if id, err = s.Channels.Find(r.Scope); err != nil {
				return
			}
			f.Scopes = []protocol.ChannelID{id}
		}
		all = each.Of(s.Memories.List(f), func(m shelf.Memory) control.Memory { return memoryView(s, m) })
	})
	return all, err
}

const globalScope = "global"

// Memory answers control.ShowMemory.
func (sh *shelves) Memory(_ context.Context, r control.MemoryRequest) (m control.Memory, err error) {
	sh.Folded(func(s *fleet.State) {
		var file string
		if file, err = s.Memories.Find(r.File); err == nil {
			found, _ := s.Memories.In(file)
			m = memoryView(s, found)
		}
	})
	return m, err
}

func memoryView(s *fleet.State, m shelf.Memory) control.Memory {
	return control.Memory{
		File: m.File, From: m.From, Via: m.Via, Timestamp: m.Timestamp, Subject: m.Subject,
		Scope: cmp.Or(m.Scope.String(), globalScope), ScopeName: s.Channels.Name(m.Scope), Tags: m.Tags, Session: m.Session,
		Supersedes: m.Supersedes, SupersededBy: m.SupersededBy, Body: m.Body,
	}
}
