package serving

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/notices"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/node/trail"
	"github.com/parleyfleet/parley/protocol"
)

// queueWith is a queue of mawjs in which one message waits. The agent may be run once in an hour.
func queueWith(t *testing.T, now func() time.Time) (q *queue, s *fleet.State, waits *task) {
	t.Helper()
	s, p := stateWith(t)
	o := &Options{
		Host: "hub", Now: now, Config: configs.Config{MaxRuns: 1, MaxHops: 6, MaxConversationRuns: 1},
		Notices: notices.New(zerolog.Nop(), now, feed.NewEvents(now)),
	}
	runs, err := runlog.Open(filepath.Join(t.TempDir(), "runs"), now, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runs.Close() })
	q = newQueue(&tools{Options: o, steps: steps{log: zerolog.Nop(), trail: trail.New(now)}, runs: runs, budgets: newBudgets(o, runs)}, nil,
		fleet.Who{Name: "mawjs", Host: "hub"}, configs.Agent{Name: "mawjs", Door: configs.DoorExec, Accepts: configs.AcceptAnyone, Tiers: []configs.Tier{{Name: "default", Count: 1}}})
	it, _ := s.Ledger.Item(p)
	if q.add(s, it); q.tasks[p] == nil {
		t.Fatal("the message does not wait")
	}
	return q, s, q.tasks[p]
}

// A message can be canceled while its agent awaits the receipt that may say what the message
// answers. The canceled message leaves nothing behind.
func TestACanceledMessageAwaitsNoReceipt(t *testing.T) {
	q, s, waits := queueWith(t, time.Now)
	q.delay(waits, forReceipt, time.Hour) // as for the unsigned answer of another program
	p := waits.it.Path
	if q.takeOut(s, p, &cancellation{by: "nat"}) == nil {
		t.Fatal("it does not wait")
	}
	if q.waiting() != 0 || q.takeOut(s, p, nil) != nil {
		t.Error("it is canceled, and still waits")
	}
	q.gone(p)
	if len(q.tasks) > 0 || q.count != [states]int{} || q.delayed != [delays]int{} {
		t.Errorf("it leaves %v, %v, %v", q.tasks, q.count, q.delayed)
	}
	if _, it := q.first(); it != nil {
		t.Errorf("%s is still in line", it.it.Path)
	}
}

// It prevents: a message that waits for its agent's budget is looked at too early, because the
// clock was put back, and nobody looks again.
func TestWhatIsLookedAtTooEarlyIsLookedAtAgain(t *testing.T) {
	now := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	q, s, waits := queueWith(t, func() time.Time { return now })
	if _, err := q.runs.Start(runlog.Job{Path: protocol.NewPath(waits.it.Path.Channel(), now, 7), Agent: "mawjs"}, "default", true); err != nil {
		t.Fatal(err)
	}
	l, _ := q.first()
	l.Take()
	if !q.hold(&overspent{why: "max_runs is 1"}, waits) || q.count[overHour] != 1 {
		t.Fatalf("it does not wait for the budget: %v", q.count)
	}
	q.again.Stop()
	q.reopen(s)
	if waits.state != overHour || !q.again.Stop() {
		t.Errorf("it is in state %d, or nobody looks again", waits.state)
	}
	now = now.Add(time.Hour + time.Second)
	q.reopen(s)
	if _, next := q.first(); next != waits || waits.spent != "" || q.warned {
		t.Errorf("an hour later it waits: %+v", waits)
	}
}

// A message that is put back while its attempt ends waits until that has ended.
func TestAMessageThatIsTriedAgainWaitsForTheEndOfItsAttempt(t *testing.T) {
	now := time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)
	q, s, waits := queueWith(t, func() time.Time { return now })
	q.claims = claimsAt("hub", s, nil)
	j, ok := q.next(s)
	if !ok || j.it != waits.it {
		t.Fatalf("next is %+v", j)
	}
	q.begin(j)
	q.later(j, time.Second)
	now = now.Add(time.Minute)
	if _, ok := q.next(s); ok {
		t.Error("it is run while its last attempt has not ended")
	}
	q.end(s, j)
	if j, ok = q.next(s); !ok || j.it != waits.it {
		t.Errorf("next is %+v", j)
	}
	q.begin(j)
	if q.end(s, j); len(q.tasks) > 0 || q.count != [states]int{} || q.delayed != [delays]int{} || q.running["default"] != 0 {
		t.Errorf("it leaves %v, %v, %v, %v", q.tasks, q.count, q.delayed, q.running)
	}
}

// It prevents: somebody has a message tried again in the moment in which the queue lets go of it,
// because it was given up. The queue took it for one that waits already, and nobody ran it.
func TestWhatComesAgainWhileItIsHandledIsLookedAtAgain(t *testing.T) {
	q, s, waits := queueWith(t, time.Now)
	who := q.who
	for _, again := range []bool{true, false} {
		q.who.Name = "volt" // the message does not reach that agent, as if it had been given up
		j, ok := q.next(s)
		if !ok {
			t.Fatal("the message is not taken")
		}
		q.begin(j)
		q.who = who
		if again {
			q.add(s, waits.it)
		}
		q.end(s, j)
		if want := map[bool]int{true: 1}[again]; q.waiting() != want || len(q.tasks) != want {
			t.Errorf("again %t: %d messages wait", again, q.waiting())
		}
	}
}
