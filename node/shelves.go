package node

import (
	"context"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
)

// shelves are what the record holds in addition to messages and what this host may write: channels,
// memories, actor profiles, and the files that come with the program. They answer the verbs about
// these.
type shelves struct {
	shelvesOptions
	writing  sync.Mutex // held from the decision about a file until it is written; guards memoryAt
	memoryAt time.Time  // time of the last memory that was written here
}

// shelvesOptions say where the files lie, who asks, and what the time is.
type shelvesOptions struct {
	cfg    configs.Config
	folded folded.State
	record interface {
		ReadFile(path string) (data []byte, there bool, err error)
		ChangeFile(ctx context.Context, path string, update func(old []byte) ([]byte, error)) error
	}
	books *books.Books
	actor func(by control.Caller, as string) (fleet.Who, error) // says who acts; see actors
	now   func() time.Time
}
