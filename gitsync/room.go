package gitsync

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

const (
	// roomLook is how often it is looked, while nothing could be stored, whether it can
	// be again: nobody may try for a long time.
	roomLook  = time.Second
	roomBytes = 64 << 10 // what is written for that
	roomName  = "room.tmp"
)

// noteStored keeps for Status that letters could not be stored, or that they could.
func (r *Record) noteStored(err error) {
	r.state.mu.Lock()
	before := r.state.storeErr
	r.state.storeErr, r.state.storeTried = err, time.Now()
	r.state.mu.Unlock()
	switch {
	case err == nil && before != nil:
		r.log.Info().Msg("messages can be stored again")
	case err != nil && before == nil:
		r.log.Error().Err(err).Msg("messages cannot be stored")
	}
}

// lookForRoom looks now and then, while nothing could be stored, whether it can be again.
func (r *Record) lookForRoom() {
	r.state.mu.Lock()
	due := r.state.storeErr != nil && time.Since(r.state.storeTried) >= roomLook
	r.state.mu.Unlock()
	if !due {
		return
	}
	err := writeRoom(filepath.Join(r.opts.Dir, journalName, roomName))
	if err != nil {
		err = fmt.Errorf("cannot write the journal: %w", err)
	}
	r.noteStored(err)
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
