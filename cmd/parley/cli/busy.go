package cli

import (
	"sync"
	"time"
)

// busyAfter is how long something may take before a person is told what it is.
const busyAfter = time.Second

// Busy tells a person at a terminal what is being waited for, if the wait takes longer than a
// second. `done` ends it.
func (v View) Busy(what string) (done func()) {
	if !v.Err.Terminal || v.JSON {
		return func() {}
	}
	var mu sync.Mutex // guards ended
	ended := false
	timer := time.AfterFunc(busyAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			v.Err.Printf("%s\n", v.Err.Dim(what+" …"))
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}
}
