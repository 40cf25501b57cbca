package node

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/protocol"
)

func addInbox(t *testing.T, n control.Service, name string) {
	t.Helper()
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{Name: name, Inbox: true}); err != nil {
		t.Fatal(err)
	}
}

// claim takes the oldest message that nobody has.
func claim(ctx context.Context, n control.Service, session string, patience time.Duration) ([]control.Message, error) {
	return control.Inbox.Ask(ctx, n, control.InboxRequest{As: "mawjs", Claim: true, Limit: 1, Session: session, Within: patience})
}

// Mail that comes while sessions begin to wait wakes them, and each message wakes one. It prevents:
// a session that looked just before a message came sleeps beside it.
func TestClaimsAreShared(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addInbox(t, n, "mawjs")
	const messages, waiting = 60, 4
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var mu sync.Mutex // guards given
	given := map[protocol.Path]int{}
	var count atomic.Int32
	var all sync.WaitGroup
	for i := range waiting {
		all.Go(func() {
			session := string(rune('a' + i))
			for ctx.Err() == nil {
				mail, err := claim(ctx, n, session, within)
				if err != nil {
					if ctx.Err() == nil {
						t.Errorf("session %s: %v", session, err)
						cancel()
					}
					return
				}
				mu.Lock()
				for _, m := range mail {
					given[m.Path]++
				}
				mu.Unlock()
				if count.Add(int32(len(mail))) == messages {
					cancel()
				}
			}
		})
	}
	for range messages {
		say(t, n, "mawjs", "work")
	}
	all.Wait()
	for p, times := range given {
		if times != 1 {
			t.Errorf("%s was given %d times", p, times)
		}
	}
	if len(given) != messages {
		t.Errorf("%d messages were given, want %d", len(given), messages)
	}
}

// A claim ends when its time is over, or before that when the one who asked gives up. It prevents:
// a message that was taken for nobody stays away from all others.
func TestClaimsEnd(t *testing.T) {
	var ahead atomic.Int64
	now := func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	n, _ := runNodeAt(t, initHome(t, nil), now)
	addInbox(t, n, "mawjs")
	sent := say(t, n, "mawjs", "work")
	take := func(session string) int {
		t.Helper()
		mail, err := claim(t.Context(), n, session, 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(mail)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := claim(gone, n, "gone", 0); err == nil {
		t.Error("who is gone was given mail")
	}
	if got := take("left"); got != 1 {
		t.Fatalf("the first session is given %d messages, want 1", got)
	}
	ahead.Store(int64(14 * time.Minute))
	if got := take("right"); got != 0 {
		t.Errorf("before the claim ends another session is given %d messages", got)
	}
	ahead.Store(int64(16 * time.Minute))
	if got := take("right"); got != 1 {
		t.Errorf("after the claim has ended another session is given %d messages, want 1", got)
	}
	if _, err := control.Read.Ask(t.Context(), n, control.ReadRequest{As: "mawjs", Path: sent.Path.String()}); err != nil {
		t.Fatal(err)
	}
	ahead.Store(int64(time.Hour))
	if got := take("left"); got != 0 {
		t.Errorf("what was read is given again: %d messages", got)
	}
}

// A node that is started anew has given back all claims.
func TestClaimsEndWithTheNode(t *testing.T) {
	home := initHome(t, nil)
	n, stop := runNode(t, home)
	addInbox(t, n, "mawjs")
	say(t, n, "mawjs", "work")
	if mail, err := claim(t.Context(), n, "left", 0); err != nil || len(mail) != 1 {
		t.Fatalf("%d messages, %v", len(mail), err)
	}
	stop()
	n, _ = runNode(t, home)
	if mail, err := claim(t.Context(), n, "right", within); err != nil || len(mail) != 1 {
		t.Errorf("after a start another session is given %d messages, %v", len(mail), err)
	}
}

// A session that waits for mail looks into the inbox when mail has come, and not for each message
// between others. It prevents: each message of a busy fleet has each waiting session go through all
// mail that its agent ever had, with the whole node waiting.
func TestOnlyMailIsNews(t *testing.T) {
	n, _ := runNode(t, initHome(t, nil))
	addInbox(t, n, "mawjs")
	addInbox(t, n, "volt")
	came := n.messages.Follow(feed.MaxMessages, nil)
	defer came.End()
	few := n.messages.Follow(1, nil)
	defer few.End()
	news := func(what string, of *feed.Feed[protocol.Path], want bool) {
		t.Helper()
		if got := n.talk.Inbox.IsNews(fleet.Who{Name: "mawjs", Host: n.cfg.Alias}, of); got != want {
			t.Errorf("%s is news: %v", what, got)
		}
	}
	news("nothing", came, false)
	say(t, n, "volt", "for another")
	news("another's mail", came, false)
	say(t, n, "mawjs", "for it")
	news("its mail", came, true)
	news("more than was kept", few, true)
	addInbox(t, n, "codex")
	news("who is served", came, true)
}
