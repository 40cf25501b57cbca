package bench

import (
	"fmt"
	"os"
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

// watchMemory looks every few milliseconds until stop is called.
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

// stop ends the watch and returns the most memory that was seen; 0 if the system does not tell. It
// may be called twice.
func (w *memoryWatch) stop() int64 {
	w.once.Do(func() {
		close(w.end)
		w.seen = <-w.most
	})
	return w.seen
}

// anonymousMemory is the resident memory of a process that belongs to no file, in bytes, as Linux
// tells it. It is 0 elsewhere.
func anonymousMemory(pid int) int64 { return memoryOf(pid, "RssAnon") }

// residentMemory is all resident memory of a process, in bytes, as Linux tells it. It is 0
// elsewhere.
func residentMemory(pid int) int64 { return memoryOf(pid, "VmRSS") }

func memoryOf(pid int, field string) int64 {
	kilobytes, _ := strings.CutSuffix(fieldOf(fmt.Sprintf("/proc/%d/status", pid), field), " kB")
	n, err := strconv.ParseInt(strings.TrimSpace(kilobytes), 10, 64)
	if err != nil {
		return 0
	}
	return n << 10
}

// processorTime is the processor time that a process has used, together with the programs that it
// has run and waited for, as Linux tells it. It is 0 elsewhere.
func processorTime(pid int) time.Duration {
	const tick = 10 * time.Millisecond // Linux tells it in hundredths of a second everywhere
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	// The name in brackets may hold anything; what follows it is numbers, of which
	// the 12th to the 15th are times.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	var ticks time.Duration
	for _, field := range fields[min(len(fields), 11):min(len(fields), 15)] {
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0
		}
		ticks += time.Duration(n)
	}
	return ticks * tick
}
