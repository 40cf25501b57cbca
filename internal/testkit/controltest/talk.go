package controltest

import (
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func testWaitNext(s *suite) {
	s.inboxAgent("mawjs")
	s.hey("mawjs", "before anyone waited")
	for _, r := range []control.WaitRequest{{From: s.human, Within: scratch.Patience()}, {To: "mawjs", Within: scratch.Patience()}} {
		got := make(chan control.Message, 1)
		go func() { // ends with the wait, which is bounded
			m, _ := control.Wait.Ask(s.ctx, s.service, r)
			got <- m
		}()
		// It cannot be seen from outside whether the wait has begun. So messages are sent until one
		// of them ends it.
		said := map[string]bool{}
		for ended := false; !ended; {
			m := s.hey("mawjs", "after")
			said[m.Path.String()] = true
			select {
			case m := <-got:
				ended = true
				if !said[m.Path.String()] {
					s.Errorf("the wait %+v ended with %q", r, m.Body)
				}
			case <-s.ctx.Done():
				s.Fatalf("the wait %+v never ended", r)
			default:
			}
		}
	}
	_, err := control.Wait.Ask(s.ctx, s.service, control.WaitRequest{To: s.human, Within: time.Millisecond})
	s.wantKind("in vain", err, control.KindTimeout)
	_, err = control.Wait.Ask(s.ctx, s.service, control.WaitRequest{From: "nobody", Within: scratch.Patience()})
	s.wantKind("for nobody", err, control.KindNotFound)
	for _, r := range []control.WaitRequest{{Within: scratch.Patience()}, {From: s.human}, {From: s.human, To: "mawjs", Within: scratch.Patience()}} {
		_, err := control.Wait.Ask(s.ctx, s.service, r)
		s.wantKind("without sense", err, control.KindUsage)
	}
}

// answer replies to a message.
func (s *suite) answer(as string, to control.Message, text string) control.Message {
	s.Helper()
	m, err := control.Send.Ask(s.ctx, s.service, control.SendRequest{As: as, Re: to.Path.String(), Act: protocol.ActReply, Body: text})
	s.must(err)
	return m
}

func testThread(s *suite) {
	s.inboxAgent("mawjs")
	s.inboxAgent("volt")
	root := s.hey("mawjs", "root")
	first := s.answer("mawjs", root, "first")
	deep := s.answer(s.human, first, "deep")
	aside, err := control.Send.Ask(s.ctx, s.service, control.SendRequest{As: "mawjs", To: []string{"volt", s.human}, Re: root.Path.String(), Body: "aside"})
	s.must(err)
	if aside.Channel != root.Channel || aside.Act != protocol.ActReply {
		s.Errorf("an answer to others is %s in %s, want a reply in %s", aside.Act, aside.Channel, root.Channel)
	}
	for _, of := range []control.Message{root, first, deep, aside} {
		tree, err := control.Thread.Ask(s.ctx, s.service, control.ThreadRequest{Path: of.Path.String()})
		s.must(err)
		got := each.Of(tree, func(m control.ThreadMessage) string { return "...."[:m.Depth] + m.Body })
		s.equal("thread of "+of.Body, []string{"root", ".first", "..deep", ".aside"}, got)
	}
	replies, err := control.Replies.Ask(s.ctx, s.service, control.ThreadRequest{Path: root.Path.String()})
	s.must(err)
	if len(replies) != 2 || replies[0].Body != "first" || replies[1].Body != "aside" {
		s.Errorf("replies %+v", replies)
	}
	replies, err = control.Replies.Ask(s.ctx, s.service, control.ThreadRequest{Path: deep.Path.String()})
	s.must(err)
	s.equal("replies of a leaf", []control.Message{}, replies)
	_, err = control.Thread.Ask(s.ctx, s.service, control.ThreadRequest{Path: "0badcafe"})
	s.wantKind("thread of nothing", err, control.KindNotFound)
}

func testAddressees(s *suite) {
	for _, name := range []string{"mawjs", "volt", "words"} {
		s.inboxAgent(name)
	}
	m, err := control.Send.Ask(s.ctx, s.service, control.SendRequest{As: s.human, To: []string{"mawjs", "volt", "words"}, Body: "who?"})
	s.must(err)
	s.equal("at first", []control.Addressee{{Name: "mawjs"}, {Name: "volt"}, {Name: "words"}}, m.Addressees)
	_, err = control.Read.Ask(s.ctx, s.service, control.ReadRequest{As: "volt", Path: m.Path.String()})
	s.must(err)
	s.answer("mawjs", m, "me")
	shown, err := control.Show.Ask(s.ctx, s.service, control.ShowRequest{Path: m.Path.String()})
	s.must(err)
	s.equal("later", []control.Addressee{{Name: "mawjs", Stage: protocol.StageAnswered}, {Name: "volt", Stage: protocol.StageRead}, {Name: "words"}}, shown.Addressees)
	s.wantReceipts(2)
	_, err = control.Send.Ask(s.ctx, s.service, control.SendRequest{As: s.human, To: []string{"stranger"}, Body: "hello"})
	s.wantKind("to a stranger", err, control.KindNotFound)
	m, err = control.Send.Ask(s.ctx, s.service, control.SendRequest{As: s.human, To: []string{"stranger"}, Anyway: true, Body: "hello"})
	s.must(err)
	s.equal("to a stranger on purpose", []string{"stranger"}, m.To)
}

func testPause(s *suite) {
	_, err := control.AddAgent.Ask(s.ctx, s.service, control.AddAgentRequest{Name: "echo", Exec: "cat", Settings: control.Given{"dir": {s.TempDir()}}})
	s.must(err)
	a, err := control.PauseAgent.Ask(s.ctx, s.service, control.PauseRequest{Name: "echo", Paused: true})
	s.must(err)
	if !a.Paused {
		s.Errorf("agent %+v is not paused", a)
	}
	m := s.hey("echo", "are you there?")
	agents, err := control.Agents.Ask(s.ctx, s.service)
	s.must(err)
	if len(agents) != 1 || agents[0].Queued != 1 || !agents[0].Paused {
		s.Errorf("agents %+v: want one message waiting for a paused agent", agents)
	}
	if _, err := control.PauseAgent.Ask(s.ctx, s.service, control.PauseRequest{Name: "echo"}); err != nil {
		s.Fatal(err)
	}
	reply, err := control.Wait.Ask(s.ctx, s.service, control.WaitRequest{Re: m.Path.String(), Within: scratch.Patience()})
	s.must(err)
	s.equal("the answer", "are you there?", reply.Body)
	_, err = control.PauseAgent.Ask(s.ctx, s.service, control.PauseRequest{Name: "nobody"})
	s.wantKind("nobody", err, control.KindNotFound)
	s.inboxAgent("mawjs")
	_, err = control.PauseAgent.Ask(s.ctx, s.service, control.PauseRequest{Name: "mawjs", Paused: true})
	s.wantKind("inbox door", err, control.KindRefused)
}

func testWake(s *suite) {
	s.inboxAgent("mawjs")
	s.hey("mawjs", "good morning")
	woken, err := control.Wake.Ask(s.ctx, s.service, control.WakeRequest{})
	s.must(err)
	if woken.Remote != "" || woken.RemoteError != "" || len(woken.Agents) != 1 || woken.Agents[0].Unread != 1 {
		s.Errorf("woken %+v: want no remote, and one message unread", woken)
	}
	_, err = control.Wake.Ask(s.ctx, s.service, control.WakeRequest{Agent: "nobody"})
	s.wantKind("nobody", err, control.KindNotFound)
}

func testTalk(s *suite) {
	s.inboxAgent("mawjs")
	talk := func(to, channel string) control.Talk {
		t, err := control.FindTalk.Ask(s.ctx, s.service, control.TalkRequest{As: s.human, To: to, Channel: channel})
		s.must(err)
		return t
	}
	before := talk("mawjs", "")
	m := s.hey("mawjs", "hello")
	after := talk("mawjs", "")
	if before.Begun || !after.Begun || before.As != s.human || before.Channel != m.Channel || after.Channel != m.Channel {
		s.Errorf("before %+v, after %+v, want the channel %s", before, after, m.Channel)
	}
	sprint := s.newChannel(control.NewChannelRequest{Name: "sprint"})
	s.equal("in a channel", control.Talk{As: s.human, Channel: sprint.ID, Begun: true}, talk("mawjs", "sprint"))
	for to, kind := range map[string]control.Kind{"mawsj": control.KindNotFound, "mawjs@nowhere": control.KindNotFound, s.human: control.KindRefused, "": control.KindUsage} {
		_, err := control.FindTalk.Ask(s.ctx, s.service, control.TalkRequest{As: s.human, To: to})
		s.wantKind("with "+to, err, kind)
	}
	_, err := control.FindTalk.Ask(s.ctx, s.service, control.TalkRequest{As: s.human, To: "mawjs", Channel: "nowhere"})
	s.wantKind("in no channel", err, control.KindNotFound)
}
