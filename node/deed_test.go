package node

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/testdata/ballot"
	"github.com/parleyfleet/parley/protocol"
)

// Many people put a question to the vote at one moment, in one channel. One succeeds, and the
// others are told that there is a question: commands of one affair take turns. A node that is
// started again knows what came of it.
func TestCommandsOfAnAffairTakeTurns(t *testing.T) {
	home := initHome(t, nil)
	options := Options{Home: home, Version: "test", affairs: []affair.Any{ballot.Kind()}}
	n, stop := runNodeWith(t, options)
	c := protocol.DeriveChannel("deeds", "nat")
	const people = 20
	opened := make([]error, people)
	var all sync.WaitGroup
	for i := range people {
		all.Go(func() {
			_, opened[i] = n.decider.Do(t.Context(), ballot.Open("nat", c, ballot.Proposal{Question: fmt.Sprint("question ", i), For: time.Hour}))
		})
	}
	all.Wait()
	won := -1
	for i, err := range opened {
		var refusal *fleet.Refusal
		switch {
		case err == nil && won < 0:
			won = i
		case !errors.As(err, &refusal):
			t.Errorf("proposal %d: %v", i, err)
		}
	}
	if _, err := n.decider.Do(t.Context(), ballot.Choose("nat", c, "yes")); err != nil {
		t.Fatal(err)
	}
	stop()
	n, _ = runNodeWith(t, options)
	n.mu.Lock()
	defer n.mu.Unlock()
	got := fleet.Value(n.state, ballot.Kind(), c.String(), time.Now())
	if got.Question != fmt.Sprint("question ", won) || got.Votes["nat"] != "yes" {
		t.Errorf("after a restart: %+v, want question %d", got, won)
	}
}
