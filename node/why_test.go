package node

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	affairs "github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// wantWhy waits until a node names that cause first, and returns what it says.
func wantWhy(t *testing.T, n *Node, of string, want causes.ID) (why control.Reason) {
	t.Helper()
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s of %s: said last: %+v; the trace: %q", want, of, why.Causes, linesOfTrace(why.Steps))
		}
	})
	eventually(t, "the cause is "+string(want), func() bool {
		var err error
		why, err = control.Why.Ask(t.Context(), n, control.WhyRequest{Of: of})
		return err == nil && len(why.Causes) > 0 && why.Causes[0].Cause == want
	})
	if f := why.Causes[0]; f.Verdict == "" || strings.ContainsAny(f.Verdict+f.Reason+f.Command, "{}") {
		t.Errorf("%s: %+v", want, f)
	}
	return why
}

// addWith adds an agent with a command and settings.
func addWith(t *testing.T, n *Node, name, command string, settings control.Given) {
	t.Helper()
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: name, Exec: command, Settings: settings}); err != nil {
		t.Fatal(err)
	}
}

// is says what a session of an agent is at.
func is(t *testing.T, n *Node, agent string, state control.AgentState) {
	t.Helper()
	if _, err := control.SetPresence.Ask(t.Context(), n, control.PresenceRequest{As: agent, State: state, Session: "s-1"}); err != nil {
		t.Fatal(err)
	}
}

// Each cause that lies on the host of the addressee is named on the host of the sender, with the one
// command that helps and where it is to be typed. It prevents: a person has to look with four commands
// on two machines.
func TestWhyFromAfar(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	hub, _ := aHub(t)
	home := homeLinkedTo(t, hub, "white")
	changeConfig(t, home, func(c *configs.Config) { c.MaxRuns, c.MaxCommands = 1, 64 })
	white, _ := runNodeWith(t, Options{Home: home, retryPause: time.Hour})
	for n, other := range map[*Node]string{hub: "white", white: "oracle-world"} {
		seenAs(t, n, other, control.HostLive)
	}
	over := filepath.Join(t.TempDir(), "over")
	t.Cleanup(func() { _ = os.WriteFile(over, nil, 0o600) })
	addExec(t, hub, "boss", "cat")
	for name, command := range map[string]string{
		"good": "echo done", "paused": "cat", "bad": "sh -c 'echo broken >&2; exit 64'", "stranger": "sh -c 'echo Invalid API key. Please run /login >&2; exit 64'",
		"fails": "sh -c 'exit 1'", "long": "sh -c 'until test -e " + over + "; do sleep 0.05; done; echo done'", "absent": "no-such-program-anywhere", "worker": "cat",
		"hops": "cat",
	} {
		addExec(t, white, name, command)
	}
	addWith(t, white, "picky", "cat", control.Given{"accepts": {"verified"}})
	addWith(t, white, "deaf", "cat", control.Given{"wakes-on": {"tell"}})
	addWith(t, white, "sleeper", "cat", control.Given{"quiet": {quietNow(time.Now())}})
	for _, name := range []string{"asked", "rung", "nowhere", "leaver"} {
		addInbox(t, white, name)
	}
	setPaused(t, white, "paused", true)
	eventually(t, "the agents are known", func() bool {
		return hub.reading(func() bool { return hub.state.People.Known("leaver") && hub.state.People.Known("hops") })
	})
	short := func(p protocol.Path) string { return p.Short() }

	answered := say(t, hub, "good", "hello")
	answerTo(t, hub, answered.Path)
	wantWhy(t, hub, short(answered.Path), causes.Answered)
	if _, err := control.Why.Ask(t.Context(), hub, control.WhyRequest{}); control.AsError(err) == nil || control.AsError(err).Kind != control.KindNotFound {
		t.Errorf("of nothing that waits: %v", err)
	}
	say(t, hub, "paused", "hello")
	if f := wantWhy(t, hub, "", causes.Paused).Causes[0]; f.On != "white" || f.Command != "parley agent resume paused" || !strings.Contains(f.Verdict, "paused on white") {
		t.Errorf("paused: %+v", f)
	}
	wantWhy(t, hub, "paused", causes.Paused)
	for _, c := range []struct {
		agent string
		want  causes.ID
	}{
		{"bad", causes.Dead}, {"stranger", causes.SignedOut}, {"absent", causes.Missing}, {"fails", "retry"}, {"long", causes.Running}, {"long", "busy"}, {"deaf", causes.WakesNobody}, {"nowhere", causes.Gone},
	} {
		m := say(t, hub, c.agent, "hello")
		wantWhy(t, hub, short(m.Path), c.want)
	}

	// Sessions.
	is(t, white, "asked", control.AgentWaiting)
	asked := say(t, hub, "asked", "hello")
	wantWhy(t, hub, short(asked.Path), causes.Human)
	is(t, white, "rung", control.AgentIdle)
	rung := say(t, hub, "rung", "hello")
	awaitHas(t, white, rung.Path)
	white.hearing.Woken("rung", []protocol.Path{rung.Path})
	wantWhy(t, hub, short(rung.Path), causes.Woken)
	if _, err := control.Read.Ask(t.Context(), white, control.ReadRequest{As: "rung", Path: rung.Path.String()}); err != nil {
		t.Fatal(err)
	}
	wantWhy(t, hub, short(rung.Path), causes.Read)

	// What agents cause.
	begin := say(t, hub, "boss", "begin")
	sleeps := sendAs(t, hub, "boss", begin.Path, "sleeper")
	wantWhy(t, hub, short(sleeps.Path), "quiet")
	answerTo(t, hub, sendAs(t, hub, "boss", begin.Path, "worker").Path)
	wantWhy(t, hub, short(sendAs(t, hub, "boss", begin.Path, "worker").Path), "budget")
	cause := begin
	for range hub.cfg.MaxHops + 1 {
		cause = sendAs(t, hub, "boss", cause.Path, "hops")
		back, err := white.talk.Outbox.Send(t.Context(), control.Caller{Kind: control.ByAgent, Name: "hops", Because: awaitHas(t, white, cause.Path)}, control.SendRequest{To: []string{"boss"}, Body: "and?"})
		if err != nil {
			t.Fatal(err)
		}
		awaitHas(t, hub, back.Path)
		cause = back
	}
	wantWhy(t, hub, short(sendAs(t, hub, "boss", cause.Path, "hops").Path), causes.Hops)

	// Nobody vouches for what somebody wrote with an editor.
	clone := cloneOf(t, hub.cfg.Remote)
	plain := plainMail(t, clone, claimsChannel, "20260523T200000000", "alice", "picky", "hello")
	push(t, clone)
	awaitHas(t, hub, plain)
	wantWhy(t, hub, short(plain), causes.Unverified)

	// A human has to decide.
	gate := waitingGate(t, hub, white)
	wantWhy(t, hub, short(gate), causes.Gate)

	// What the host of a session says of it, as the tests of node/seats plant it, and of its disk.
	is(t, white, "nowhere", control.AgentIdle)
	waits := say(t, hub, "nowhere", "and now?")
	for id, text := range map[causes.ID]string{causes.Muted: "claude", causes.NoHooks: "codex", causes.DiskFull: "no space left on device", "halted": "record.git has lost a part of itself"} {
		white.currentBus().Serve(protocol.AskTrace, func(context.Context, protocol.Name, []byte) ([]byte, error) {
			step := protocol.TraceStep{Step: protocol.TraceHinders, Agent: "nowhere", By: string(id), Text: text, Next: time.Now().Add(time.Hour)}
			if id == causes.DiskFull || id == "halted" {
				step.Agent = ""
			}
			return protocol.EncodeTraces([]protocol.Trace{{Path: waits.Path, Steps: []protocol.TraceStep{step}}})
		})
		wantWhy(t, hub, short(waits.Path), id)
	}
	// A host of an earlier version tells no such steps. What it says in other ways is understood.
	white.currentBus().Serve(protocol.AskTrace, nil)
	wantWhy(t, hub, short(waits.Path), causes.Silent)

	if _, err := control.RemoveAgent.Ask(t.Context(), white, control.AgentRequest{Name: "leaver"}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the agent is gone", func() bool { return hub.reading(func() bool { return len(hub.state.People.ServedOn("leaver")) == 0 }) })
	wantWhy(t, hub, "leaver", causes.Nobody)
}

// waitingGate is a message that asks the human of white to let an agent into a party.
func waitingGate(t *testing.T, hub, white *Node) (p protocol.Path) {
	t.Helper()
	sit(t, white)
	nat := sit(t, hub)
	eventually(t, "the hub knows the key of white's human", func() bool {
		return hub.reading(func() bool {
			h, joined := hub.state.Keys().Host("white")
			if !joined {
				return false
			}
			_, has, _ := h.HumanKeyNow("nat")
			return has
		})
	})
	nat.organize("boss", "why it waits", "good")
	eventually(t, "a gate waits", func() bool {
		list, err := control.Gates.Ask(t.Context(), white, control.GatesRequest{})
		i := slices.IndexFunc(list.Gates, func(g control.Gate) bool { return g.Here && g.Host == "white" })
		if err != nil || i < 0 {
			return false
		}
		p, err = protocol.ParsePath(list.Gates[i].Path)
		return err == nil
	})
	awaitHas(t, hub, p)
	return p
}

// What keeps a message from getting to the host of its addressee is named where it was written.
func TestWhyOfTheWay(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	fleetOfTwo := func(t *testing.T) (hub, white *Node, stopWhite func()) {
		hub, _ = aHub(t)
		white, stopWhite, _ = linkedTo(t, hub, "white")
		addExec(t, white, "mawjs", "cat")
		addExec(t, hub, "volt", "cat")
		eventually(t, "the agents are known", func() bool {
			return hub.reading(func() bool { return hub.state.People.Known("mawjs") }) && white.reading(func() bool { return white.state.People.Known("volt") })
		})
		seenAs(t, hub, "white", control.HostLive)
		return hub, white, stopWhite
	}
	t.Run("away, claimed, withheld, the remote refuses, out", func(t *testing.T) {
		t.Parallel()
		hub, white, stopWhite := fleetOfTwo(t)
		setPaused(t, white, "mawjs", true)
		left := say(t, hub, "mawjs", "do it")
		awaitHas(t, white, left.Path)
		if _, err := white.decider.Do(t.Context(), affairs.Take("white", left.Path, "mawjs", 0, "white")); err != nil {
			t.Fatal(err)
		}
		eventually(t, "the hub knows of the claim", func() bool {
			return hub.reading(func() bool { return hub.state.Run(left.Path, "mawjs").Claim != nil })
		})
		stopWhite()
		seenAs(t, hub, "white", control.HostAway)
		wantWhy(t, hub, left.Path.Short(), causes.Claimed)
		m := say(t, hub, "mawjs", "hello")
		if f := wantWhy(t, hub, "mawjs", causes.Away).Causes[0]; !strings.Contains(f.Reason, "last seen") || f.On != "" {
			t.Errorf("away: %+v", f)
		}
		eventually(t, "all is pushed", func() bool { r := hub.record.Status(); return r.Unrecorded+r.Unpushed == 0 })
		if err := os.Rename(hub.cfg.Remote, hub.cfg.Remote+".away"); err != nil {
			t.Fatal(err)
		}
		m = say(t, hub, "mawjs", "the key is …")
		wantWhy(t, hub, m.Path.Short(), causes.RemoteFails)
		if _, err := control.Withhold.Ask(t.Context(), hub, control.WithholdRequest{Files: []string{m.Path.String()}}); err != nil {
			t.Fatal(err)
		}
		wantWhy(t, hub, m.Path.Short(), causes.Withheld)
		if _, err := control.RemoveHost.Ask(t.Context(), hub, control.RemoveHostRequest{Host: "white", Phrase: control.RemovePhrase("white")}); err != nil {
			t.Fatal(err)
		}
		wantWhy(t, hub, m.Path.Short(), causes.HostOut)
	})
	t.Run("the other host is halted, the remote refuses", func(t *testing.T) {
		t.Parallel()
		hub, white, stopWhite := fleetOfTwo(t)
		white.halts.Loses([]string{"data/channels/"}, nil)
		m := say(t, hub, "mawjs", "hello")
		if f := wantWhy(t, hub, m.Path.Short(), "halted").Causes[0]; f.Host != "white" || f.On != "white" || !strings.Contains(f.Reason, "are lost") {
			t.Errorf("halted: %+v", f)
		}
		stopWhite()
		seenAs(t, hub, "white", control.HostAway)
		hook := filepath.Join(hub.cfg.Remote, "hooks", "pre-receive")
		if err := os.WriteFile(hook, []byte("#!/bin/sh\necho 'GH013: Push cannot contain secrets' >&2\nexit 1\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		m = say(t, hub, "mawjs", "refused")
		if f := wantWhy(t, hub, m.Path.Short(), causes.RemoteFails).Causes[0]; !strings.Contains(f.Reason, "pre-receive") {
			t.Errorf("the remote refuses: %+v", f)
		}
	})
	t.Run("link", func(t *testing.T) {
		t.Parallel()
		hub, white, _ := fleetOfTwo(t)
		setPaused(t, hub, "volt", true)
		if err := hub.currentBus().Close(); err != nil {
			t.Fatal(err)
		}
		seenAs(t, white, "oracle-world", control.HostAway)
		m := say(t, white, "volt", "hello")
		if f := wantWhy(t, white, m.Path.Short(), causes.LinkDown).Causes[0]; f.Reason == "" || f.Command != "parley fleet probe oracle-world" {
			t.Errorf("link: %+v", f)
		}
	})
	t.Run("clock", func(t *testing.T) {
		t.Parallel()
		hub, _ := aHub(t)
		addExec(t, hub, "volt", "cat")
		ahead := new(clock)
		home := homeLinkedTo(t, hub, "white")
		white, _ := runNodeAt(t, home, ahead.now)
		addExec(t, white, "mawjs", "cat")
		seenAs(t, hub, "white", control.HostLive)
		eventually(t, "the agent is known", func() bool { return hub.reading(func() bool { return hub.state.People.Known("mawjs") }) })
		ahead.forward(50 * time.Hour)
		eventually(t, "its letters are refused", func() bool { return len(hub.currentBus().Offences().Clocks) > 0 })
		seenAs(t, hub, "white", control.HostAway)
		m := say(t, hub, "mawjs", "hello")
		if f := wantWhy(t, hub, m.Path.Short(), causes.ClockOff).Causes[0]; !strings.Contains(f.Verdict, "ahead") {
			t.Errorf("clock: %+v", f)
		}
	})
	t.Run("key", func(t *testing.T) {
		t.Parallel()
		hub, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Remote, o.Listen = bareRemote(t), "127.0.0.1:0" }))
		addExec(t, hub, "volt", "cat")
		eventually(t, "all is pushed", func() bool { r := hub.record.Status(); return r.Unrecorded+r.Unpushed == 0 })
		c := new(clock)
		home := homeLinkedTo(t, hub, "white")
		if err := os.Rename(hub.cfg.Remote, hub.cfg.Remote+".away"); err != nil { // the hub does not learn of it
			t.Fatal(err)
		}
		white, _ := runNodeAt(t, home, c.now)
		c.forward(time.Minute)
		m := say(t, white, "volt", "hello")
		if f := wantWhy(t, white, m.Path.Short(), causes.KeyUnknown).Causes[0]; f.On != "oracle-world" {
			t.Errorf("key: %+v", f)
		}
	})
}
