package controltest

import (
	"context"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func testInbox(s *suite) {
	s.inboxAgent("mawjs")
	first, second := s.hey("mawjs", "first"), s.hey("mawjs", "second")
	if first.Stage < protocol.StageStored || first.Host == "" || first.Signature != protocol.SignatureValid {
		s.Errorf("sent message %+v: want it stored, signed and with its host", first)
	}
	s.equal("inbox, oldest first", []string{"first", "second"}, s.bodies(control.InboxRequest{As: "mawjs"}))
	for range 2 {
		m := ask(s, control.Read, control.ReadRequest{As: "mawjs", Path: first.Path.String()})
		if m.Body != "first" {
			s.Errorf("read %q, want first", m.Body)
		}
	}
	shown := ask(s, control.Show, control.ShowRequest{Path: first.Path.String()})
	if shown.Stage != protocol.StageRead {
		s.Errorf("stage after reading: %s, want read", shown.Stage)
	}
	ask(s, control.Show, control.ShowRequest{Path: second.Path.String()})
	s.equal("unread after read and show", []string{"second"}, s.bodies(control.InboxRequest{As: "mawjs"}))
	s.equal("all mail", []string{"first", "second"}, s.bodies(control.InboxRequest{As: "mawjs", All: true}))
	s.wantReceipts(1)
}

// wantReceipts counts the receipts in the record.
func (s *suite) wantReceipts(want int) {
	s.Helper()
	got := 0
	s.must(control.Log.Ask(s.ctx, s.service, control.LogRequest{Everything: true}, func(m control.Message) error {
		if m.Type == protocol.TypeRead {
			got++
		}
		return nil
	}))
	if got != want {
		s.Errorf("%d receipts, want %d", got, want)
	}
}

// This test is about a fault: the speaker was guessed from the agents that are served. So the first
// inbox agent took over the human's inbox, and wrote the human's broadcasts.
func testSpeaker(s *suite) {
	refused(s, "to oneself", control.KindRefused, control.Send, control.SendRequest{To: []string{s.human}, Body: "a note to myself"})
	s.wantSpeaker(s.human)
	s.inboxAgent("mawjs")
	s.wantSpeaker(s.human)
	m := ask(s, control.Send, control.SendRequest{To: []string{protocol.All}, Act: protocol.ActBroadcast, Body: "all hands"})
	if m.From != s.human {
		s.Errorf("with one agent, a broadcast is from %q, want the human %q (R14)", m.From, s.human)
	}
	ask(s, control.Send, control.SendRequest{As: "mawjs", To: []string{s.human}, Body: "a report"})
	s.equal("the human's inbox", []string{"a report"}, s.bodies(control.InboxRequest{}))
}

func (s *suite) wantSpeaker(name string) {
	status := ask(s, control.ShowStatus.Verb, control.None{})
	if status.Speaker.String() != name {
		s.Errorf("the status names %q as who speaks, want %q (R14)", status.Speaker, name)
	}
}

func testReply(s *suite) {
	s.inboxAgent("mawjs")
	question := s.hey("mawjs", "ready?")
	sent := make(chan error, 1)
	go func() { // ends after its one call
		_, err := control.Send.Ask(s.ctx, s.service, control.SendRequest{As: "mawjs", Re: question.Path.String(), Act: protocol.ActReply, Body: "ready"})
		sent <- err
	}()
	for _, when := range []string{"while it comes", "once it is there"} {
		reply := ask(s, control.Wait, control.WaitRequest{Re: question.Path.String(), Within: scratch.Patience()})
		re, err := protocol.ParsePath(reply.Re)
		if err != nil || re != question.Path || reply.Re != question.Path.String() || reply.Body != "ready" || reply.From != "mawjs" {
			s.Errorf("%s: reply %+v, want mawjs to say ready to %s", when, reply, question.Path)
		}
	}
	s.must(<-sent)
	shown := ask(s, control.Show, control.ShowRequest{Path: question.Path.String()})
	if shown.Stage != protocol.StageAnswered {
		s.Errorf("stage of the question: %s, want answered", shown.Stage)
	}
	s.equal("the human's inbox", []string{"ready"}, s.bodies(control.InboxRequest{As: s.human}))
}

func testNoAnswer(s *suite) {
	s.inboxAgent("mawjs")
	question := s.hey("mawjs", "anyone?")
	refused(s, "wait", control.KindTimeout, control.Wait, control.WaitRequest{Re: question.Path.String(), Within: time.Millisecond})
}

func testWaitCancelled(s *suite) {
	s.inboxAgent("mawjs")
	question := s.hey("mawjs", "anyone?")
	ctx, cancel := context.WithCancel(s.ctx)
	cancel()
	if m, err := control.Wait.Ask(ctx, s.service, control.WaitRequest{Re: question.Path.String(), Within: scratch.Patience()}); err == nil {
		s.Errorf("wait returned %+v, want an error", m)
	}
}

func testTexts(s *suite) {
	s.inboxAgent("mawjs")
	texts := []string{
		"---\nfrom: nobody\n---\n\nnot a frontmatter",
		"สวัสดี 世界 שלום 👩\u200d🚀 \u202eevil \x1b[31mred",
		"one\r\ntwo\n\n  three  ",
		"<b>&amp;</b> \u2028 \\ \"",
		strings.Repeat("long ", 20_000),
	}
	for _, text := range texts {
		sent := s.hey("mawjs", text)
		got := ask(s, control.Show, control.ShowRequest{Path: sent.Path.String()})
		if got.Body != text {
			s.Errorf("a text of %d bytes came back as one of %d:\n%.200q\n%.200q", len(text), len(got.Body), text, got.Body)
		}
	}
}

func testBroadcast(s *suite) {
	s.inboxAgent("mawjs")
	s.inboxAgent("volt")
	ask(s, control.Send, control.SendRequest{As: s.human, To: []string{protocol.All}, Act: protocol.ActBroadcast, Body: "all hands"})
	for _, name := range []string{"mawjs", "volt"} {
		s.equal("inbox of "+name, []string{"all hands"}, s.bodies(control.InboxRequest{As: name}))
	}
	s.equal("inbox of the sender", []string{}, s.bodies(control.InboxRequest{As: s.human}))
}
