// Package shortage knows errors that pass by themselves: the system has no more files, processes or
// memory at the moment. What fails with such an error is tried again, and has not failed.
package shortage

import (
	"context"
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/parleyfleet/parley/internal/wait"
)

// Is reports whether an error says that the system is short of something.
func Is(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.EAGAIN, syscall.ENOMEM, syscall.ENOBUFS}, func(short error) bool { return errors.Is(err, short) })
}

const (
	firstPause = 100 * time.Millisecond
	lastPause  = 10 * time.Second
)

// Outlast calls do until there is no shortage, with pauses that grow, or until ctx ends. It returns
// the last error of do. told is told the first shortage, and nil when that is over; it may be nil.
func Outlast(ctx context.Context, told func(short error), do func() error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := do()
		short := Is(err)
		if told != nil && short && pause == firstPause {
			told(err)
		}
		if !short || !wait.Sleep(ctx, pause) {
			if told != nil && pause > firstPause {
				told(nil)
			}
			return err
		}
	}
}
