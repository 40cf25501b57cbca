package hosts

import (
	"fmt"
	"math"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// chain returns the end of a chain: the host, the run, the seq, and the time of day at which it was
// written.
func chain(t *testing.T, host protocol.Name, run string, seq uint64, at int) protocol.Have {
	t.Helper()
	p, err := protocol.ParsePath(fmt.Sprintf("adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/19%02d00000Z-b2c3d4e5.md", at))
	if err != nil {
		t.Fatal(err)
	}
	return protocol.Have{Host: host, Run: run, Seq: seq, Path: p}
}

func TestLag(t *testing.T) {
	one := func(seq uint64, at int) protocol.Have { return chain(t, "white", "0badcafe", seq, at) }
	for name, c := range map[string]struct {
		mine, theirs  protocol.Report
		behind, ahead int
	}{
		"nothing yet":      {},
		"the same":         {mine: protocol.Report{Messages: 5, Have: []protocol.Have{one(3, 3)}}, theirs: protocol.Report{Messages: 5, Have: []protocol.Have{one(3, 3)}}},
		"it lacks the end": {mine: protocol.Report{Messages: 5, Have: []protocol.Have{one(3, 3)}}, theirs: protocol.Report{Messages: 3, Have: []protocol.Have{one(1, 1)}}, behind: 2},
		"it has more":      {mine: protocol.Report{Messages: 3, Have: []protocol.Have{one(1, 1)}}, theirs: protocol.Report{Messages: 5, Have: []protocol.Have{one(3, 3)}}, ahead: 2},
		"each has its own": {
			mine:   protocol.Report{Messages: 9, Have: []protocol.Have{one(5, 5), chain(t, "black", "1", 4, 4)}},
			theirs: protocol.Report{Messages: 8, Have: []protocol.Have{one(3, 3), chain(t, "black", "1", 5, 5)}}, behind: 2, ahead: 1,
		},
		"a hole, or messages without a host": {
			mine:   protocol.Report{Messages: 9, Have: []protocol.Have{one(5, 5)}},
			theirs: protocol.Report{Messages: 7, Have: []protocol.Have{one(5, 5)}}, behind: 2,
		},
		"a later run, and one before it that is shorter there": {
			mine:   protocol.Report{Messages: 20, Have: []protocol.Have{chain(t, "white", "later", 2, 9)}},
			theirs: protocol.Report{Messages: 15, Have: []protocol.Have{one(7, 7)}}, behind: 5,
		},
		"a host that it does not know": {
			mine: protocol.Report{Messages: 4, Have: []protocol.Have{one(4, 4)}}, theirs: protocol.Report{}, behind: 4,
		},
		"numbers that make no sense": {
			mine: protocol.Report{Messages: 1, Have: []protocol.Have{one(1, 1)}}, theirs: protocol.Report{Messages: 1, Have: []protocol.Have{one(math.MaxUint64, 2)}},
			behind: math.MaxInt32, ahead: math.MaxInt32,
		},
	} {
		if behind, ahead := lag(c.mine, c.theirs); behind != c.behind || ahead != c.ahead {
			t.Errorf("%s: %d behind, %d ahead, want %d and %d", name, behind, ahead, c.behind, c.ahead)
		}
	}
}
