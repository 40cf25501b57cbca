package node

import (
	"cmp"
	"context"
	"encoding/binary"
	"time"

	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// AddMemory answers control.AddMemory.
func (n *Node) AddMemory(ctx context.Context, by control.Caller, r control.AddMemoryRequest) (control.Memory, error) {
	who, err := n.actor(by, r.As)
	if err != nil {
		return control.Memory{}, err
	}
	// One at a time: of two that supersede the same memory the second is told.
	defer n.writing.Unlock()
	n.writing.Lock()
	at := n.now().UTC().Truncate(time.Millisecond)
	if !at.After(n.memoryAt) { // of one moment they would stand in no order
		at = n.memoryAt.Add(time.Millisecond)
	}
	n.mu.Lock()
	m, err := n.state.Memories.Remembered(shelf.Remember{
		From: who.Name, Subject: r.Subject, Scope: r.Scope, Tags: r.Tags, Session: r.Session, Supersedes: r.Supersedes, Body: r.Body,
	}, at)
	n.mu.Unlock()
	if err != nil {
		return control.Memory{}, asError(err)
	}
	n.memoryAt = m.Timestamp
	var b [4]byte
	random.Fill(b[:])
	m.File = protocol.MemoryFileName(m.Timestamp, binary.BigEndian.Uint32(b[:]))
	data, err := protocol.EncodeMemory(m)
	if err != nil {
		return control.Memory{}, asError(err)
	}
	if err := n.books.Write(ctx, protocol.MemoryPath(m.File), data); err != nil {
		return control.Memory{}, asError(err)
	}
	return n.Memory(ctx, control.MemoryRequest{File: m.File})
}

// Memories answers control.Memories.
func (n *Node) Memories(_ context.Context, r control.MemoriesRequest) ([]control.Memory, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	f := shelf.MemoryFilter{Subject: r.Subject, Tags: r.Tags, From: r.From, All: r.All}
	switch r.Scope {
	case "":
	case globalScope:
		f.Scopes = []protocol.ChannelID{""}
	default:
		id, err := n.state.Channels.Find(r.Scope)
		if err != nil {
			return nil, asError(err)
		}
		f.Scopes = []protocol.ChannelID{id}
	}
	memories := n.state.Memories.List(f)
	all := make([]control.Memory, len(memories))
	for i, m := range memories {
		all[i] = n.memoryView(m)
	}
	return all, nil
}

const globalScope = "global"

// Memory answers control.ShowMemory.
func (n *Node) Memory(_ context.Context, r control.MemoryRequest) (control.Memory, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	file, err := n.state.Memories.Find(r.File)
	if err != nil {
		return control.Memory{}, asError(err)
	}
	m, _ := n.state.Memories.In(file)
	return n.memoryView(m), nil
}

// memoryView is a memory as it is shown. The caller holds mu.
func (n *Node) memoryView(m shelf.Memory) control.Memory {
	return control.Memory{
		File: m.File, From: m.From, Via: m.Via, Timestamp: m.Timestamp, Subject: m.Subject,
		Scope: cmp.Or(m.Scope.String(), globalScope), ScopeName: n.state.Channels.Name(m.Scope), Tags: m.Tags, Session: m.Session,
		Supersedes: m.Supersedes, SupersededBy: m.SupersededBy, Body: m.Body,
	}
}
