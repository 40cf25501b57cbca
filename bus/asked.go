package bus

import (
	"sync"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// asked counts the questions of other hosts that this host has answered.
type asked struct {
	mu     *sync.Mutex // guards byName and what is in it
	byName map[protocol.Name]*askedFor
}

// askedFor counts the questions of one kind.
type askedFor struct {
	requests, errors int
	last             string // the last error
	took             time.Duration
}

func newAsked() asked { return asked{mu: &sync.Mutex{}, byName: map[protocol.Name]*askedFor{}} }

// note counts one question. It must be of a kind that this host answers. So what strangers ask
// takes no room.
func (a asked) note(what protocol.Name, took time.Duration, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := a.byName[what]
	if n == nil {
		n = &askedFor{}
		a.byName[what] = n
	}
	n.requests++
	n.took += took
	if err != nil {
		n.errors++
		n.last = err.Error()
	}
}

func (a asked) of(what protocol.Name) askedFor {
	a.mu.Lock()
	defer a.mu.Unlock()
	if n := a.byName[what]; n != nil {
		return *n
	}
	return askedFor{}
}
