package node

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// answered returns the texts of the answers to a message, as a node has them.
func answered(t *testing.T, n *Node, to control.Message) (all []string) {
	t.Helper()
	replies, err := control.Replies.Ask(t.Context(), n, control.ThreadRequest{Path: to.Path.String()})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range replies {
		all = append(all, m.Body)
	}
	return all
}

// startPatient starts a node. It looks around for as long as a busy machine may take to answer it.
func startPatient(t *testing.T, home configs.Home) (n *Node, ended <-chan error) {
	t.Helper()
	return startNodeWith(t, Options{Home: home, Version: "test", Log: zerolog.Nop(), lookTimes: 10, builtin: true})
}

// It prevents: two machines that were started from one image and could hear each other answer
// everything twice, both what is asked while the second one starts and what is asked after that.
func TestTwinsOnABusAnswerOnce(t *testing.T) {
	t.Parallel()
	hub, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Alias, o.Remote, o.Listen = "hub", bareRemote(t), "127.0.0.1:0" }))
	for trial := range scratch.Rounds(1, 3) {
		alias := fmt.Sprintf("leaf%d", trial)
		leaf := initHome(t, func(o *homes.Options) {
			o.Alias, o.Remote, o.Hubs = alias, hub.cfg.Remote, []string{hub.currentBus().Addresses().Links}
		})
		n, stop := runNode(t, leaf)
		addExec(t, n, "echo", "git hash-object --stdin")
		stop()
		image := imaged(t, leaf)
		startNode(t, leaf)
		eventually(t, "the hub knows the agent", func() bool { return len(seenAs(t, hub, alias, control.HostLive).Agents) == 1 })
		asked := []control.Message{say(t, hub, "echo@"+alias, "before")}
		second, ended := startPatient(t, image)
		asked = append(asked, say(t, hub, "echo@"+alias, "meanwhile"))
		wantExpelled(t, ended, "another node with the name and key of this host runs")
		asked = append(asked, say(t, hub, "echo@"+alias, "after"))
		for _, m := range asked {
			answerTo(t, hub, m.Path)
		}
		for _, m := range asked {
			if got := answered(t, hub, m); len(got) != 1 {
				t.Errorf("trial %d: %q was answered %d times: %q", trial, m.Body, len(got), got)
			}
		}
		for it := range second.state.Ledger.All() {
			for _, s := range second.steps.Trail.Of(it.Path) {
				if s.Step == protocol.TraceStored {
					t.Errorf("trial %d: the second wrote %s", trial, it.Path)
				}
			}
		}
	}
}

// It prevents: a node whose home went back in time, because the image of a machine was started
// again, runs once more what it has answered long ago; or it never runs anything again, although no
// other node has its name.
func TestWhatTheRemoteHasAnsweredIsNotRunAgain(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	remote := bareRemote(t)
	other, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "other", remote }))
	leaf := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "leaf", remote })
	fastFetch(t, leaf)
	changeConfig(t, leaf, func(c *configs.Config) { c.PushInterval = 100 * time.Millisecond })
	n, stop := runNode(t, leaf)
	addExec(t, n, "echo", "git hash-object --stdin")
	asked := say(t, n, "echo", "as the image is made")
	answerTo(t, n, asked.Path)
	stop()
	image := imaged(t, leaf)
	n, stop = runNode(t, leaf)
	later := say(t, n, "echo", "after it was made")
	answerTo(t, n, later.Path)
	eventually(t, "it is pushed", func() bool { return n.record.Status().Unpushed+n.record.Status().Unrecorded == 0 })
	stop()
	if err := other.record.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}

	again, ended := startPatient(t, image)
	wantRunning(t, again, ended, "no agent is run until")
	next := say(t, again, "echo", "to the home that went back")
	answerTo(t, again, next.Path) // the node has asked the record, and nobody else is there
	for _, m := range []control.Message{asked, later, next} {
		if got := answered(t, again, m); len(got) != 1 {
			t.Errorf("%q was answered %d times: %q", m.Body, len(got), got)
		}
	}
	s, err := control.ShowStatus.Ask(t.Context(), again)
	if err != nil || len(s.Warned) != 0 {
		t.Errorf("what is over still stands in status: %q, %v", s.Warned, err)
	}
}

// Two nodes were started from one image, and meet by git alone. The second runs nothing before it
// has asked the record, and there the first answers.
func TestTwinsByGitAnswerOnce(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	for trial := range scratch.Rounds(1, 3) {
		leaf := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "leaf", bareRemote(t) })
		changeConfig(t, leaf, func(c *configs.Config) { c.FetchInterval = time.Second })
		n, stop := runNode(t, leaf)
		addExec(t, n, "echo", "git hash-object --stdin")
		stop()
		image := imaged(t, leaf)
		first, firstEnded := startNode(t, leaf)
		earlier := say(t, first, "echo", "the first is there")
		answerTo(t, first, earlier.Path)
		eventually(t, "it is pushed", func() bool { return first.record.Status().Unpushed+first.record.Status().Unrecorded == 0 })
		_, ended := startPatient(t, image)
		asked := say(t, first, "echo", "while both run")
		answerTo(t, first, asked.Path)
		wantExpelled(t, ended, "writes into the record")
		wantRunning(t, first, firstEnded, "writes into the record")
		for _, m := range []control.Message{earlier, asked} {
			if got := answered(t, first, m); len(got) != 1 {
				t.Errorf("trial %d: %q was answered %d times: %q", trial, m.Body, len(got), got)
			}
		}
	}
}

// It prevents: a start that takes the whole time of the look around, although the answers are
// there, or although nobody could answer.
func TestANormalStartIsHardlySlower(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	hub, _ := aHub(t)
	for name, home := range map[string]configs.Home{
		"alone":         initHome(t, nil),
		"with a remote": initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) }),
		"with a link":   homeLinkedTo(t, hub, "white"),
	} {
		began := time.Now()
		n, _ := runNodeWith(t, Options{Home: home, Version: "test", lookTimes: 10, builtin: true})
		eventually(t, "agents are run", func() bool { return n.lookout.MayRun() })
		t.Logf("%s: %s until agents are run", name, time.Since(began))
		if fetched := cameTrue(n.lookout.Fetched.Wait); fetched != (n.cfg.Remote != "") {
			t.Errorf("%s: the remote was looked at: %v", name, fetched)
		}
		if answered := cameTrue(n.lookout.Answered.Wait); answered != (name == "with a link") {
			t.Errorf("%s: another host answered: %v", name, answered)
		}
	}
}

// cameTrue reports whether something has happened by now.
func cameTrue(happened func(context.Context) bool) bool {
	now, cancel := context.WithCancel(context.Background())
	cancel()
	return happened(now)
}
