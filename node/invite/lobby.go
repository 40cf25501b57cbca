package invite

import (
	"slices"
	"sync"
)

// maxStrangers bounds how many may be connected that have not named a line yet.
const maxStrangers = 256

// lobby are the connections that have not named a line yet. If it is full, the oldest one goes: whoever
// has a line names it at once.
type lobby struct {
	mu   sync.Mutex // guards the field below
	here []Conn     // the oldest first
}

// enter takes a connection in until leave is called.
func (l *lobby) enter(conn Conn) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.here) >= maxStrangers {
		go l.here[0].Close() // ends within seconds: it says goodbye
		l.here = l.here[1:]
	}
	l.here = append(l.here, conn)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.here = slices.DeleteFunc(l.here, func(c Conn) bool { return c == conn })
	}
}
