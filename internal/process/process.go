// Package process tells what the system knows of the processes of this machine: which of them is at
// the other end of a socket, and beneath which others it runs.
//
// The number of a process is used again once the process is gone. So every process is known here by
// its number and by the moment of its start.
package process

import (
	"errors"
	"slices"
)

// ID is one process.
type ID struct {
	PID   int
	Start uint64 // in a unit of the system, rising; tells the process from a later one with that number
}

// seen is what the system shows of a process.
type seen struct {
	ID
	parent   int
	ended    bool // its first thread has ended, which usually means that all of it has
	terminal int  // the number of the terminal from which somebody can control it; 0: it has none
}

// ErrGone says that a process has ended, or cannot be seen from here.
var ErrGone = errors.New("the process is gone or cannot be seen")

// ErrDeep says that a process has more ancestors than are looked at.
var ErrDeep = errors.New("the process has too many ancestors")

// maxDepth bounds the length of an ancestry, so that a reader never goes on for ever, whatever the
// system says.
const maxDepth = 4096

// tries is how often an ancestry is read again if it changes while it is read.
const tries = 16

// Ancestry returns the process `pid` and the processes beneath which it runs, itself first, as far
// up as this process may see. The error is ErrGone if not even the first one can be seen, or if the
// ancestors change while they are read. It is ErrDeep if they are too many.
func Ancestry(pid int) ([]ID, error) {
	for range tries {
		// A parent may end while it is read. Then its number may belong to another process, or its
		// child may have another parent. If two readings give the same, it was so in between.
		first, steady, err := walk(pid, maxDepth)
		if err != nil {
			return nil, err
		}
		again, still, err := walk(pid, maxDepth)
		if err == nil && steady && still && rises(first) && slices.Equal(first, again) {
			return first, nil
		}
	}
	return nil, ErrGone
}

// walk goes up from a process. `steady` is false if a parent was gone before it could be read. A
// parent whose first thread has ended still has its children: another of its threads lives on. The
// error is ErrDeep if there are more than `most`.
func walk(pid, most int) (all []ID, steady bool, err error) {
	for pid > 0 && len(all) < most {
		at, err := look(pid)
		switch {
		case len(all) == 0 && (err != nil || at.ended):
			return nil, false, ErrGone
		case errors.Is(err, ErrGone):
			return all, exists(pid), nil // it is another user's, and the system hides those
		case err != nil:
			return nil, false, err
		}
		all = append(all, at.ID)
		pid = at.parent
	}
	if pid > 0 {
		return nil, false, ErrDeep
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

// Find returns the process that has the number now.
func Find(pid int) (ID, error) {
	at, err := look(pid)
	if err == nil && at.ended {
		err = ErrGone
	}
	return at.ID, err
}

// Terminal returns the number of the terminal from which a process can be controlled; 0 if it has
// none, or cannot be seen.
func Terminal(pid int) int {
	s, err := look(pid)
	if err != nil {
		return 0
	}
	return s.terminal
}

// Alive reports whether the process still runs.
func (id ID) Alive() bool {
	at, err := Find(id.PID)
	return err == nil && at == id
}
