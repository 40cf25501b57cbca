package node

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// stage is where the scripted agents of one test wait for each other.
type stage struct {
	testing.TB
	dir string
}

func newStage(t testing.TB) stage {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the agents are shell scripts")
	}
	return stage{t, t.TempDir()}
}

// lens has a node serve a scripted agent.
func (s stage) lens(n *Node, name string) {
	s.Helper()
	script, err := filepath.Abs(filepath.Join("testdata", "lens.sh"))
	if err != nil {
		s.Fatal(err)
	}
	addExec(s, n, name, script+" "+s.dir)
}

// hold has those who do something wait before they answer, until release.
func (s stage) hold(what string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "hold-"+what), nil, 0o600); err != nil {
		s.Fatal(err)
	}
}

func (s stage) release(what string) {
	s.Helper()
	if err := os.Remove(filepath.Join(s.dir, "hold-"+what)); err != nil {
		s.Fatal(err)
	}
}

// ran is how often something was asked for.
func (s stage) ran(what string) int {
	data, _ := os.ReadFile(filepath.Join(s.dir, "ran-"+what)) // none yet
	return strings.Count(string(data), "run")
}

func (s stage) awaitRuns(what string, want int) {
	s.Helper()
	eventually(s, what+" is asked for", func() bool { return s.ran(what) >= want })
}

// frames begins an inquiry as the human, with the agent chair as coordinator.
func (s *sitting) frames(agents ...string) control.Frame {
	s.Helper()
	r := control.FrameRequest{Question: "Which of the two stores should we keep?", Coordinator: "chair", Agents: agents, Try: true}
	tried, err := control.OpenFrame.Ask(s.Context(), s.Node, r)
	if err != nil {
		s.Fatal(err)
	}
	r.Try, r.At, r.Hsig = false, tried.At, s.sign(protocol.HumanDecision{Act: protocol.ActFrame, Reason: tried.Decides})
	begun, err := control.OpenFrame.Ask(s.Context(), s.Node, r)
	if err != nil {
		s.Fatal(err)
	}
	return begun.Frame
}

// frame is an inquiry as a host shows it.
func (s *sitting) frame(id string) control.Frame {
	s.Helper()
	f, err := control.ShowFrame.Ask(s.Context(), s.Node, control.ShowFrameRequest{ID: id})
	if err != nil {
		s.Fatal(err)
	}
	return f
}

// reaches waits until an inquiry is in a state.
func (s *sitting) reaches(id, state string) (f control.Frame) {
	s.Helper()
	defer func() {
		if s.Failed() {
			s.Logf("it is in %s, waits for %s, trouble: %s", f.State, f.Waits, f.Trouble)
		}
	}()
	eventually(s, "the inquiry is in "+state, func() bool {
		f = s.frame(id)
		return f.State == state && (f.Gate != nil || !strings.HasPrefix(state, "GATE_")) // the gate is asked a moment later
	})
	return f
}

// gated waits until a gate is open.
func (s *sitting) gated(id, gate string) (f control.Frame) {
	s.Helper()
	eventually(s, "the gate "+gate+" is open", func() bool {
		f = s.frame(id)
		return f.Gate != nil && f.Gate.Gate == gate
	})
	return f
}

// decides answers the gate that is open. Each pair is a question and an option.
func (s *sitting) decides(f control.Frame, pairs ...string) control.Frame {
	s.Helper()
	next, err := s.tries(f, pairs...)
	if err != nil {
		s.Fatal(err)
	}
	return next
}

func (s *sitting) tries(f control.Frame, pairs ...string) (control.Frame, error) {
	s.Helper()
	w := protocol.InquiryAnswer{Gate: f.Gate.Gate, Set: f.Gate.Set}
	for i := 0; i < len(pairs); i += 2 {
		j := slices.IndexFunc(w.Chosen, func(c protocol.InquiryChoice) bool { return c.Question == pairs[i] })
		if j < 0 {
			w.Chosen, j = append(w.Chosen, protocol.InquiryChoice{Question: pairs[i]}), len(w.Chosen)
		}
		w.Chosen[j].Options = append(w.Chosen[j].Options, pairs[i+1])
	}
	path, err := protocol.ParsePath(f.Gate.Path)
	if err != nil {
		s.Fatal(err)
	}
	hsig := s.sign(protocol.HumanDecision{Gate: path, GateHash: f.Gate.Hash, Act: protocol.ActFrameAnswer, Reason: w.Decides()})
	return control.AnswerFrame.Ask(s.Context(), s.Node, control.AnswerFrameRequest{ID: f.Channel.String(), Gate: f.Gate.Path, Chosen: w.Chosen, Hsig: hsig})
}

// toMembers brings an inquiry to the state in which its members work.
func (s *sitting) toMembers(f control.Frame) {
	s.Helper()
	s.decides(s.reaches(f.ID, "GATE_BRIEF"), "brief", "confirm", "mode", "inquire")
	s.decides(s.reaches(f.ID, "GATE_PERSPECTIVES"), "perspectives", "Cost", "perspectives", "Sleep")
}

// awaitEnded waits until the member of a perspective has ended.
func (s *sitting) awaitEnded(id, perspective string) {
	s.Helper()
	eventually(s, "the member of "+perspective+" has ended", func() bool {
		return slices.ContainsFunc(s.frame(id).Members, func(m control.FrameMember) bool { return m.Perspective == perspective && m.State == "completed" })
	})
}

// resumes has the human's host coordinate from now on.
func (s *sitting) resumes(id string) control.Frame {
	s.Helper()
	r := control.ResumeFrameRequest{ID: id, Coordinator: "chair", Try: true}
	tried, err := control.ResumeFrame.Ask(s.Context(), s.Node, r)
	if err != nil {
		s.Fatal(err)
	}
	path, err := protocol.ParsePath(tried.Frame.Path)
	if err != nil {
		s.Fatal(err)
	}
	r.Try, r.Hsig = false, s.sign(protocol.HumanDecision{Gate: path, GateHash: tried.Frame.Hash, Act: protocol.ActFrameResume, Reason: tried.Decides})
	done, err := control.ResumeFrame.Ask(s.Context(), s.Node, r)
	if err != nil {
		s.Fatal(err)
	}
	return done.Frame
}

// escapes ends an inquiry at once.
func (s *sitting) escapes(f control.Frame) {
	s.Helper()
	path, err := protocol.ParsePath(f.Path)
	if err != nil {
		s.Fatal(err)
	}
	e := protocol.InquiryEsc{InquiryWords: protocol.InquiryWords{Text: "enough"}}
	hsig := s.sign(protocol.HumanDecision{Gate: path, GateHash: f.Hash, Act: protocol.ActFrameEsc, Reason: e.Decides()})
	ended, err := control.EscFrame.Ask(s.Context(), s.Node, control.EndFrameRequest{ID: f.ID, Reason: "enough", Hsig: hsig})
	if err != nil || ended.State != "ESCAPED" {
		s.Fatal(ended.State, err)
	}
}

// wrapsUp brings an inquiry from the gate on how to go on to its end.
func (s *sitting) wrapsUp(id string) control.Frame {
	s.Helper()
	s.decides(s.reaches(id, "GATE_ROUTE"), "onwards", "wrap-up")
	s.decides(s.reaches(id, "GATE_PRESERVE"), "keep", "assessment")
	return s.reaches(id, "WRAPPED_UP")
}

// A host is lost while its member works. The human is asked and has the member run elsewhere. What
// the first attempt would say counts no more. Nothing of a result is told before all members have
// ended.
// Frame F39, F40, F41, F42, F43.
func TestInquiryLosesAHost(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	st := newStage(t)
	hub, ahead := aHub(t)
	left, stopLeft, _ := linkedTo(t, hub, "left")
	right, _, _ := linkedTo(t, hub, "right")
	nat := sit(t, hub)
	st.lens(hub, "chair")
	for _, n := range []*Node{left, right} {
		st.lens(n, "lens")
	}
	eventually(t, "the agents are known", func() bool {
		return len(seenAs(t, hub, "left", control.HostLive).Agents) == 1 && len(seenAs(t, hub, "right", control.HostLive).Agents) == 1
	})
	st.hold("Cost")
	f := nat.frames("lens@left", "lens@right")
	nat.toMembers(f)
	st.awaitRuns("Cost", 1)
	nat.awaitEnded(f.ID, "Sleep")
	for _, m := range nat.frame(f.ID).Members {
		if m.Result != "" {
			t.Errorf("the result of %s is told before all have ended", m.Perspective)
		}
	}
	for _, m := range everything(t, right) {
		if strings.Contains(m.Body, "Keep Sleep") {
			t.Errorf("%s tells a result before all have ended:\n%s", m.Path, m.Body)
		}
	}
	stopLeft()
	ahead.forward(time.Hour)
	lost := nat.gated(f.ID, protocol.GateLost)
	if lost.State != "AWAIT" || lost.Gate.Perspective != "Cost" {
		t.Fatalf("in %s it is asked about %q", lost.State, lost.Gate.Perspective)
	}
	if _, err := nat.tries(lost, "onwards", "go-on-without"); err == nil {
		t.Error("an option counts that the gate does not have")
	}
	st.release("Cost")
	seenAs(t, hub, "right", control.HostLive) // by the clock that was put forward, it was last heard an hour ago
	nat.decides(lost, "onwards", "run-elsewhere")
	done := nat.wrapsUp(f.ID)
	for _, m := range done.Members {
		if m.Perspective == "Cost" && (m.Attempt != 2 || m.Agent == "lens-1@left" || m.Result == "") {
			t.Errorf("Cost is %+v", m)
		}
	}
	if st.ran("Sleep") != 1 {
		t.Errorf("the member who had ended ran %d times", st.ran("Sleep"))
	}
}

// An inquiry goes on after the next start, whatever it is doing when its coordinator's node ends.
// It does so from the record alone. No member runs twice except one that was cut short.
// Frame F84.
func TestInquiryOutlivesItsNode(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	st := newStage(t)
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	nat := sit(t, n)
	st.lens(n, "chair")
	st.lens(n, "lens")
	again := func(what string) {
		t.Helper()
		st.awaitRuns(what, 1)
		stop()
		st.release(what)
		n, stop = runNode(t, home)
		nat.Node = n
	}
	for _, what := range []string{"brief", "context", "proposals", "preview", "detection", "exchange", "outcomes", "synthesis", "route", "trace"} {
		st.hold(what)
	}
	f := nat.frames("lens")
	again("brief")
	nat.decides(nat.reaches(f.ID, "GATE_BRIEF"), "brief", "confirm", "mode", "inquire")
	again("context")
	again("proposals")
	nat.decides(nat.reaches(f.ID, "GATE_PERSPECTIVES"), "perspectives", "Cost", "perspectives", "Sleep")
	again("preview")
	again("detection")
	again("exchange")
	again("outcomes")
	again("synthesis")
	again("route")
	nat.decides(nat.reaches(f.ID, "GATE_ROUTE"), "onwards", "wrap-up")
	again("trace")
	nat.decides(nat.reaches(f.ID, "GATE_PRESERVE"), "keep", "assessment")
	nat.reaches(f.ID, "WRAPPED_UP")
	if st.ran("Cost") != 1 || st.ran("Sleep") != 1 {
		t.Errorf("members ran %d and %d times", st.ran("Cost"), st.ran("Sleep"))
	}
}

// A member that was cut short by the end of its node has failed. The human decides.
func TestInquiryMemberCutShort(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	st := newStage(t)
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	nat := sit(t, n)
	st.lens(n, "chair")
	st.lens(n, "lens")
	st.hold("Cost")
	f := nat.frames("lens")
	nat.toMembers(f)
	st.awaitRuns("Cost", 1)
	nat.awaitEnded(f.ID, "Sleep")
	stop()
	st.release("Cost")
	n, _ = runNode(t, home)
	nat.Node = n
	failed := nat.gated(f.ID, protocol.GateFailed)
	if failed.Gate.Perspective != "Cost" {
		t.Fatalf("it is asked about %q", failed.Gate.Perspective)
	}
	nat.decides(failed, "onwards", "run-elsewhere")
	nat.wrapsUp(f.ID)
	if st.ran("Cost") != 2 {
		t.Errorf("it ran %d times", st.ran("Cost"))
	}
}

// Esc ends the processes of members on whatever host they run, and ends the inquiry, also if no
// command may be begun at the moment.
// Frame F82.
func TestInquiryEscEndsRuns(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	hub, _ := aHub(t)
	left, _, _ := linkedTo(t, hub, "left")
	nat := sit(t, hub)
	st.lens(hub, "chair")
	st.lens(left, "lens")
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, hub, "left", control.HostLive).Agents) == 1 })
	st.hold("Cost")
	st.hold("Sleep")
	f := nat.frames("lens")
	nat.toMembers(f)
	st.awaitRuns("Cost", 1)
	st.awaitRuns("Sleep", 1)
	left.halts.Breaks("a test holds it up")
	nat.escapes(f)
	eventually(t, "nothing of its members is left", func() bool {
		_, err := os.Stat(filepath.Join(left.home.Members(), f.Channel.String()))
		return os.IsNotExist(err) && len(left.inquiries.Running()) == 0
	})
}

// A member that still writes when it is told to end, as programs with sessions do, leaves nothing
// behind. It prevents: its place is removed before its command has ended, and without walls comes
// back with what the command wrote.
// Frame F82.
func TestInquiryEscLeavesNothingOfALateWriter(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	n, _ := runNode(t, initHome(t, nil))
	nat := sit(t, n)
	st.lens(n, "chair")
	script := filepath.Join(st.dir, "late.sh")
	text := "#!/bin/sh\ntrap 'sleep 0.1; mkdir -p \"$HOME/session\" && echo run >>\"$1/ran-late\"; exit' TERM\necho run >>\"$1/ran-member\"\nwhile :; do sleep 0.05; done\n"
	if err := os.WriteFile(script, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	addExec(t, n, "lens", script+" "+st.dir)
	f := nat.frames("lens")
	nat.toMembers(f)
	st.awaitRuns("member", 2)
	nat.escapes(f)
	st.awaitRuns("late", 2)
	eventually(t, "nothing of its members is left", func() bool {
		_, err := os.Stat(filepath.Join(n.home.Members(), f.Channel.String()))
		return os.IsNotExist(err)
	})
}

// Another host takes over by its human's word. The first coordinator is cut off meanwhile, and
// writes nothing that counts any more.
// Frame F82, R54.
func TestInquiryResumedElsewhere(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	st := newStage(t)
	hub, _ := aHub(t)
	left, _, _ := linkedTo(t, hub, "left")
	nat := sit(t, hub)
	there := sitWith(t, left, nat.key)
	for _, n := range []*Node{hub, left} {
		st.lens(n, "chair")
		st.lens(n, "lens")
	}
	eventually(t, "the agents are known", func() bool { return len(seenAs(t, hub, "left", control.HostLive).Agents) == 2 })
	st.hold("synthesis")
	f := nat.frames("lens")
	nat.toMembers(f)
	st.awaitRuns("synthesis", 1)
	eventually(t, "left knows of it", func() bool {
		all, err := control.Frames.Ask(t.Context(), left, control.FramesRequest{})
		return err == nil && len(all.Frames) == 1 && all.Frames[0].State == "SYNTHESIZE"
	})
	if _, err := control.ResumeFrame.Ask(t.Context(), left, control.ResumeFrameRequest{ID: f.ID, Coordinator: "chair"}); err == nil {
		t.Fatal("who does not sign takes over")
	}
	now := there.resumes(f.ID)
	if now.Epoch != 2 || now.Coordinator != "chair@left" {
		t.Fatalf("it is coordinated by %s in epoch %d", now.Coordinator, now.Epoch)
	}
	eventually(t, "hub knows of the takeover", func() bool { return nat.frame(f.ID).Epoch == 2 })
	st.release("synthesis")
	nat.decides(nat.reaches(f.ID, "GATE_ROUTE"), "onwards", "withdraw")
	done := nat.reaches(f.ID, "WITHDRAWN")
	if done.Syntheses != 1 || done.Epoch != 2 {
		t.Errorf("%d syntheses in epoch %d", done.Syntheses, done.Epoch)
	}
}

// A host took over while all members worked elsewhere, and so made no call itself. It asks its
// human all the same if a host of the members is lost. It prevents: an inquiry that waits forever.
// Frame F82, R49.
func TestInquiryResumedElsewhereLosesAHost(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	st := newStage(t)
	hub, _ := aHub(t)
	left, _, ahead := linkedTo(t, hub, "left")
	right, stopRight, _ := linkedTo(t, hub, "right")
	nat := sit(t, hub)
	there := sitWith(t, left, nat.key)
	st.lens(hub, "chair")
	st.lens(left, "chair")
	st.lens(right, "lens")
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, hub, "right", control.HostLive).Agents) == 1 })
	st.hold("Cost")
	st.hold("Sleep")
	f := nat.frames("lens")
	nat.toMembers(f)
	st.awaitRuns("Cost", 1)
	st.awaitRuns("Sleep", 1)
	eventually(t, "left knows of it", func() bool {
		all, err := control.Frames.Ask(t.Context(), left, control.FramesRequest{})
		return err == nil && len(all.Frames) == 1 && all.Frames[0].State == "AWAIT"
	})
	there.resumes(f.ID)
	seenAs(t, left, "right", control.HostLive)
	stopRight()
	seenAs(t, left, "right", control.HostAway)
	ahead.forward(time.Hour)
	there.gated(f.ID, protocol.GateLost)
}

// Without a bus, git alone carries an inquiry over two hosts. Without a remote, the bus alone does.
// Gates are answered at the host whose human has the decider's key.
func TestInquiryByOneWayAlone(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	for name, way := range map[string]func(t *testing.T) (a, b *Node){
		"git": func(t *testing.T) (a, b *Node) {
			remote := bareRemote(t)
			open := func(alias string) *Node {
				home := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = alias, remote })
				fastFetch(t, home)
				n, _ := runNode(t, home)
				return n
			}
			return open("one"), open("two")
		},
		"bus": func(t *testing.T) (a, b *Node) {
			a, b = linkedPair(t)
			if err := os.Rename(a.cfg.Remote, a.cfg.Remote+"-away"); err != nil {
				t.Fatal(err)
			}
			return a, b
		},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "bus" { // the other inquiries of several hosts go by the bus too
				scratch.Long(t)
			}
			t.Parallel()
			st := newStage(t)
			a, b := way(t)
			nat := sit(t, a)
			there := sitWith(t, b, nat.key)
			st.lens(a, "chair")
			st.lens(b, "lens")
			eventually(t, "the agent is known", func() bool {
				h, err := control.ShowHost.Ask(t.Context(), a, control.HostRequest{Alias: b.cfg.Alias.String()})
				return err == nil && len(h.Agents) == 1
			})
			f := nat.frames("lens")
			nat.decides(nat.reaches(f.ID, "GATE_BRIEF"), "brief", "confirm", "mode", "inquire")
			eventually(t, "the other host has the gate", func() bool {
				all, err := control.Frames.Ask(t.Context(), b, control.FramesRequest{})
				return err == nil && len(all.Frames) == 1 && all.Frames[0].State == "GATE_PERSPECTIVES" && all.Frames[0].Gate != nil
			})
			there.decides(there.frame(f.ID), "perspectives", "Cost", "perspectives", "Sleep")
			done := nat.wrapsUp(f.ID)
			if len(done.Members) != 2 || done.Members[0].Result == "" || done.Members[1].Result == "" {
				t.Errorf("members: %+v", done.Members)
			}
		})
	}
}

// A call that comes while no command may run, as during a fetch that is taken in, is begun as soon
// as a command may run. It prevents: an inquiry that stands still although nothing is wrong.
func TestInquiryGoesOnAfterAHalt(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	n, _ := runNode(t, initHome(t, nil))
	nat := sit(t, n)
	st.lens(n, "chair")
	st.lens(n, "lens")
	n.arriving(true)
	f := nat.frames("lens")
	for range 100 { // meanwhile the node looks at what is to be done
		if nat.frame(f.ID); st.ran("brief") != 0 {
			t.Fatal("an agent was run meanwhile")
		}
	}
	n.arriving(false)
	nat.gated(f.ID, protocol.GateBrief)
}

// A gate that opens while a member works does not have the member run again. The member is also not
// taken for one that was cut short.
func TestInquiryGateDisturbsNoMember(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	st := newStage(t)
	hub, ahead := aHub(t)
	left, stopLeft, _ := linkedTo(t, hub, "left")
	nat := sit(t, hub)
	st.lens(hub, "chair")
	st.lens(hub, "here")
	st.lens(left, "there")
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, hub, "left", control.HostLive).Agents) == 1 })
	st.hold("Cost")
	st.hold("Sleep")
	f := nat.frames("here", "there")
	nat.toMembers(f)
	st.awaitRuns("Cost", 1)
	st.awaitRuns("Sleep", 1)
	stopLeft()
	ahead.forward(time.Hour)
	lost := nat.gated(f.ID, protocol.GateLost)
	nat.decides(lost, "onwards", "keep-waiting")
	here := map[string]string{"Cost": "Sleep", "Sleep": "Cost"}[lost.Gate.Perspective]
	st.release(here)
	nat.awaitEnded(f.ID, here)
	if st.ran(here) != 1 {
		t.Errorf("it ran %d times", st.ran(here))
	}
	st.release(lost.Gate.Perspective)
}

// Members are made on the hosts that have what the fleet's policy names. It prevents: a member
// fails at once on a host that does not have it, and its human has to say what becomes of it.
func TestMembersAreMadeWhereTheyCanBe(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	st := newStage(t)
	hub, _ := aHub(t)
	left, _, _ := linkedTo(t, hub, "left")
	right, _, _ := linkedTo(t, hub, "right")
	if _, err := control.SetPolicy.Ask(t.Context(), hub, control.SetPolicyRequest{Key: "frame-member", Value: "lens"}); err != nil {
		t.Fatal(err)
	}
	nat := sit(t, hub)
	st.lens(hub, "chair")
	st.lens(right, "lens")
	eventually(t, "the agent is known", func() bool { return len(seenAs(t, hub, "right", control.HostLive).Agents) == 1 })
	eventually(t, "hub knows what left lacks", func() bool {
		last, live := hub.live.PresenceOf(left.cfg.Alias)
		return live && last.Lacks == "lens"
	})
	eventually(t, "right has said since that it lacks nothing", func() bool {
		last, live := hub.live.PresenceOf(right.cfg.Alias)
		return live && last.Lacks == ""
	})
	f := nat.frames()
	nat.toMembers(f)
	for _, m := range nat.reaches(f.ID, "GATE_ROUTE").Members {
		if m.Agent != "lens-1@right" && m.Agent != "lens-2@right" {
			t.Errorf("%s investigates %s", m.Agent, m.Perspective)
		}
	}
}

// If no host has what the policy names, a member fails and says what is missing, also if the
// profile of some agent is about something else. It prevents: the inquiry stands still, and says
// that nothing is settled.
func TestMembersThatNobodyHasSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	st := newStage(t)
	hub, _ := aHub(t)
	if _, err := control.SetPolicy.Ask(t.Context(), hub, control.SetPolicyRequest{Key: "frame-member", Value: "ghost"}); err != nil {
		t.Fatal(err)
	}
	nat := sit(t, hub)
	st.lens(hub, "chair")
	st.lens(hub, "painter")
	if _, err := control.ActorProfile.Ask(t.Context(), hub, control.ProfileRequest{Name: "painter", File: "---\nname: painter\ndescription: Knows painting and nothing else.\n---\n\nPaints.\n"}); err != nil {
		t.Fatal(err)
	}
	f := nat.frames()
	nat.toMembers(f)
	for _, m := range nat.gated(f.ID, protocol.GateFailed).Members {
		if m.State == "failed" && !strings.HasSuffix(m.Problem, "serves no agent ghost with a command") {
			t.Errorf("the member of %s: %s", m.Perspective, m.Problem)
		}
	}
}
