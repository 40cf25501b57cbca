package controltest

import (
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func (s *suite) shown(as string, messages ...control.Message) int {
	r := control.ShownRequest{As: as}
	for _, m := range messages {
		r.Paths = append(r.Paths, m.Path)
	}
	marked := ask(s, control.Shown, r)
	return marked.Read
}

// testShown: a shown message gets one receipt from the one to whom it is addressed. It gets none
// from others, and messages that were not shown get none.
func testShown(s *suite) {
	s.inboxAgent("mawjs")
	s.inboxAgent("volt")
	first, second := s.hey("mawjs", "first"), s.hey("mawjs", "second")
	s.equal("shown to others and to the author", []int{0, 0}, []int{s.shown("volt", first, second), s.shown(s.human, first, second)})
	s.equal("no messages at all", 0, s.shown("mawjs"))
	s.equal("unread as before", []string{"first", "second"}, s.bodies(control.InboxRequest{As: "mawjs"}))
	s.equal("shown twice, and again", []int{1, 0}, []int{s.shown("mawjs", first, first), s.shown("mawjs", first)})
	s.equal("unread", []string{"second"}, s.bodies(control.InboxRequest{As: "mawjs"}))
	m := ask(s, control.Show, control.ShowRequest{Path: first.Path.String()})
	if m.Stage != protocol.StageRead {
		s.Errorf("what was shown is %s, want read", m.Stage)
	}
	s.wantReceipts(1)
}

func testReadAll(s *suite) {
	s.inboxAgent("mawjs")
	s.inboxAgent("volt")
	s.hey("mawjs", "one")
	two := ask(s, control.Send, control.SendRequest{As: "volt", To: []string{"mawjs"}, Body: "two"})
	s.hey("mawjs", "three")
	marked := func(r control.ReadAllRequest) int {
		m := ask(s, control.ReadAll, r)
		return m.Read
	}
	s.equal("those from volt", 1, marked(control.ReadAllRequest{As: "mawjs", From: "volt"}))
	s.equal("unread", []string{"one", "three"}, s.bodies(control.InboxRequest{As: "mawjs"}))
	s.equal("those with volt", 0, marked(control.ReadAllRequest{As: "mawjs", Channel: two.Channel.String()}))
	s.equal("all of it, and again", []int{2, 0}, []int{marked(control.ReadAllRequest{As: "mawjs"}), marked(control.ReadAllRequest{As: "mawjs"})})
	s.equal("unread", []string{}, s.bodies(control.InboxRequest{As: "mawjs"}))
	s.wantReceipts(3)
}
