package node

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: one message whose text cannot be read ends log, attach and thread, or is left out of
// lists without a word.
func TestOneUnreadableMessageHidesNoOther(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: "mawjs", Inbox: true}); err != nil {
		t.Fatal(err)
	}
	first := say(t, n, "mawjs", "the first")
	// The state has it, and the record does not.
	p := protocol.NewPath(first.Channel, time.Now(), 7)
	lost := "---\nfrom: zoe\nto: mawjs\ntype: text\nre: " + first.Path.String() + "\ntimestamp: " + time.Now().UTC().Format(protocol.TimestampLayout) + "\n---\n\nlost\n"
	n.folded(func(s *fleet.State) {
		if _, err := s.Apply(p, []byte(lost)); err != nil {
			t.Error(err)
		}
	})
	last := say(t, n, "mawjs", "the last")
	check := func(what string, all []control.Message, wanted ...protocol.Path) {
		t.Helper()
		var texts []string
		seen := map[protocol.Path]control.Message{}
		for _, m := range all {
			seen[m.Path] = m
			texts = append(texts, m.Path.String()+" "+m.Body+" "+m.Unreadable)
		}
		for _, w := range wanted {
			m, shown := seen[w]
			if !shown || (m.Unreadable != "") != (w == p) || w == p && !strings.Contains(m.Unreadable, "cannot read "+p.String()) {
				t.Errorf("%s shows of %s %+v; it shows\n%s", what, w, m, strings.Join(texts, "\n"))
			}
		}
	}
	for _, count := range []int{0, 50} {
		var all []control.Message
		err := control.Log.Ask(t.Context(), n, control.LogRequest{Last: count}, func(m control.Message) error { all = append(all, m); return nil })
		if err != nil {
			t.Error(err)
		}
		check("log", all, first.Path, p, last.Path)
	}
	ctx, stop := context.WithCancel(t.Context())
	var all []control.Message
	var after protocol.Path
	_ = control.Log.Ask(ctx, n, control.LogRequest{Last: 50, Follow: true}, func(m control.Message) error {
		if all = append(all, m); m.Path == last.Path {
			after = say(t, n, "mawjs", "and more").Path
		}
		if m.Path == after {
			stop()
		}
		return nil
	})
	stop()
	check("attach", all, p, last.Path, after)
	inbox, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: "mawjs"})
	if err != nil {
		t.Fatal(err)
	}
	check("inbox", inbox, p, last.Path)
	tree, err := control.Thread.Ask(t.Context(), n, control.ThreadRequest{Path: p.String()})
	if err != nil {
		t.Fatal(err)
	}
	all = nil
	for _, m := range tree {
		all = append(all, m.Message)
	}
	check("thread", all, first.Path, p)
	if _, err := control.Show.Ask(t.Context(), n, control.ShowRequest{Path: p.String()}); err == nil {
		t.Error("a message without a text is shown as if it had one")
	}
}
