package node

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Old messages are imported after the agent was added. Each is run once if nobody acknowledged it,
// and not if somebody did. There are more messages than a fetch tells at a time, and the receipts
// come last. It prevents: 40 commands run for 20.
func TestReceiptsFromBeforeTheAgentCount(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	fastFetch(t, home)
	n, _ := runNode(t, home)
	ran := filepath.Join(t.TempDir(), "ran")
	addExec(t, n, "shout", "sh -c 'cat >>"+ran+"; echo done'")
	clone := cloneOf(t, n.cfg.Remote)
	const messages, receipted = 300, 297
	channel := protocol.ChannelID("aaaaaaaa-0000-4000-8000-000000000025")
	at := time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)
	write := func(p protocol.Path, front, body string) {
		file := filepath.Join(clone, filepath.FromSlash(p.RepoPath()))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		text := front + "timestamp: " + p.Time().Format(protocol.TimestampLayout) + "\n---\n" + body
		if err := os.WriteFile(file, []byte("---\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var last protocol.Path
	for i := range messages {
		last = protocol.NewPath(channel, at.Add(time.Duration(i)*time.Second), uint32(i))
		write(last, "from: alice\nto: shout\ntype: text\n", fmt.Sprintf("\nold %d\n", i))
		if i < receipted {
			receipt := protocol.NewPath(channel, at.Add(24*time.Hour+time.Duration(i)*time.Second), uint32(i))
			write(receipt, "from: shout\nto: alice\ntype: read\nref: "+last.Rel()+"\n", "")
		}
	}
	git(t, clone, "add", ".")
	git(t, clone, "commit", "--quiet", "-m", "import")
	push(t, clone)
	answerTo(t, n, awaitHas(t, n, last))
	eventually(t, "all are acknowledged", func() bool {
		box, err := control.Inbox.Ask(t.Context(), n, control.InboxRequest{As: "shout"})
		return err == nil && len(box) == 0
	})
	data, err := os.ReadFile(ran)
	if want := "old 297\nold 298\nold 299\n"; err != nil || string(data) != want {
		t.Errorf("it ran for %q, %v; want %q", data, err, want)
	}
}

// Mail whose author names a host too is answered once. A message whose answer could not be
// addressed is not run. It prevents: both are run again at each start, without answer or receipt.
func TestSendersThatAreHardToAnswer(t *testing.T) {
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	fastFetch(t, home)
	n, stop := runNode(t, home)
	ran := filepath.Join(t.TempDir(), "ran")
	addExec(t, n, "shout", "sh -c 'cat >>"+ran+"; echo done'")
	clone := cloneOf(t, n.cfg.Remote)
	const channel = "aaaaaaaa-0000-4000-8000-000000000024"
	asked := plainMail(t, clone, channel, "20260523T190000000", "bob@peer", "shout", "from a host")
	nobody := plainMail(t, clone, channel, "20260523T190001000", `"@bob"`, "shout", "from nobody")
	push(t, clone)
	if answer := answerTo(t, n, awaitHas(t, n, asked)); !slices.Equal(answer.To, []string{"bob"}) {
		t.Errorf("the answer is to %q", answer.To)
	}
	for range 2 {
		awaitHas(t, n, nobody)
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil || !slices.ContainsFunc(s.Warned, func(w string) bool { return strings.Contains(w, nobody.String()) && strings.Contains(w, "not run") }) {
			t.Errorf("warned of %q, %v", s.Warned, err)
		}
		answerTo(t, n, say(t, n, "shout", "again").Path) // what waited was taken before it
		stop()
		n, stop = runNode(t, home)
	}
	data, err := os.ReadFile(ran)
	if want := "from a host\nagain\nagain\n"; err != nil || string(data) != want {
		t.Errorf("it ran for %q, %v; want %q", data, err, want)
	}
}
