package seats

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/process"
)

// hung is a program whose register lies on a disk that does not answer before the test ends.
type hung struct {
	agentprogram.Program
	answers chan struct{}
}

func (hung) Name() string { return "claude" }

func (h hung) State(string, process.ID) (agentprogram.State, error) {
	<-h.answers
	return agentprogram.State{Status: agentprogram.Idle}, nil
}

// A disk that does not answer holds up nobody for long, and is asked by one goroutine. It prevents: a
// session whose folder lies on one freezes the node.
func TestDiskThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d disks
		h := hung{answers: make(chan struct{})}
		if _, err := d.state(h, "/net", process.ID{PID: 7}); err == nil {
			t.Error("it has answered")
		}
		for range mostAsked {
			if _, err := d.state(h, "/net", process.ID{PID: 7}); err == nil { // at once: time stands still here
				t.Error("it has answered")
			}
		}
		if got := d.real("/proc/."); got != filepath.Clean("/proc") {
			t.Errorf("another disk: %s", got)
		}
		close(h.answers)
		synctest.Wait()
		if s, err := d.state(h, "/net", process.ID{PID: 7}); err != nil || s.Status != agentprogram.Idle {
			t.Errorf("it answers again: %v, %v", s, err)
		}
	})
}
