package node

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// An agent is named as its host. It prevents: the human is told that it stopped a conversation when
// it failed.
func TestStoppedOrFailed(t *testing.T) {
	t.Parallel()
	n, _ := runNode(t, initHome(t, nil))
	as := fleet.Who{Name: n.cfg.Alias.String(), Host: n.cfg.Alias}
	addInbox(t, n, as.Name)
	failed, stopped := say(t, n, as.Name, "one").Path, say(t, n, as.Name, "two").Path
	failure := protocol.Failed.Format(protocol.Failure{Problem: "the command ended with exit code 1", Attempts: 3})
	for at, c := range map[protocol.Path]fleet.Command{
		failed:  fleet.Answer{As: as, To: failed, Body: failure, Act: protocol.ActFailed, ByAgent: true},
		stopped: fleet.Stop{As: as, At: stopped, Human: n.cfg.Human, Body: "FAILED | the conversation was stopped: 9 answers."},
	} {
		if _, err := n.decider.Act(t.Context(), c, at); err != nil {
			t.Fatal(err)
		}
		answer := answerTo(t, n, at)
		var it *fleet.Item
		n.folded(func(s *fleet.State) { it, _ = s.Ledger.Item(answer.Path) })
		if answer.From != as.Name || n.stops(it) != (at == stopped) {
			t.Errorf("%q from %s stops a conversation: %v", answer.Body, answer.From, n.stops(it))
		}
	}
}

// A gate rings at once by a way that was added while the node runs, and once more after half an hour
// on the node's clock, over a restart, if nobody has answered it. It prevents: a gate that was
// answered rings again, and one that was not never does.
func TestAGateRingsAgain(t *testing.T) {
	t.Parallel()
	told := make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		told <- string(body)
	}))
	defer server.Close()
	var ahead atomic.Int64
	home := initHome(t, nil)
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	n, stop := runNodeAt(t, home, now)
	rings := func(want string) {
		t.Helper()
		if got := awaited(t, "a ring", told); !strings.Contains(got, want) {
			t.Fatalf("told %q, want %q", got, want)
		}
	}
	for _, name := range []string{"skills", "mawjs", "mawui"} {
		addInbox(t, n, name)
	}
	if tried, err := control.ChangeNotifications.Ask(t.Context(), n, control.ChangeNotificationsRequest{Add: "ntfy " + server.URL, For: []string{"gate"}}); err != nil || tried.Problem != "" {
		t.Fatal(tried, err)
	}
	rings("this is a test of notifications")
	nat := sit(t, n)
	nat.organize("skills", "one", "mawjs")
	rings("invite of mawjs")
	nat.organize("skills", "two", "mawui")
	rings("invite of mawui")
	nat.answers("mawjs@oracle-world", protocol.ActPartyReject, "no", time.Time{})
	eventually(t, "both are noted to ring again", func() bool {
		data, err := os.ReadFile(home.Notified() + ".waiting")
		return err == nil && strings.Count(string(data), `"due"`) == 2
	})
	stop()
	ahead.Store(int64(31 * time.Minute))
	_, stop = runNodeAt(t, home, now)
	rings("parley: still waits: asked by nat@oracle-world")
	stop()
	ahead.Store(int64(10 * time.Hour))
	n, _ = runNodeAt(t, home, now)
	if _, err := control.TryNotifications.Ask(t.Context(), n, control.TryNotificationsRequest{}); err != nil {
		t.Fatal(err)
	}
	rings("this is a test of notifications")
}
