package homes

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync"
)

// It prevents: a file whose name in its tree begins with a slash makes the survey of a record that
// is adopted go on for ever. Git itself never writes such a name.
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
