package node

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Mail to an agent that no host serves any more: its sender is told at once, and it becomes a dead
// letter after a while, also if the node is started anew meanwhile. It is not tried again before a
// host serves the agent. It prevents: such mail waits for ever, before and after dlq retry, and
// nobody is told.
func TestMailToAnAgentThatNobodyServes(t *testing.T) {
	t.Parallel()
	home, c := initHome(t, nil), new(clock)
	n, stop := runNodeAt(t, home, c.now)
	addExec(t, n, "gone", "echo here")
	answered := say(t, n, "gone", "are you there?")
	answerTo(t, n, answered.Path)
	if len(answered.Unserved) > 0 {
		t.Errorf("it is served, and said not to be: %v", answered.Unserved)
	}
	if _, err := control.RemoveAgent.Ask(t.Context(), n, control.AgentRequest{Name: "gone"}); err != nil {
		t.Fatal(err)
	}
	m := say(t, n, "gone", "and now?")
	if !slices.Equal(m.Unserved, []string{"gone"}) {
		t.Errorf("the sender is told that nobody serves %v", m.Unserved)
	}
	stop()
	n, _ = runNodeAt(t, home, c.now)
	pass(n, c, 9*time.Minute)
	if dead := deadLettersOf(t, n, control.DeadLettersRequest{}); len(dead) > 0 {
		t.Errorf("given up after nine minutes: %+v", dead)
	}
	pass(n, c, 2*time.Minute)
	if failed := answerTo(t, n, m.Path); failed.Act != protocol.ActFailed || !strings.Contains(failed.Body, "gone: no host serves it any more") {
		t.Errorf("answered %s %q", failed.Act, failed.Body)
	}
	if dead := deadLettersOf(t, n, control.DeadLettersRequest{}); len(dead) != 1 || dead[0].Message.Path != m.Path {
		t.Errorf("the dead letters are %+v", dead)
	}
	retry := control.DeadLetterRequest{Message: m.Path.String()}
	_, err := control.RetryDead.Ask(t.Context(), n, retry)
	if e := control.AsError(err); err == nil || e.Kind != control.KindRefused || !strings.Contains(e.Message, "no host serves gone any more") || !strings.Contains(e.Hint, "parley agent add gone") {
		t.Errorf("tried again for nobody: %v", err)
	}
	addExec(t, n, "gone", "echo here again")
	if _, err := control.RetryDead.Ask(t.Context(), n, retry); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it is answered", func() bool {
		answers, err := control.Replies.Ask(t.Context(), n, control.ThreadRequest{Path: m.Path.String()})
		return err == nil && len(answers) == 2 && strings.TrimSpace(answers[1].Body) == "here again"
	})
}

// An agent that is removed writes to nobody whom nobody knows. It prevents: whoever may push has it
// write as many messages as they have made up names.
func TestARemovedAgentWritesToNoStrangers(t *testing.T) {
	t.Parallel()
	remote := bareRemote(t)
	home := initHome(t, func(o *homes.Options) { o.Remote = remote })
	fastFetch(t, home)
	n, _ := runNode(t, home)
	addExec(t, n, "mawjs", "cat")
	clone := cloneOf(t, remote)
	partner := plainMail(t, clone, claimsChannel, "20260523T190000000", "zoe", "mawjs", "hello")
	push(t, clone)
	answerTo(t, n, awaitHas(t, n, partner))
	pause(t, n, "mawjs", true)
	stranger := plainMail(t, clone, claimsChannel, "20260523T190100000", "made-up", "mawjs", "hello")
	partner = plainMail(t, clone, claimsChannel, "20260523T190200000", "zoe", "mawjs", "and more")
	push(t, clone)
	awaitHas(t, n, stranger)
	awaitHas(t, n, partner)
	own := say(t, n, "mawjs", "mine").Path
	if _, err := control.RemoveAgent.Ask(t.Context(), n, control.AgentRequest{Name: "mawjs"}); err != nil {
		t.Fatal(err)
	}
	for _, p := range []protocol.Path{own, partner} {
		if m := answerTo(t, n, p); m.Act != protocol.ActFailed {
			t.Errorf("answered %s %q", m.Act, m.Body)
		}
	}
	for _, m := range everything(t, n) {
		if slices.Contains(m.To, "made-up") {
			t.Errorf("it wrote to a stranger: %+v", m)
		}
	}
}

// Who wants to cancel a run of another host is told where. It prevents: the sender is told that
// there is nothing to cancel.
func TestARunElsewhereIsCanceledThere(t *testing.T) {
	t.Parallel()
	hub, _ := aHub(t)
	white, _, _ := linkedTo(t, hub, "white")
	addExec(t, white, "far", "cat")
	pause(t, white, "far", true)
	eventually(t, "it is known", func() bool {
		return hub.reading(func() bool { return len(hub.state.People.Group("far", "")) == 1 })
	})
	p := say(t, hub, "far", "take your time").Path
	for _, agent := range []string{"", "far"} {
		_, err := control.Cancel.Ask(t.Context(), hub, control.CancelRequest{Message: p.String(), Agent: agent})
		if e := control.AsError(err); err == nil || e.Kind != control.KindRefused || !strings.Contains(e.Message, "far@white has to work on it") {
			t.Errorf("agent %q: %v", agent, err)
		}
	}
	wantCanceled(t, white, awaitHas(t, white, p), "far", control.JobWaiting)
	_, err := control.Cancel.Ask(t.Context(), hub, control.CancelRequest{Message: answerTo(t, hub, p).Path.String()})
	if control.AsError(err).Kind != control.KindNotFound {
		t.Errorf("an answer is canceled: %v", err)
	}
}
