package gitsync

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

const (
	// roomLook is how often it is looked, while nothing could be stored, whether it can
	// be again: nobody may try for a long time.
	roomLook  = time.Second
	roomBytes = 64 << 10 // what is written for that
	roomName  = "room.tmp"
)

// room is whether messages can be stored: whether there is room on the disk, mostly.
type room struct {
	path string // of what is written to find out
	tell *teller
	log  zerolog.Logger

	mu    sync.Mutex // guards the fields below
	err   error      // why messages could not be stored when that was tried last
	tried time.Time  // when that was
}

// stored keeps for Status that messages could not be stored, or that they could.
func (r *room) stored(err error) {
	r.mu.Lock()
	before := r.err
	r.err, r.tried = err, time.Now()
	if (err == nil) != (before == nil) {
		r.tell.stuck(Storing, err) // waits for nobody; told in the order in which it was found
	}
	r.mu.Unlock()
	switch {
	case err == nil && before != nil:
		r.log.Info().Msg("messages can be stored again")
	case err != nil && before == nil:
		r.log.Error().Err(err).Msg("messages cannot be stored")
	}
}

// lacking is why nothing can be stored, or nil.
func (r *room) lacking() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// look looks now and then, while nothing could be stored, whether it can be again.
func (r *room) look() {
	r.mu.Lock()
	due := r.err != nil && time.Since(r.tried) >= roomLook
	r.mu.Unlock()
	if !due {
		return
	}
	err := writeRoom(r.path)
	if err != nil {
		err = fmt.Errorf("cannot write the journal: %w", err)
	}
	r.stored(err)
}

// writeRoom writes a file and removes it again.
func writeRoom(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, roomBytes))
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close(), os.Remove(path))
}
