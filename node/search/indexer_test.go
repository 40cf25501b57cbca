package search

import (
	"errors"
	"runtime"
	"testing"
	"weak"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// TestWhatWaitsKeepsNoItem prevents: in a burst the items of all messages that are not
// indexed yet stay in memory, though the state has put them into its archive.
func TestWhatWaitsKeepsNoItem(t *testing.T) {
	x := NewIndexer(IndexerOptions{Log: zerolog.Nop(), Load: func(protocol.Path, string) (*protocol.Message, error) {
		return nil, errors.New("nothing is indexed here")
	}})
	x.index = open(t, t.TempDir(), "record")
	kept := addOne(x)
	runtime.GC()
	if kept.Value() != nil {
		t.Error("an item is kept until its message is indexed")
	}
	if waiting := x.index.Pending(); waiting != 1 {
		t.Errorf("%d messages wait, want 1", waiting)
	}
}

// addOne adds a message and keeps nothing else of its item.
func addOne(x *Indexer) weak.Pointer[fleet.Item] {
	it := &fleet.Item{File: keys.File{Message: protocol.Message{Path: doc(1, "").Path, Type: protocol.TypeText, From: "nat"}}}
	x.Add(it)
	return weak.Make(it)
}
