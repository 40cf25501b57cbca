package collab

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/protocol"
)

// A comment answers the last check before it, though GitHub states whole seconds, and the first one
// if the host's clock was ahead. Checks of the other participant are not answered by it.
func TestTheCheckThatACommentAnswers(t *testing.T) {
	at := time.Date(2026, 4, 15, 10, 0, 0, 600e6, time.UTC)
	channel := protocol.DeriveChannel("record", "skills", "octocat")
	of := topics.Topic{}
	for i, by := range []string{"skills", "skills", "octocat"} {
		of.Checks = append(of.Checks, &topic.Check{By: by, Path: protocol.NewPath(channel, at.Add(time.Duration(i)*time.Hour), 0)})
	}
	for comment, want := range map[time.Time]int{
		at.Add(-time.Hour): 0, at.Truncate(time.Second): 0, at.Add(59 * time.Minute): 0, at.Add(time.Hour).Truncate(time.Second): 1, at.Add(9 * time.Hour): 1,
	} {
		if got := checkBefore(of, "skills", comment); got != of.Checks[want] {
			t.Errorf("%s answers %+v, want %d", comment, got, want)
		}
	}
	if got := checkBefore(of, "mawjs", at); got != nil {
		t.Errorf("nobody of that name has asked: %+v", got)
	}
}
