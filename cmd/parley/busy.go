package main

import (
	"sync"
	"time"
)

// busyAfter is how long something may take before a person is told what it is.
const busyAfter = time.Second

// busy tells a person at a terminal what is being waited for, once that takes
// longer than a second. done ends it.
func (v view) busy(what string) (done func()) {
	if !v.err.Terminal || v.json {
		return func() {}
	}
	var mu sync.Mutex // guards ended
	ended := false
	timer := time.AfterFunc(busyAfter, func() {
		mu.Lock()
		defer mu.Unlock()
		if !ended {
			v.err.Printf("%s\n", v.err.Dim(what+" …"))
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		defer mu.Unlock()
		ended = true
	}
}
