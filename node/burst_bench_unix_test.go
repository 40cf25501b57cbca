//go:build unix

package node

import (
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// BenchmarkBurst measures what a message costs two linked hosts in this process, from Send at full
// speed until the other host has it. It reports processor time beside the time that passes.
func BenchmarkBurst(b *testing.B) {
	const senders = 16
	from, to := linkedPair(b)
	before := size(from)
	began := processorTime(b)
	b.ResetTimer()
	var sending sync.WaitGroup
	for w := range senders {
		sending.Go(func() { // ends with its share
			for i := w; i < b.N; i += senders {
				if _, err := control.Send.Ask(b.Context(), from, control.SendRequest{To: []string{"all"}, Body: fmt.Sprint("word ", i)}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	sending.Wait()
	for size(to) < before+b.N {
		<-time.After(time.Millisecond)
	}
	b.ReportMetric(float64((processorTime(b)-began).Microseconds())/float64(b.N), "cpu-µs/op")
}

// processorTime is the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	used, err := usedTime()
	if err != nil {
		b.Fatal(err)
	}
	return used
}

// usedTime returns the processor time that this process has used.
func usedTime() (time.Duration, error) {
	var used syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), err
}
