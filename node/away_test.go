package node

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// A host that was away while its agent got much mail catches up by git. The agent answers what it
// owes in the order of the record, each message once.
func TestHostThatWasAwayAnswersInOrder(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	count := scratch.Rounds(30, 120)
	remote := bareRemote(t)
	hub, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Alias, o.Remote, o.Listen = "hub", remote, "127.0.0.1:0" }))
	home := initHome(t, func(o *homes.Options) {
		o.Alias, o.Remote, o.Hubs = "white", remote, []string{hub.currentBus().Addresses().Links}
	})
	white, stop := runNode(t, home)
	done := filepath.Join(t.TempDir(), "done")
	addExec(t, white, "clerk", "sh -c 'tee -a "+done+"; echo >> "+done+"'")
	eventually(t, "the agent is known", func() bool { return hub.reading(func() bool { return hub.state.People.Known("clerk") }) })
	stop()
	var want []string
	for i := range count {
		say(t, hub, "clerk", fmt.Sprint("word ", i))
		want = append(want, fmt.Sprint("word ", i))
	}
	eventually(t, "all are on the remote", func() bool { s := hub.record.Status(); return s.Unpushed+s.Unrecorded == 0 })
	white, _ = runNode(t, home)
	eventually(t, "all are done", func() bool {
		data, _ := os.ReadFile(done) // not there yet: nothing is done
		return strings.Count(string(data), "word") >= count
	})
	data, err := os.ReadFile(done)
	if got := strings.Fields(strings.ReplaceAll(string(data), "word ", "")); err != nil || strings.Join(got, " ") != strings.ReplaceAll(strings.Join(want, " "), "word ", "") {
		t.Errorf("the agent did %q, %v", got, err)
	}
	s, err := control.ShowStatus.Ask(t.Context(), white)
	if err != nil || s.Record.Arriving != 0 {
		t.Errorf("it says that it is still catching up: %+v, %v", s.Record, err)
	}
	eventually(t, "every message is answered", func() bool {
		box, err := control.Inbox.Ask(t.Context(), hub, control.InboxRequest{All: true})
		return err == nil && len(box) >= count
	})
}

// A message that the bus lost and brings again a moment later is answered before those that
// followed it. If it never comes, the rest goes on without it.
func TestAgentWaitsForWhatTheBusLost(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	done := filepath.Join(t.TempDir(), "done")
	addExec(t, n, "clerk", "sh -c 'tee -a "+done+"; echo >> "+done+"'")
	g := newGhost(t, n, "white")
	n.Receive([]gitsync.MessageFile{g.join("alice")}, byBus)
	var words []gitsync.MessageFile
	for i := range 4 {
		words = append(words, g.sign(protocol.Message{
			From: "alice", To: []protocol.Address{{Name: "clerk"}}, Act: protocol.ActHey, Body: fmt.Sprint("word", i)},
			protocol.DeriveChannel(g.record, "alice", "clerk")))
	}
	hear(t, n, words[1:2])
	hear(t, n, words[:1])
	hear(t, n, words[3:]) // the third is lost for good
	var got []string
	eventually(t, "three are done", func() bool {
		data, _ := os.ReadFile(done) // not there yet: nothing is done
		got = strings.Fields(string(data))
		return len(got) == 3
	})
	if strings.Join(got, " ") != "word0 word1 word3" {
		t.Errorf("the agent did %q", got)
	}
}
