package node

import (
	"bytes"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Thousands of channels are fetched, listed and written to, and a node starts with them. It
// prevents: work for each channel that looks at all channels.
func TestThousandsOfChannels(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	const count = 2000
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	n, stop := runNode(t, home)
	eventually(t, "the remote has the record", func() bool { return n.record.Status().RemoteTip != "" })
	at := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC)
	var commit bytes.Buffer
	commit.WriteString("commit refs/heads/main\ncommitter alice <alice@example.org> 1780000000 +0000\ndata 4\nmany\nfrom refs/heads/main^0\n")
	write := func(path, text string) {
		fmt.Fprintf(&commit, "M 100644 inline %s\ndata %d\n%s\n", path, len(text), text)
	}
	for i := range count {
		c := protocol.NewChannelID([16]byte{byte(i >> 8), byte(i), 1})
		p := protocol.NewPath(c, at.Add(time.Duration(i)*time.Second), 1)
		write(protocol.ChannelFilePath(c), fmt.Sprintf("---\nname: topic-%d\n---\n\nwhat it is for\n", i))
		write(p.RepoPath(), "---\nfrom: alice\nto: nat\ntype: text\ntimestamp: "+p.Time().Format(protocol.TimestampLayout)+"\n---\n\nhello\n")
	}
	cmd := exec.Command("git", "-C", n.cfg.Remote, "fast-import", "--quiet")
	cmd.Stdin = &commit
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v: %s", err, out)
	}
	if _, err := control.Wake.Ask(t.Context(), n, control.WakeRequest{}); err != nil {
		t.Fatal(err)
	}
	use := func(n *Node) {
		t.Helper()
		all, err := control.Channels.Ask(t.Context(), n)
		if err != nil || len(all) < count || all[0].Name != "topic-0" || all[0].Messages == 0 {
			t.Errorf("%d channels are listed, %v", len(all), err)
		}
		m, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{"alice"}, Channel: "topic-1999", Body: "hello", Anyway: true})
		if err != nil || m.Channel != protocol.NewChannelID([16]byte{1999 >> 8, 1999 & 0xff, 1}) {
			t.Errorf("sent to %s, %v", m.Channel, err)
		}
	}
	eventually(t, "the channels are there", func() bool {
		c, err := control.ShowChannel.Ask(t.Context(), n, control.ChannelRequest{Channel: "topic-1999"})
		return err == nil && c.Messages == 1
	})
	use(n)
	stop()
	n, _ = runNode(t, home)
	use(n)
}
