package fleet

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/protocol"
)

// Each stage that a message has come to with somebody was brought by exactly one message,
// and none was brought that it has not come to. It prevents: an event that comes twice or
// never.
func TestEveryStageIsBroughtOnce(t *testing.T) {
	t.Parallel()
	type stage struct {
		of    protocol.Path
		by    string
		stage protocol.Stage
	}
	brought := 0
	check := func(seed int, s *State) {
		t.Helper()
		count := map[stage]int{}
		for it := range s.Ledger.All() {
			if a, ok := s.Talk.Advance(it); ok {
				count[stage{a.Of.Path, a.By, a.Stage}]++
				brought++
			}
		}
		for it := range s.Ledger.All() {
			for _, p := range s.Talk.Progress(it) {
				read, answered := stage{it.Path, p.Name, protocol.StageRead}, stage{it.Path, p.Name, protocol.StageAnswered}
				if p.Answered != (count[answered] == 1) || p.Read && !p.Answered && count[read] != 1 || !p.Read && count[read] > 0 || count[read] > 1 {
					t.Fatalf("case %d: %s: %+v, but it was read %d and answered %d times", seed, it.Path, p, count[read], count[answered])
				}
				delete(count, read)
				delete(count, answered)
			}
		}
		if len(count) > 0 {
			t.Fatalf("case %d: nobody is at the stages %v", seed, count)
		}
	}
	for seed := range seeds(20) {
		c := newChaos(t, uint64(seed))
		for range 10 + c.IntN(40) {
			c.step()
		}
		check(seed, foldedIcily(t, c.anchor, c.files, c.Rand))
		w := &silence{Rand: rand.New(rand.NewPCG(uint64(seed), 15)), t: t, channel: protocol.DeriveChannel(testRecord, "x"),
			at: time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC), host: newTestHost(t, "a", "a")}
		w.says("nat")
		for range 10 + w.IntN(120) {
			w.write()
		}
		check(seed, foldedIcily(t, keys.Anchor{RecordID: testRecord}, w.files, w.Rand))
	}
	if brought < 2*seeds(20) {
		t.Errorf("only %d stages were brought: the test says little", brought)
	}
}
