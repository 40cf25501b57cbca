package homes

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync"
)

// A file whose name in its tree begins with a slash, which git itself never writes, made
// the look at a record to be adopted go on for ever.
func TestSurveyOfAStrangePathEnds(t *testing.T) {
	s := &survey{there: map[string]bool{}}
	done := make(chan error, 1)
	go func() { done <- s.look(gitsync.TreeFile{Path: "/x", Plain: true}) }() // ends at once, or never
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("it goes on")
	}
}
