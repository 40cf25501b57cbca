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
	// roomLook is how often it is checked, while nothing can be stored, whether that is possible
	// again. Nobody else may try for a long time.
	roomLook  = time.Second
	roomBytes = 64 << 10 // how many bytes are written for this check
	roomName  = "room.tmp"
)

// room says whether messages can be stored. The usual reason why not is a full disk.
type room struct {
	path string // path of the file that is written for the check
	tell *teller
	log  zerolog.Logger

	mu    sync.Mutex // guards the fields below
	err   error      // why messages could not be stored at the last try
	tried time.Time  // when that was
}

// stored notes for Status that messages could not be stored, or that they could.
func (r *room) stored(err error) {
	r.mu.Lock()
	before := r.err
	r.err, r.tried = err, time.Now()
	if (err == nil) != (before == nil) {
		r.tell.stuck(Storing, err) // this waits for nobody, and keeps the order
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

// look checks now and then, while nothing can be stored, whether that is possible again.
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
