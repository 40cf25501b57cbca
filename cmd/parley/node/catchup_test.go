package node

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// behindNode is a node that catches up by one message with each look at it.
type behindNode struct{ arrived, arriving int }

func (n *behindNode) status(context.Context) (control.Status, error) {
	s := control.Status{Record: control.RecordStatus{Remote: "r", LastFetch: time.Unix(1, 0)}}
	if n.arrived < n.arriving {
		n.arrived++
		s.Record.Arriving, s.Record.Arrived = n.arriving, n.arrived
	}
	return s, nil
}

// A person at a terminal sees how far a node has come. Elsewhere nothing is printed, and nothing is
// waited for.
func TestCatchingUpIsShown(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		var out strings.Builder
		v := cli.View{Err: term.Screen{Writer: &out, Terminal: terminal, Width: 80}}
		n := &behindNode{arriving: 14}
		showCatchUp(t.Context(), control.Bind(control.ShowStatus.By(n.status)), v)
		if shown := strings.Contains(out.String(), "catching up ["); shown != terminal || terminal != (n.arrived == n.arriving) {
			t.Errorf("terminal %t: after %d looks it shows %q", terminal, n.arrived, out.String())
		}
	}
}
