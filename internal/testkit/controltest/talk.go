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
	refused(s, "in vain", control.KindTimeout, control.Wait, control.WaitRequest{To: s.human, Within: time.Millisecond})
	refused(s, "for nobody", control.KindNotFound, control.Wait, control.WaitRequest{From: "nobody", Within: scratch.Patience()})
	for _, r := range []control.WaitRequest{{Within: scratch.Patience()}, {From: s.human}, {From: s.human, To: "mawjs", Within: scratch.Patience()}} {
		refused(s, "without sense", control.KindUsage, control.Wait, r)
	}
}

// answer replies to a message.
func (s *suite) answer(as string, to control.Message, text string) control.Message {
	s.Helper()
	return ask(s, control.Send, control.SendRequest{As: as, Re: to.Path.String(), Act: protocol.ActReply, Body: text})
}

func testThread(s *suite) {
	s.inboxAgent("mawjs")
	s.inboxAgent("volt")
	root := s.hey("mawjs", "root")
	first := s.answer("mawjs", root, "first")
	deep := s.answer(s.human, first, "deep")
	aside := ask(s, control.Send, control.SendRequest{As: "mawjs", To: []string{"volt", s.human}, Re: root.Path.String(), Body: "aside"})
	if aside.Channel != root.Channel || aside.Act != protocol.ActReply {
		s.Errorf("an answer to others is %s in %s, want a reply in %s", aside.Act, aside.Channel, root.Channel)
	}
	for _, of := range []control.Message{root, first, deep, aside} {
		tree := ask(s, control.Thread, control.ThreadRequest{Path: of.Path.String()})
		got := each.Of(tree, func(m control.ThreadMessage) string { return "...."[:m.Depth] + m.Body })
		s.equal("thread of "+of.Body, []string{"root", ".first", "..deep", ".aside"}, got)
	}
	replies := ask(s, control.Replies, control.ThreadRequest{Path: root.Path.String()})
	if len(replies) != 2 || replies[0].Body != "first" || replies[1].Body != "aside" {
		s.Errorf("replies %+v", replies)
	}
	replies = ask(s, control.Replies, control.ThreadRequest{Path: deep.Path.String()})
	s.equal("replies of a leaf", []control.Message{}, replies)
	refused(s, "thread of nothing", control.KindNotFound, control.Thread, control.ThreadRequest{Path: "0badcafe"})
}

func testAddressees(s *suite) {
	for _, name := range []string{"mawjs", "volt", "words"} {
		s.inboxAgent(name)
	}
	m := ask(s, control.Send, control.SendRequest{As: s.human, To: []string{"mawjs", "volt", "words"}, Body: "who?"})
	s.equal("at first", []control.Addressee{{Name: "mawjs"}, {Name: "volt"}, {Name: "words"}}, m.Addressees)
	ask(s, control.Read, control.ReadRequest{As: "volt", Path: m.Path.String()})
	s.answer("mawjs", m, "me")
	shown := ask(s, control.Show, control.ShowRequest{Path: m.Path.String()})
	s.equal("later", []control.Addressee{{Name: "mawjs", Stage: protocol.StageAnswered}, {Name: "volt", Stage: protocol.StageRead}, {Name: "words"}}, shown.Addressees)
	s.wantReceipts(2)
	refused(s, "to a stranger", control.KindNotFound, control.Send, control.SendRequest{As: s.human, To: []string{"stranger"}, Body: "hello"})
	m = ask(s, control.Send, control.SendRequest{As: s.human, To: []string{"stranger"}, Anyway: true, Body: "hello"})
	s.equal("to a stranger on purpose", []string{"stranger"}, m.To)
}

func testPause(s *suite) {
	ask(s, control.AddAgent, control.AddAgentRequest{Name: "echo", Exec: "cat", Settings: control.Given{"dir": {s.TempDir()}}})
	a := ask(s, control.PauseAgent, control.PauseRequest{Name: "echo", Paused: true})
	if !a.Paused {
		s.Errorf("agent %+v is not paused", a)
	}
	m := s.hey("echo", "are you there?")
	agents := ask(s, control.Agents.Verb, control.None{})
	if len(agents) != 1 || agents[0].Queued != 1 || !agents[0].Paused {
		s.Errorf("agents %+v: want one message waiting for a paused agent", agents)
	}
	if _, err := control.PauseAgent.Ask(s.ctx, s.service, control.PauseRequest{Name: "echo"}); err != nil {
		s.Fatal(err)
	}
	reply := ask(s, control.Wait, control.WaitRequest{Re: m.Path.String(), Within: scratch.Patience()})
	s.equal("the answer", "are you there?", reply.Body)
	refused(s, "nobody", control.KindNotFound, control.PauseAgent, control.PauseRequest{Name: "nobody"})
	s.inboxAgent("mawjs")
	refused(s, "inbox door", control.KindRefused, control.PauseAgent, control.PauseRequest{Name: "mawjs", Paused: true})
}

func testWake(s *suite) {
	s.inboxAgent("mawjs")
	s.hey("mawjs", "good morning")
	woken := ask(s, control.Wake, control.WakeRequest{})
	if woken.Remote != "" || woken.RemoteError != "" || len(woken.Agents) != 1 || woken.Agents[0].Unread != 1 {
		s.Errorf("woken %+v: want no remote, and one message unread", woken)
	}
	refused(s, "nobody", control.KindNotFound, control.Wake, control.WakeRequest{Agent: "nobody"})
}

func testTalk(s *suite) {
	s.inboxAgent("mawjs")
	talk := func(to, channel string) control.Talk {
		return ask(s, control.FindTalk, control.TalkRequest{As: s.human, To: to, Channel: channel})
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
		refused(s, "with "+to, kind, control.FindTalk, control.TalkRequest{As: s.human, To: to})
	}
	refused(s, "in no channel", control.KindNotFound, control.FindTalk, control.TalkRequest{As: s.human, To: "mawjs", Channel: "nowhere"})
}
