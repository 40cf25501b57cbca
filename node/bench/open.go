package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// version is the version with which homes of the bench are made.
const version = "bench"

// openRecord is the record of a new home, which commits in the background as in
// a node.
type openRecord struct {
	*gitsync.Record
	end   context.CancelFunc
	ended chan error // of Run
}

// newHome makes a home as "parley init" does.
func newHome(ctx context.Context, dir string, change func(*homes.Options)) (configs.Home, error) {
	o := homes.Options{Home: configs.Home{Dir: dir}, Version: version, Fleet: "bench",
		Alias: hostName(0).String(), Human: "nat", Log: zerolog.Nop()}
	if change != nil {
		change(&o)
	}
	_, err := node.Init(ctx, o)
	return o.Home, err
}

// openHome opens the record of a home and runs it. `recorded` is called with messages that are in a
// commit. It must not block.
func openHome(ctx context.Context, home configs.Home, recorded func([]protocol.Path)) (*openRecord, error) {
	r, err := gitsync.Open(ctx, gitsync.Options{
		Dir:    home.Dir,
		Author: gitsync.Author{Name: hostName(0).String(), Email: "bench@localhost"},
		Events: gitsync.Events{Recorded: recorded},
	})
	if err != nil {
		return nil, err
	}
	running, end := context.WithCancel(context.Background())
	o := &openRecord{Record: r, end: end, ended: make(chan error, 1)}
	go func() { o.ended <- r.Run(running) }() // close ends it
	return o, nil
}

// close commits what is left and closes the record.
func (o *openRecord) close() error {
	o.end()
	return errors.Join(<-o.ended, o.Close())
}

// newRecord is openHome for a new home.
func (s *stand) newRecord(ctx context.Context, recorded func([]protocol.Path)) (*openRecord, error) {
	home, err := newHome(ctx, s.path("home"), nil)
	if err != nil {
		return nil, err
	}
	return openHome(ctx, home, recorded)
}

// patience bounds every wait for something that should take seconds at most.
const patience = 2 * time.Minute

// await returns when `done` is closed.
func await(ctx context.Context, what string, done <-chan struct{}) error {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return fmt.Errorf("waited %s in vain until %s", patience, what)
	}
}

// until asks `so` again and again until it is true.
func until(ctx context.Context, what string, every time.Duration, so func() (bool, error)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	deadline := time.Now().Add(patience)
	for {
		if ok, err := so(); ok || err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("waited %s in vain until %s", patience, what)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
