package gitsync

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyfleet/parley/gitsync/carrier"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// inBubble runs a test with a clock that stands still while anything works. The clock jumps to the
// next moment at which something is due. Fetch and push do without the git program there, so that
// they are part of the bubble.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Run("builtin", func(t *testing.T) { synctest.Test(t, test) })
}

// runFor runs records together for a time of the bubble's clock.
func runFor(t *testing.T, d time.Duration, homes ...*home) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	ended := make(chan error, len(homes))
	for _, h := range homes {
		go func() { ended <- h.Run(ctx) }()
	}
	for range homes {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}

func peer(l MessageFile) MessageFile {
	l.Peer = true
	return l
}

// The first courier commits and pushes at once what it heard. The others leave their messages to
// it, and take them over one after the other.
func TestCouriersTakeTurns(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		remote := bareRemote(t)
		a, b, c := newHome(t, "a", remote), newHome(t, "b", remote), newHome(t, "c", remote)
		for i, h := range []*home{a, b, c} {
			h.SetPlace(i + 1)
		}
		one, two := testMessage(2, 1), testMessage(3, 2)
		b.append(t, one)
		c.append(t, two)
		a.append(t, peer(one), peer(two))
		a.tell.events.Moved = func() { b.Ring(); c.Ring() }
		step := courierStep + 2*defaultPushInterval
		runFor(t, step-time.Second, a, b, c)
		wantSame(t, "messages", messages(t, remote, "main"), paths(one, two))
		for _, h := range []*home{b, c} {
			if s := h.Status(); s.Pushes != 0 {
				t.Errorf("%s pushed %d times although the first courier had everything", h.opts.Author.Name, s.Pushes)
			}
		}
		if s := a.Status(); s.Pushes != 1 || s.Rejected != 0 {
			t.Errorf("the first courier pushed %d times, %d in vain", s.Pushes, s.Rejected)
		}
	})
}

// tookUntilPushed runs a record until a message is on the remote, and returns how long that took.
func tookUntilPushed(t *testing.T, h *home, l MessageFile) time.Duration {
	t.Helper()
	begin := time.Now()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- h.Run(ctx) }()
	for h.Place(l.Path) != Pushed {
		time.Sleep(50 * time.Millisecond)
	}
	took := time.Since(begin)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	return took
}

// When its turn comes, a courier pushes what the couriers before it have not pushed. A rank is
// never relied on. It prevents: messages that wait for a silent courier.
func TestTheNextCourierPushesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for place := range 4 {
		t.Run(fmt.Sprint("place ", place), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				remote := bareRemote(t)
				h := newHome(t, "h", remote)
				h.SetPlace(place)
				one := testMessage(2, 1)
				h.append(t, one)
				from := time.Duration(max(0, place-1)) * (courierStep + 2*defaultPushInterval)
				if took := tookUntilPushed(t, h, one); took < from || took > from+time.Second {
					t.Errorf("pushed after %s, want %s", took, from)
				}
			})
		})
	}
}

// A host that is gone for good had told a message only to the others. Any host that is left pushes
// it. It prevents: a message that was heard and is lost with its host.
func TestHeardMessagesArePushedByWhoeverIsLeft(t *testing.T) {
	t.Parallel()
	for _, place := range []int{0, 1, 2, 3} {
		t.Run(fmt.Sprint("place ", place), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				remote := bareRemote(t)
				b := newHome(t, "b", remote)
				b.SetPlace(place)
				heard := testMessage(1, 1)
				b.append(t, peer(heard))
				took := tookUntilPushed(t, b, heard)
				from := time.Duration(0)
				if place != 1 {
					from = defaultGrace + time.Duration(max(0, place-1))*(courierStep+2*defaultPushInterval)
				}
				if took < from || took > from+2*time.Second {
					t.Errorf("pushed after %s, want %s", took, from)
				}
				wantSame(t, "messages", messages(t, remote, "main"), paths(heard))
			})
		})
	}
}

// If the remote loses a message, a host that had it from there puts it back, whatever the host's
// rank. It prevents: a message that only this host still has.
func TestAFetchedMessageThatTheRemoteLosesIsPutBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		remote := bareRemote(t)
		a, b := newHome(t, "a", remote), newHome(t, "b", remote)
		root := gitOut(t, remote, "rev-parse", "main")
		one := testMessage(1, 1)
		a.append(t, one)
		a.sync(t)
		b.sync(t)
		a.close(t) // for good
		gitOut(t, remote, "update-ref", carrier.MainRef, root)
		b.SetPlace(3)
		runFor(t, time.Minute, b)
		wantSame(t, "messages", messages(t, remote, "main"), paths(one))
	})
}

// Files that are no messages do not travel on the bus. So nobody else can push them.
func TestFilesWaitForNoCourier(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		remote := bareRemote(t)
		b := newHome(t, "b", remote)
		b.SetPlace(5)
		b.append(t, testMessage(2, 1))
		if err := b.PutFile("hosts/b.md", []byte("b\n")); err != nil {
			t.Fatal(err)
		}
		if took := tookUntilPushed(t, b, testMessage(2, 1)); took > time.Second {
			t.Errorf("pushed after %s", took)
		}
	})
}

// Five hundred messages in half a minute need as many pushes as the interval says.
func TestPushesKeepTheirInterval(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		every time.Duration
		most  int
	}{{time.Second, 31}, {10 * time.Second, 4}} {
		t.Run(c.every.String(), func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				remote := bareRemote(t)
				a := newHome(t, "a", remote)
				a.share.opts.PushInterval, a.courier.pushInterval = c.every, c.every
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- a.Run(ctx) }()
				for n := range 50 {
					var ten []MessageFile
					for k := range 10 {
						ten = append(ten, testMessage(1, 10*n+k))
					}
					a.append(t, ten...)
					time.Sleep(590 * time.Millisecond)
				}
				if n := a.Status().Pushes; n > c.most || n < c.most*2/3 {
					t.Errorf("%d pushes in half a minute, want about %d", n, c.most)
				}
				stop()
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
				if n := len(messages(t, remote, "main")); n != 500 {
					t.Errorf("%d messages on the remote", n)
				}
			})
		})
	}
}

// Eight hosts store a hundred messages each within a tenth of a second. If they are ranked and hear
// each other, they need few pushes, and none is rejected. If each is on its own, they get in each
// other's way and lose nothing. The clock counts pauses only.
func TestEightHosts(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	const hosts, each = 8, 100
	for _, c := range []struct {
		name     string
		linked   bool
		within   time.Duration
		rejected int
	}{{"linked", true, 3 * time.Second, 0}, {"apart", false, 15 * time.Second, 100}} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				remote := bareRemote(t)
				var homes []*home
				for i := range hosts {
					homes = append(homes, newHome(t, fmt.Sprint("h", i+1), remote))
				}
				others := func(me *home, tell func(*home)) {
					for _, h := range homes {
						if c.linked && h != me {
							tell(h)
						}
					}
				}
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, hosts)
				for i, h := range homes {
					if c.linked {
						h.SetPlace(i + 1)
					}
					h.tell.events.Moved = func() { others(h, func(h *home) { h.Ring() }) }
					go func() { ended <- h.Run(ctx) }()
				}
				time.Sleep(5 * time.Second)
				begin := time.Now()
				for n := 0; n < each; n += 10 {
					for i, h := range homes {
						var mine, heard []MessageFile
						for k := range 10 {
							mine = append(mine, testMessage(i+1, n+k))
							heard = append(heard, peer(mine[k]))
						}
						h.append(t, mine...)
						others(h, func(h *home) { h.append(t, heard...) })
					}
					time.Sleep(10 * time.Millisecond)
				}
				known := func() bool {
					for i, h := range homes {
						for n := range each {
							if h.Place(testPath(i+1, n)) != Pushed {
								return false
							}
						}
					}
					return true
				}
				for !known() {
					time.Sleep(50 * time.Millisecond)
				}
				took, pushes, rejected := time.Since(begin), 0, 0
				for _, h := range homes {
					s := h.Status()
					pushes, rejected = pushes+s.Pushes, rejected+s.Rejected
				}
				t.Logf("%d pushes, %d others rejected, all pushed after %s", pushes, rejected, took)
				if took > c.within || rejected > c.rejected {
					t.Errorf("all are pushed after %s with %d rejected pushes, want %s and %d", took, rejected, c.within, c.rejected)
				}
				stop()
				for range homes {
					if err := <-ended; err != nil {
						t.Error(err)
					}
				}
				wantOnce(t, "on the remote", messages(t, remote, "main"), hosts*each)
				wantClean(t, remote)
			})
		})
	}
}

// When a remote comes back, the first courier pushes what waits at all of them. It prevents: a rush
// of all hosts to a remote that has just recovered.
func TestNoRushWhenTheRemoteIsBack(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		remote := bareRemote(t)
		a, b, c := newHome(t, "a", remote), newHome(t, "b", remote), newHome(t, "c", remote)
		a.tell.events.Moved = func() { b.Ring(); c.Ring() }
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 3)
		for i, h := range []*home{a, b, c} {
			h.SetPlace(i + 1)
			go func() { ended <- h.Run(ctx) }()
		}
		time.Sleep(time.Second)
		if err := os.Rename(remote, remote+".away"); err != nil {
			t.Fatal(err)
		}
		one, two := testMessage(2, 1), testMessage(3, 2)
		b.append(t, one)
		c.append(t, two)
		a.append(t, peer(one), peer(two))
		time.Sleep(10 * time.Minute)
		// The hosts find out at different times. The first courier may be the last one.
		if err := os.Rename(remote+".away", remote); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(a.Fetch(ctx), b.Fetch(ctx), c.Fetch(ctx)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(courierStep)
		wantSame(t, "messages", messages(t, remote, "main"), paths(one, two))
		if n, m := b.Status().Pushes+c.Status().Pushes, b.Status().Rejected+c.Status().Rejected; n+m > 0 {
			t.Errorf("the others pushed %d times, and %d in vain", n, m)
		}
		stop()
		for range 3 {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
}

// A host on its own waits after a rejected push as the record's own files say.
func TestRejectedPushWaitsAsTheRecordSays(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T) {
		remote := bareRemote(t)
		a, b := newHome(t, "a", remote), newHome(t, "b", remote)
		if err := a.WriteFile(t.Context(), "local/JITTER.md", []byte("---\nbackoff_base_ms: 1\nbackoff_ceiling_ms: 1\n---\n")); err != nil {
			t.Fatal(err)
		}
		a.sync(t)
		b.sync(t)
		b.append(t, testMessage(2, 1))
		b.sync(t)
		a.append(t, testMessage(1, 1))
		if err := a.main.commit(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if err := a.share.pushUntilTaken(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took, s := time.Since(begin), a.Status(); took > time.Millisecond || s.Rejected != 1 {
			t.Errorf("%d pushes rejected, taken after %s", s.Rejected, took)
		}
	})
}
