package node

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// A message over the limit is refused where it is sent, with both numbers. A file that git brings
// is judged alike on every host, whatever the hosts' limits are. Up to 1 MiB it is a message. A
// larger file is no message, and is named.
func TestMessagesOverTheLimit(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Remote = bareRemote(t) })
	fastFetch(t, home)
	n, stop := runNode(t, home)
	addExec(t, n, "shout", "tr a-z A-Z")
	_, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{"shout"}, Body: strings.Repeat("x", 600<<10)})
	if err == nil || !strings.Contains(err.Error(), "the limit is 524288") || !strings.Contains(err.Error(), "the message has 614") {
		t.Errorf("sending 600 KiB: %v", err)
	}
	clone := cloneOf(t, n.cfg.Remote)
	const channel = "aaaaaaaa-0000-4000-8000-000000000001"
	large := plainMail(t, clone, channel, "20260523T190100000", "alice", "nat", strings.Repeat("large ", 100<<10))
	huge := plainMail(t, clone, channel, "20260523T190200000", "alice", "nat", strings.Repeat("huge ", 600<<10))
	after := plainMail(t, clone, channel, "20260523T190300000", "alice", "nat", "small")
	push(t, clone)
	check := func(n *Node) {
		t.Helper()
		awaitHas(t, n, after)
		if !has(n, large) || has(n, huge) {
			t.Errorf("600 KiB is a message: %t, 3 MiB: %t", has(n, large), has(n, huge))
		}
		v, err := n.audits.Verify(t.Context())
		named := func(p protocol.Path) (text string) {
			for _, f := range v.Findings {
				if f.Path == p && f.Wrong {
					text += f.Text
				}
			}
			return text
		}
		if err != nil || !strings.Contains(named(huge), "bytes; a message has at most 1048576") || named(large) != "" {
			t.Errorf("verify says %q of the huge one and %q of the large, %v", named(huge), named(large), err)
		}
		s, err := control.ShowStatus.Ask(t.Context(), n)
		if err != nil || strings.Count(strings.Join(s.Warned, "\n"), huge.String()) != 1 {
			t.Errorf("status warns %q, %v", s.Warned, err)
		}
	}
	check(n)
	stop()
	if err := os.RemoveAll(filepath.Join(home.Dir, "cache")); err != nil {
		t.Fatal(err)
	}
	n, _ = runNode(t, home)
	check(n)
}
