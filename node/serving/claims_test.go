package serving

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/presence"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/protocol"
)

// stateWith is a state that has a plain message of zoe to mawjs.
func stateWith(t *testing.T) (s *fleet.State, p protocol.Path) {
	t.Helper()
	at := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	s, p = fleet.New(keys.Anchor{}), protocol.NewPath(protocol.DeriveChannel("record", "zoe", "mawjs"), at, 1)
	file := "---\nfrom: zoe\nto: mawjs\ntype: text\ntimestamp: " + at.Format(protocol.TimestampLayout) + "\n---\n\nhello\n"
	if taken := s.TakeAll([]fleet.Examined{s.Examine(p, []byte(file))}); len(taken) != 1 || taken[0] == nil {
		t.Fatalf("the state took %v", taken)
	}
	return s, p
}

// claimsAt are the claims of a host that has heard nothing of others.
func claimsAt(host protocol.Name, s *fleet.State, record Record, served ...configs.Agent) *claims {
	o := &Options{
		Host: host, Now: time.Now, Log: zerolog.Nop(), Attendance: Attendance{Roster: new(agents.Roster), Sessions: sessions.New(time.Now, nil)}, Record: record,
		Folded: func(read func(*fleet.State)) { read(s) },
	}
	o.Roster.Set(served)
	return newClaims(o, newVigil(time.Now, presence.NewLive(time.Now, feed.NewEvents(time.Now)), time.Now()), &doors{tools: &tools{Options: o}})
}

// A claim whose asking was ended is asked for again. It prevents: its message is forgotten until
// the node is started anew.
func TestAClaimWhoseAskingWasEnded(t *testing.T) {
	s, p := stateWith(t)
	c := claimsAt("hub", s, endedAsking{}, configs.Agent{Name: "mawjs", Paused: true})
	w := work{p, "mawjs", 0}
	c.want(w, "hub")
	for range 2 {
		batch := c.next()
		if len(batch) != 1 || batch[0].work != w {
			t.Fatalf("to be claimed: %v", batch)
		}
		c.claim(t.Context(), batch)
		if batch := c.next(); len(batch) > 0 {
			t.Errorf("tried again without a pause: %v", batch)
		}
		c.look(t.Context())
	}
	if warned := c.warnings(); len(warned) > 0 {
		t.Errorf("it warns: %v", warned)
	}
}

// endedAsking is a record whose asking for claims is ended before there is an answer.
type endedAsking struct{ Record }

func (endedAsking) Claim(context.Context, string, string) (bool, error) {
	return false, fmt.Errorf("cannot claim it: %w", context.Canceled)
}

// A host that gets a claim of what others are to do, because the agent is not served here any more,
// gives it up at once. If the remote does not take that, it is tried again in a minute.
func TestAClaimOfWhatOthersAreToDoIsGivenUp(t *testing.T) {
	s, p := stateWith(t)
	for _, refuses := range []error{nil, context.DeadlineExceeded} {
		record := &oneClaim{refuses: refuses}
		c := claimsAt("hub", s, record)
		w := work{p, "mawjs", 0}
		c.tidy = c.Now()
		c.want(w, "white")
		c.settle(t.Context())
		if !slices.Equal(record.given, []string{w.name()}) || c.works[w] != nil {
			t.Errorf("given up are %v", record.given)
		}
		if soon := c.Now().Sub(c.tidy) > claimTidy-2*claimTidyAgain; soon != (refuses != nil) {
			t.Errorf("refused with %v, and looked for again soon: %v", refuses, soon)
		}
	}
}

// oneClaim is a record that grants every claim.
type oneClaim struct {
	Record
	refuses error // to give a claim up
	given   []string
}

func (*oneClaim) Claim(context.Context, string, string) (bool, error) { return true, nil }
func (*oneClaim) Fetch(context.Context) error                         { return nil }
func (*oneClaim) Status() gitsync.Status                              { return gitsync.Status{} }

func (o *oneClaim) Unclaim(_ context.Context, name string) error {
	o.given = append(o.given, name)
	return o.refuses
}
