package bench

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"
)

// memoryWatch looks at a process's memory again and again.
type memoryWatch struct {
	end  chan struct{}
	once sync.Once
	most chan int64
	seen int64 // after stop
}

// watchMemory looks every few milliseconds until stop.
func watchMemory(pid int) *memoryWatch {
	w := &memoryWatch{end: make(chan struct{}), most: make(chan int64, 1)}
	go func() { // stop ends it
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		most := int64(0)
		for {
			most = max(most, anonymousMemory(pid))
			select {
			case <-tick.C:
			case <-w.end:
				w.most <- most
				return
			}
		}
	}()
	return w
}

// stop ends the watch and returns the most that was seen, 0 where the system does
// not tell. It may be called twice.
func (w *memoryWatch) stop() int64 {
	w.once.Do(func() {
		close(w.end)
		w.seen = <-w.most
	})
	return w.seen
}

// anonymousMemory is the resident memory of a process that is no file's, as Linux
// tells it; 0 elsewhere.
func anonymousMemory(pid int) int64 {
	kilobytes, _ := strings.CutSuffix(fieldOf(fmt.Sprintf("/proc/%d/status", pid), "RssAnon"), " kB")
	n, err := strconv.ParseInt(strings.TrimSpace(kilobytes), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}
