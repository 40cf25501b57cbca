package seats

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/process"
)

// disks asks what lies on disks that need not answer, such as those of another machine or of a program
// that a session has started. Nobody waits for them longer than `patience`, and nobody asks again what
// was not answered yet. Its zero value asks nothing yet. It is safe for concurrent use.
type disks struct {
	mu    sync.Mutex           // guards asked, and `late` of what is there
	asked map[string]*question // what is under way
}

type question struct {
	answered chan struct{} // closed when answer is set
	answer   any
	late     bool
}

const (
	// patience is how long a disk may take to answer.
	patience = 100 * time.Millisecond
	// mostAsked bounds how many goroutines wait for disks.
	mostAsked = 64
)

// ask returns what `look` finds. `key` tells a question from others. It returns false if the disk does
// not answer.
func (d *disks) ask(key string, look func() any) (answer any, ok bool) {
	d.mu.Lock()
	q := d.asked[key]
	switch {
	case q != nil && q.late, q == nil && len(d.asked) >= mostAsked:
		d.mu.Unlock()
		return nil, false
	case q == nil:
		if d.asked == nil {
			d.asked = map[string]*question{}
		}
		q = &question{answered: make(chan struct{})}
		d.asked[key] = q
		go func() { // ends when the disk answers
			q.answer = look()
			d.mu.Lock()
			defer d.mu.Unlock()
			delete(d.asked, key)
			close(q.answered)
		}()
	}
	d.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-q.answered:
		return q.answer, true
	case <-timer.C:
		d.mu.Lock()
		defer d.mu.Unlock()
		q.late = true
		return nil, false
	}
}

// real is a path without the links in it; as it was said if nobody knows.
func (d *disks) real(path string) string {
	found, _ := d.ask(path, func() any {
		real, err := filepath.EvalSymlinks(path)
		if err != nil {
			return filepath.Clean(path)
		}
		return real
	})
	if real, ok := found.(string); ok {
		return real
	}
	return filepath.Clean(path)
}

// state is what a program itself says of its session.
func (d *disks) state(program agentprogram.Program, home string, of process.ID) (agentprogram.State, error) {
	type said struct {
		state agentprogram.State
		err   error
	}
	found, ok := d.ask(fmt.Sprintf("%s of %d, %s", program.Name(), of.PID, home), func() any {
		state, err := program.State(home, of)
		return said{state, err}
	})
	if !ok {
		return agentprogram.State{}, errors.New("cannot tell what the session is at: its disk does not answer")
	}
	return found.(said).state, found.(said).err
}
