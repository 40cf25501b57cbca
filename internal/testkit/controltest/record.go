package controltest

import (
	"context"
	"errors"
	"fmt"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func testFind(s *suite) {
	s.inboxAgent("mawjs")
	sent := s.hey("mawjs", "find me")
	for _, path := range []string{sent.Path.String(), sent.Path.RepoPath(), sent.Path.Suffix()} {
		m := ask(s, control.Show, control.ShowRequest{Path: path})
		if m.Path != sent.Path {
			s.Errorf("%s shows %s, want %s", path, m.Path, sent.Path)
		}
	}
}

func testNotFound(s *suite) {
	s.inboxAgent("mawjs")
	const nowhere = "adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-b2c3d4e5.md"
	refused(s, "show", control.KindNotFound, control.Show, control.ShowRequest{Path: nowhere})
	refused(s, "read", control.KindNotFound, control.Read, control.ReadRequest{As: "mawjs", Path: nowhere})
	refused(s, "wait", control.KindNotFound, control.Wait, control.WaitRequest{Re: nowhere, Within: scratch.Patience()})
	refused(s, "reply", control.KindNotFound, control.Send, control.SendRequest{As: s.human, Re: nowhere, Body: "yes"})
	refused(s, "hey", control.KindNotFound, control.Send, control.SendRequest{As: s.human, To: []string{"nobody"}, Body: "hello"})
}

func testUsage(s *suite) {
	s.inboxAgent("mawjs")
	for name, r := range map[string]control.SendRequest{
		"to nobody":      {As: s.human, Body: "hello"},
		"to oneself, re": {As: s.human, Re: "not/a/path", Body: "hello"},
		"without a text": {As: s.human, To: []string{"mawjs"}},
		"cross, no host": {As: s.human, To: []string{"mawjs"}, Cross: true, Body: "hello"},
		"to a bad name":  {As: s.human, To: []string{"a\x1bb"}, Body: "hello"},
	} {
		refused(s, name, control.KindUsage, control.Send, r)
	}
	refused(s, "show", control.KindUsage, control.Show, control.ShowRequest{Path: "../../etc/passwd"})
}

// logBodies are the texts of a log.
func (s *suite) logBodies(r control.LogRequest) []string {
	s.Helper()
	texts := []string{}
	s.must(control.Log.Ask(s.ctx, s.service, r, func(m control.Message) error {
		texts = append(texts, m.Body)
		return nil
	}))
	return texts
}

func testLog(s *suite) {
	s.inboxAgent("mawjs")
	s.inboxAgent("volt")
	var all []string
	var said []control.Message
	for i := range 5 {
		all = append(all, fmt.Sprintf("message %d", i))
		said = append(said, s.hey("mawjs", all[i]))
	}
	other := s.hey("volt", "elsewhere")
	ask(s, control.Read, control.ReadRequest{As: "volt", Path: other.Path.String()})
	all = append(all, "elsewhere")
	s.equal("log, oldest first and without receipts", all, s.logBodies(control.LogRequest{}))
	s.equal("the last two", all[4:], s.logBodies(control.LogRequest{Last: 2}))
	for _, c := range []protocol.ChannelID{"", said[3].Channel} {
		r := control.LogRequest{Before: said[3].Path.String(), Channel: c.String()}
		s.equal("all before one", all[:3], s.logBodies(r))
		r.Last = 2
		s.equal("the two before one", all[1:3], s.logBodies(r))
	}
	s.equal("before one, in another channel", []string{}, s.logBodies(control.LogRequest{Before: said[3].Path.String(), Channel: other.Channel.String()}))
	err := control.Log.Ask(s.ctx, s.service, control.LogRequest{Before: said[3].Path.String(), Follow: true}, func(control.Message) error { return nil })
	s.wantKind("follow what stands before one", err, control.KindUsage)
	s.equal("one channel", all[5:], s.logBodies(control.LogRequest{Channel: other.Channel.String()}))
	s.wantReceipts(1)
}

func testLogStops(s *suite) {
	s.inboxAgent("mawjs")
	for range 3 {
		s.hey("mawjs", "hello")
	}
	enough := errors.New("enough")
	seen := 0
	err := control.Log.Ask(s.ctx, s.service, control.LogRequest{Follow: true}, func(control.Message) error {
		seen++
		return enough
	})
	if !errors.Is(err, enough) || seen != 1 {
		s.Errorf("log called its reader %d times and returned %v, want once and the reader's error", seen, err)
	}
}

func testFollow(s *suite) {
	s.inboxAgent("mawjs")
	s.hey("mawjs", "message 0")
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	heard, ended := make(chan string, 8), make(chan struct{})
	go func() { // ends with ctx
		defer close(ended)
		_ = control.Log.Ask(ctx, s.service, control.LogRequest{Follow: true}, func(m control.Message) error {
			heard <- m.Body
			return nil
		})
	}()
	for i := range 4 {
		want := fmt.Sprintf("message %d", i)
		if i > 0 {
			s.hey("mawjs", want)
		}
		select {
		case got := <-heard:
			if got != want {
				s.Fatalf("heard %q, want %q", got, want)
			}
		case <-s.ctx.Done():
			s.Fatalf("%q never came", want)
		}
	}
	cancel()
	select {
	case <-ended:
	case <-s.ctx.Done():
		s.Fatal("following did not end with its context")
	}
}
