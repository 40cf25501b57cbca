// Package process tells what the system knows of processes of this machine: which
// one is at the other end of a socket, and beneath which others it runs.
//
// A process number is used again once its process is gone. So every process here
// is known by its number and the moment of its start.
package process

import (
	"errors"
	"slices"
)

// ID is one process.
type ID struct {
	PID   int
	Start uint64 // in a unit of the system, rising; tells it from a later process of that number
}

// ErrGone says that a process has ended, or cannot be seen from here.
var ErrGone = errors.New("the process is gone or cannot be seen")

// maxDepth bounds an ancestry, so that nothing that the system says can make a
// reader walk for ever.
const maxDepth = 4096

// tries is how often an ancestry that changes while it is read is read again.
const tries = 16

// Ancestry is the process pid and those beneath which it runs, itself first, as
// far up as this process may see. The error is ErrGone where not even the first can
// be seen, or where the ancestors do not stand still while they are read.
func Ancestry(pid int) ([]ID, error) {
	for range tries {
		// A parent may end while it is read: its number would then be another's, or
		// its child somebody else's. What is read twice alike was so in between.
		first, steady, err := walk(pid)
		if err != nil {
			return nil, err
		}
		again, still, err := walk(pid)
		if err == nil && steady && still && rises(first) && slices.Equal(first, again) {
			return first, nil
		}
	}
	return nil, ErrGone
}

// walk goes up from a process. It is not steady where a parent was gone before it
// could be read. A parent that has ended in part still has its children: one of its
// threads lives on.
func walk(pid int) (all []ID, steady bool, err error) {
	for pid > 0 && len(all) < maxDepth {
		at, parent, ended, err := look(pid)
		switch {
		case len(all) == 0 && (err != nil || ended):
			return nil, false, ErrGone
		case errors.Is(err, ErrGone):
			return all, exists(pid), nil // it is another user's, where the system hides those
		case err != nil:
			return nil, false, err
		}
		all = append(all, at)
		pid = parent
	}
	return all, true, nil
}

// rises reports whether no process is older than its parent.
func rises(all []ID) bool {
	for i := 1; i < len(all); i++ {
		if all[i].Start > all[i-1].Start {
			return false
		}
	}
	return true
}

// Find is the process that has the number now.
func Find(pid int) (ID, error) {
	at, _, ended, err := look(pid)
	if err == nil && ended {
		err = ErrGone
	}
	return at, err
}

// Alive reports whether the process still runs.
func (id ID) Alive() bool {
	at, err := Find(id.PID)
	return err == nil && at == id
}
