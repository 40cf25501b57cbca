package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// A host is lost while its member has to speak in a dialogue. The human is asked, and another host
// speaks for the member, with its result. It prevents: a dialogue that nobody can end.
// Ruling R52, R54a.
func TestInquiryLosesAPeer(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	st := newStage(t)
	hub, ahead := aHub(t)
	left, stopLeft, _ := linkedTo(t, hub, "left")
	right, _, _ := linkedTo(t, hub, "right")
	nat := sit(t, hub)
	st.lens(hub, "chair")
	st.lens(left, "lens")
	st.lens(right, "lens")
	eventually(t, "the agents are known", func() bool {
		return len(seenAs(t, hub, "left", control.HostLive).Agents) == 1 && len(seenAs(t, hub, "right", control.HostLive).Agents) == 1
	})
	st.hold("exchange")
	f := nat.frames("lens@left", "lens@right")
	nat.toMembers(f)
	st.awaitRuns("exchange", 1)
	stopLeft()
	ahead.forward(time.Hour)
	lost := nat.gated(f.ID, protocol.GateLost)
	if lost.State != "DIALOGUE" || lost.Gate.Perspective != "Cost" {
		t.Fatalf("in %s it is asked about %q", lost.State, lost.Gate.Perspective)
	}
	st.release("exchange")
	seenAs(t, hub, "right", control.HostLive)
	nat.decides(lost, "onwards", "run-elsewhere")
	done := nat.wrapsUp(f.ID)
	if m := done.Members[0]; !strings.HasSuffix(m.Agent, "@right") || m.Degraded == "" || m.Result == "" || st.ran("Cost") != 1 {
		t.Errorf("Cost is %+v, and ran %d times", m, st.ran("Cost"))
	}
}

// What a peer runs on another host fails. The human is asked, and every host says why it stands. The
// call is tried again if the human waits. It prevents: a dialogue that stands, and nobody but the
// peer's host knows that.
func TestInquiryOfAPeerThatFails(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	st := newStage(t)
	hub, _ := aHub(t)
	left, _, _ := linkedTo(t, hub, "left")
	right, _, _ := linkedTo(t, hub, "right")
	nat, there := sit(t, hub), sit(t, right)
	st.lens(hub, "chair")
	st.lens(left, "lens")
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, hub, "left", control.HostLive).Agents) == 1 })
	failing := filepath.Join(st.dir, "fail-exchange")
	if err := os.WriteFile(failing, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	f := nat.frames("lens")
	nat.toMembers(f)
	lost := nat.gated(f.ID, protocol.GateLost)
	if lost.State != "DIALOGUE" || lost.Gate.Perspective != "Cost" || st.ran("exchange") != 3 {
		t.Fatalf("in %s it is asked about %q, after %d runs", lost.State, lost.Gate.Perspective, st.ran("exchange"))
	}
	there.gated(f.ID, protocol.GateLost)
	nat.decides(lost, "onwards", "keep-waiting")
	st.awaitRuns("exchange", 6)
	eventually(t, "every host says why it stands", func() bool {
		a, b := nat.frame(f.ID), there.frame(f.ID)
		return strings.Contains(a.Trouble, "Cost") && strings.Contains(a.Trouble, "code 3") && a.Helps == "parley frame resume "+f.ID && strings.Contains(b.Trouble, "code 3")
	})
	if err := os.Remove(failing); err != nil {
		t.Fatal(err)
	}
	nat.resumes(f.ID)
	nat.wrapsUp(f.ID)
}

// The host that coordinates is gone. Every other host says so, with the command that helps, and that
// command works where several agents could coordinate.
func TestCoordinatorsHostIsGone(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	st := newStage(t)
	hub, ahead := aHub(t)
	left, stopLeft, _ := linkedTo(t, hub, "left")
	nat := sit(t, left)
	there := sitWith(t, hub, nat.key)
	st.lens(left, "chair")
	for _, name := range []string{"anna", "lens", "zoe"} {
		st.lens(hub, name)
	}
	eventually(t, "the agents are known", func() bool { return len(seenAs(t, left, hub.cfg.Alias.String(), control.HostLive).Agents) == 3 })
	f := nat.frames("anna@" + hub.cfg.Alias.String())
	nat.toMembers(f)
	there.reaches(f.ID, "GATE_ROUTE")
	if f := there.frame(f.ID); f.Trouble != "" || f.Helps != "" {
		t.Fatalf("nothing is wrong, and it says %q, %q", f.Trouble, f.Helps)
	}
	stopLeft()
	seenAs(t, hub, "left", control.HostAway)
	ahead.forward(time.Hour)
	gone := there.frame(f.ID)
	if !strings.Contains(gone.Trouble, "chair@left") || !strings.Contains(gone.Trouble, "has not been heard") || gone.Helps != "parley frame resume "+f.ID {
		t.Fatalf("it says %q, %q", gone.Trouble, gone.Helps)
	}
	list, err := control.Frames.Ask(t.Context(), hub, control.FramesRequest{})
	if err != nil || len(list.Frames) != 1 || list.Frames[0].Trouble != gone.Trouble {
		t.Fatalf("the list says %+v, %v", list, err)
	}
	tried, err := control.ResumeFrame.Ask(t.Context(), hub, control.ResumeFrameRequest{ID: f.ID, Try: true})
	if err != nil {
		t.Fatal(err)
	}
	path, err := protocol.ParsePath(tried.Frame.Path)
	if err != nil {
		t.Fatal(err)
	}
	hsig := there.sign(protocol.HumanDecision{Gate: path, GateHash: tried.Frame.Hash, Act: protocol.ActFrameResume, Reason: tried.Decides})
	done, err := control.ResumeFrame.Ask(t.Context(), hub, control.ResumeFrameRequest{ID: f.ID, Hsig: hsig})
	if err != nil || !strings.HasPrefix(done.Frame.Coordinator, "lens@") { // anna is a member's name, or comes first; lens is no member
		t.Fatalf("it is coordinated by %q: %v", done.Frame.Coordinator, err)
	}
	there.wrapsUp(f.ID)
}

// Two answers with one key contradict each other. It is said with the command that helps. Another
// answer as if it were the first is refused. It prevents: a gate with ever more answers, of which
// none can be taken back.
func TestContestedGate(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	n, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Alias = "hub" }))
	nat := sit(t, n)
	st.lens(n, "chair")
	st.lens(n, "lens")
	st.hold("context")
	f := nat.frames("lens")
	g := nat.reaches(f.ID, "GATE_BRIEF")
	nat.decides(g, "brief", "confirm", "mode", "inquire")
	nat.decides(g, "brief", "confirm", "mode", "recommend")
	now := nat.frame(f.ID)
	if now.Gate == nil || !now.Gate.Contested || len(now.Gate.Said) != 2 || now.Helps != "parley frame answer "+f.ID+" --takes-back" || !strings.Contains(now.Trouble, "confirm, inquire") {
		t.Fatalf("it says %q, %q: %+v", now.Trouble, now.Helps, now.Gate)
	}
	_, err := nat.tries(now, "brief", "confirm", "mode", "inquire")
	if e := control.AsError(err); err == nil || !strings.Contains(e.Hint, "--takes-back") {
		t.Errorf("another answer: %v", err)
	}
	st.release("context")
	w := protocol.InquiryAnswer{Gate: g.Gate.Gate, Set: g.Gate.Set, Chosen: now.Gate.Said[0].Chosen, TakesBack: now.Gate.Said[1].Hash}
	path, err := protocol.ParsePath(g.Gate.Path)
	if err != nil {
		t.Fatal(err)
	}
	hsig := nat.sign(protocol.HumanDecision{Gate: path, GateHash: g.Gate.Hash, Act: protocol.ActFrameAnswer, Reason: w.Decides(), TakesBack: w.TakesBack})
	if _, err := control.AnswerFrame.Ask(t.Context(), n, control.AnswerFrameRequest{ID: f.ID, Gate: g.Gate.Path, Chosen: w.Chosen, TakesBack: w.TakesBack, Hsig: hsig}); err != nil {
		t.Fatal(err)
	}
	nat.reaches(f.ID, "GATE_PERSPECTIVES")
}
