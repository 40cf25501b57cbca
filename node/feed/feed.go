// Package feed tells what goes on to those who follow it.
package feed

import (
	"context"
	"slices"
	"sync"

	"github.com/parleyfleet/parley/internal/wait"
)

// Feeds are the feeds of those who follow what goes on, one T after the other. Each feed gets
// everything that is added, in that order. Adding never waits for a follower. It calls only the
// function with which a follower says what it wants. The zero value is ready.
type Feeds[T any] struct {
	mu  sync.Mutex // guards what follows, and all feeds
	all map[*Feed[T]]struct{}
}

// Feed collects what is added, for one follower.
type Feed[T any] struct {
	of      *Feeds[T]
	most    int
	wants   func(T) bool // nil: everything
	waiting []T
	missed  int           // how many came while `waiting` was full
	wake    chan struct{} // holds a token when something has come
}

// Follow begins a feed that holds at most `most` things. `wants` says which things are wanted (nil:
// everything). It is called while something is added, so it must not call anything. End ends the
// feed.
func (fs *Feeds[T]) Follow(most int, wants func(T) bool) *Feed[T] {
	f := &Feed[T]{of: fs, most: most, wants: wants, wake: make(chan struct{}, 1)}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.all == nil {
		fs.all = map[*Feed[T]]struct{}{}
	}
	fs.all[f] = struct{}{}
	return f
}

// Followed reports whether anybody follows.
func (fs *Feeds[T]) Followed() bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return len(fs.all) > 0
}

// Add adds something to all feeds that want it.
func (fs *Feeds[T]) Add(what T) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for f := range fs.all {
		switch {
		case f.wants != nil && !f.wants(what):
		case len(f.waiting) >= f.most:
			f.missed++
		default:
			f.waiting = append(f.waiting, what)
			wait.Nudge(f.wake)
		}
	}
}

// End ends the feed.
func (f *Feed[T]) End() {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	delete(f.of.all, f)
}

// Wake holds a token when something has come since Drain.
func (f *Feed[T]) Wake() <-chan struct{} { return f.wake }

// Leave takes things out of the feed.
func (f *Feed[T]) Leave(which func(T) bool) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	f.waiting = slices.DeleteFunc(f.waiting, which)
}

// Drain takes what has come since the last time. `missed` is how many came after that and could not
// be kept.
func (f *Feed[T]) Drain() (waiting []T, missed int) {
	f.of.mu.Lock()
	defer f.of.mu.Unlock()
	waiting, missed = f.waiting, f.missed
	f.waiting, f.missed = nil, 0
	return waiting, missed
}

// Each calls `yield` with what comes, and `missed` with how many came that could not be kept, until
// `ctx` ends or one of the two fails.
func (f *Feed[T]) Each(ctx context.Context, yield func(T) error, missed func(count int) error) error {
	for {
		select {
		case <-f.wake:
		case <-ctx.Done():
			return nil
		}
		waiting, left := f.Drain()
		for _, one := range waiting {
			if err := yield(one); err != nil {
				return err
			}
		}
		if left > 0 {
			if err := missed(left); err != nil {
				return err
			}
		}
	}
}
