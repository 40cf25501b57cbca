package inquiry

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/protocol"
)

// The disk is full when a member's run ends. The member's result is kept once there is room again.
// It prevents: the result is lost, and the run, which is made once, is told as one that the end of
// the node cut short.
func TestResultOutlastsAFullDisk(t *testing.T) {
	dir := t.TempDir()
	at := protocol.NewPath("c0ffee", time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC), 0)
	m := &inquiries.Member{Perspective: "Cost", Agent: protocol.Address{Name: "lens", Host: "hub"}, Attempt: 1, Given: at}
	v := inquiries.Inquiry{Path: at, Channel: "c0ffee", State: inquiries.Await, Epoch: 1, Members: []*inquiries.Member{m}, By: m.Agent, Coordinator: m.Agent}
	c := inquiries.Call{Do: protocol.ActFrameSignal, By: m.Agent, Perspective: "Cost", Attempt: 1}
	runs, told := 0, 0
	var q *Inquiries
	aside := filepath.Join(dir, "aside")
	q = New(Options{
		Host: "hub", Spool: filepath.Join(dir, "spool"), Places: filepath.Join(dir, "places"),
		Folded: func(func(*fleet.State)) {}, Walls: func(context.Context, configs.Agent) bool { return false },
		Agents: func() []configs.Agent {
			return []configs.Agent{{Name: "lens", Door: configs.DoorExec, Tiers: []configs.Tier{{Name: "default", Count: 1, Exec: "lens"}}}}
		},
		Do: func(context.Context, control.Caller, affair.Command) ([]protocol.Path, error) {
			told++
			return nil, nil
		},
		Member: func(context.Context, configs.Agent, MemberRun) door.Result {
			runs++
			if err := os.Rename(q.spool.dir, aside); err != nil { // a file in place of the folder refuses all that is written
				t.Fatal(err)
			}
			if err := os.WriteFile(q.spool.dir, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			return door.Result{Output: "What it costs."}
		},
	})
	if err := q.investigate(t.Context(), v, c); err == nil || told > 0 {
		t.Fatalf("told %d times though nothing could be kept: %v", told, err)
	}
	if err := os.Remove(q.spool.dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(aside, q.spool.dir); err != nil {
		t.Fatal(err)
	}
	if err := q.investigate(t.Context(), v, c); err != nil {
		t.Fatal(err)
	}
	restarted := &spool{dir: q.spool.dir}
	k, ok, err := restarted.read(v.Channel, "Cost", 1)
	if err != nil || !ok || k.Outcome != protocol.SignalCompleted || !strings.HasSuffix(k.Result, "\nWhat it costs.") || runs != 1 || told != 1 {
		t.Errorf("kept %+v (%v, %v) after %d runs, told %d times", k, ok, err, runs, told)
	}
	if err := q.spool.drop(v.Channel); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := q.spool.read(v.Channel, "Cost", 1); ok || err != nil {
		t.Errorf("an inquiry that is over is kept: %v, %v", ok, err)
	}
}
