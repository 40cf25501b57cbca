package node

import (
	"os"
	"testing"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// In a partition both sides resume an inquiry, each for its own half of the fleet, and go on. When
// the partition has healed, all hosts say the same: one of the two coordinates, nothing that the
// other did meanwhile counts, and the inquiry comes to its end once.
// Frame F82, R54.
func TestInquiryHasOneCoordinatorAfterAPartition(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	st := newStage(t)
	link, remote := newWire(t), bareRemote(t)
	hub, _ := runNode(t, initHome(t, func(o *homes.Options) {
		o.Alias, o.Remote, o.Listen, o.Advertise = "hub", remote, "127.0.0.1:0", []string{link.address()}
	}))
	link.lead(hub)
	left, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Alias, o.Remote, o.Hubs = "left", remote, []string{link.address()} }))
	awaitMeeting(t, hub, left)
	nat := sit(t, hub)
	there := sitWith(t, left, nat.key)
	for _, n := range []*Node{hub, left} {
		st.lens(n, "chair")
		st.lens(n, "lens")
	}
	eventually(t, "the agents are known", func() bool { return len(seenAs(t, hub, "left", control.HostLive).Agents) == 2 })
	st.hold("brief")
	f := nat.frames("lens")
	st.awaitRuns("brief", 1)
	eventually(t, "left knows of it", func() bool {
		all, err := control.Frames.Ask(t.Context(), left, control.FramesRequest{})
		return err == nil && len(all.Frames) == 1
	})

	link.set(true)
	if err := os.Rename(remote, remote+"-away"); err != nil {
		t.Fatal(err)
	}
	nat.resumes(f.ID)
	there.resumes(f.ID)
	st.release("brief")
	for _, side := range []*sitting{nat, there} {
		g := side.reaches(f.ID, "GATE_BRIEF")
		if g.Epoch != 2 || g.Coordinator != "chair@"+side.cfg.Alias.String() {
			t.Errorf("%s: coordinated by %s in epoch %d", side.cfg.Alias, g.Coordinator, g.Epoch)
		}
		side.decides(g, "brief", "confirm", "mode", "inquire")
		side.reaches(f.ID, "GATE_PERSPECTIVES")
	}

	if err := os.Rename(remote+"-away", remote); err != nil {
		t.Fatal(err)
	}
	link.set(false)
	awaitMeeting(t, hub, left)
	awaitSame(t, nil, hub, left)
	var both [2]control.Frame
	eventually(t, "both say the same", func() bool {
		both = [2]control.Frame{nat.frame(f.ID), there.frame(f.ID)}
		return both[0].Coordinator == both[1].Coordinator && both[0].Epoch == 2 && both[1].Epoch == 2 && both[0].State == both[1].State &&
			both[0].Gate != nil && both[1].Gate != nil && both[0].Gate.Path == both[1].Gate.Path
	})
	nat.decides(nat.reaches(f.ID, "GATE_PERSPECTIVES"), "perspectives", "Cost", "perspectives", "Sleep")
	done := nat.wrapsUp(f.ID)
	if done.Syntheses != 1 || len(done.Members) != 2 {
		t.Errorf("%d syntheses of %d members", done.Syntheses, len(done.Members))
	}
	if got := there.reaches(f.ID, "WRAPPED_UP"); got.Coordinator != done.Coordinator || got.Syntheses != 1 {
		t.Errorf("left says %+v", got)
	}
}
