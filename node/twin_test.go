package node

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// startNode runs a node that may end by itself. ended then says why.
func startNode(t *testing.T, home configs.Home) (n *Node, ended <-chan error) {
	t.Helper()
	return startNodeWith(t, Options{Home: home, Version: "test", Log: zerolog.Nop(), builtin: true})
}

// startNodeWith is startNode with options of the test's own.
func startNodeWith(t *testing.T, o Options) (n *Node, ended <-chan error) {
	t.Helper()
	n, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ready, done := make(chan struct{}), make(chan error, 1)
	go func() {
		done <- n.Run(ctx, func() { close(ready) })
		close(done)
	}()
	t.Cleanup(func() {
		cancel()
		awaited(t, "the end of the node", done)
		n.Close()
	})
	select {
	case <-ready:
	case err := <-done: // the node may hear why it stays out before it is up
		early := make(chan error, 1)
		early <- err
		return n, early
	case <-time.After(scratch.Patience()):
		t.Fatal("the node is not up")
	}
	return n, done
}

// wantExpelled waits for a node to say why it stays out.
func wantExpelled(t *testing.T, ended <-chan error, says string) {
	t.Helper()
	err := awaited(t, "the end of the second node of the name", ended)
	if e := new(control.Error); !errors.As(err, &e) || e.Kind != control.KindConflict || !strings.Contains(e.Message, says) || e.Hint == "" {
		t.Errorf("it ended with %v", err)
	}
}

func wantRunning(t *testing.T, n *Node, ended <-chan error, warned string) {
	t.Helper()
	eventually(t, "it warns", func() bool {
		s, err := control.ShowStatus.Ask(t.Context(), n)
		return err == nil && strings.Contains(strings.Join(s.Warned, "\n"), warned)
	})
	select {
	case err := <-ended:
		t.Errorf("the first node ended as well: %v", err)
	default:
	}
}

// copied returns a copy of a home, as a person makes it for a second machine.
func copied(t *testing.T, home configs.Home) configs.Home {
	t.Helper()
	to := configs.Home{Dir: filepath.Join(t.TempDir(), "copy")}
	if err := os.CopyFS(to.Dir, os.DirFS(home.Dir)); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(to.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// imaged returns a copy of a home that does not know that it is a copy, as in the image of a whole
// machine, or as an earlier version made it.
func imaged(t *testing.T, home configs.Home) configs.Home {
	t.Helper()
	to := copied(t, home)
	if err := os.Remove(to.Origin()); err != nil {
		t.Fatal(err)
	}
	return to
}

func fastFetch(t *testing.T, home configs.Home) {
	t.Helper()
	changeConfig(t, home, func(c *configs.Config) { c.FetchInterval = 200 * time.Millisecond })
}

func changeConfig(t *testing.T, home configs.Home, change func(*configs.Config)) {
	t.Helper()
	c, err := configs.Load(home.Config())
	if err != nil {
		t.Fatal(err)
	}
	change(&c)
	if err := os.WriteFile(home.Config(), configs.Render(c), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A copied home that meets the first home on the bus stays out. It prevents: two nodes that write
// one host's chain.
func TestACopiedHomeStaysOutOfTheBus(t *testing.T) {
	t.Parallel()
	hub, _ := runNode(t, initHome(t, func(o *homes.Options) { o.Alias, o.Remote, o.Listen = "hub", bareRemote(t), "127.0.0.1:0" }))
	leaf := initHome(t, func(o *homes.Options) {
		o.Alias, o.Remote, o.Hubs = "leaf", hub.cfg.Remote, []string{hub.currentBus().Addresses().Links}
	})
	copy := imaged(t, leaf)
	first, firstEnded := startNode(t, leaf)
	eventually(t, "the first is linked", func() bool { return len(hub.live.Present()) == 1 })
	_, ended := startNode(t, copy)
	wantExpelled(t, ended, "another node with the name and key of this host runs")
	wantRunning(t, first, firstEnded, "it is told to stay out")
}

// A presence that a host announced before it was started anew is no sign of another node, whoever
// repeats it. It prevents: a replayed letter ends the node.
func TestAnOldPresenceIsNoTwin(t *testing.T) {
	n, ended := startNode(t, initHome(t, func(o *homes.Options) { o.Alias = "leaf" }))
	old := bus.Presence{Host: "leaf", Live: true, Run: "0badcafe", Since: n.started.Add(-time.Hour), Sent: n.started.Add(-time.Second), Seen: n.now()}
	n.presence.SawHost(old)
	select {
	case err := <-ended:
		t.Errorf("the old letter counts as that of another node: %v", err)
	default:
	}
	old.Sent = n.now().Add(time.Second)
	n.presence.SawHost(old)
	wantExpelled(t, ended, "another node with the name and key of this host runs")
}

// By git alone, the node whose first message was later stays out.
func TestACopiedHomeStaysOutOfTheRecord(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	home := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "leaf", bareRemote(t) })
	fastFetch(t, home)
	copy := imaged(t, home)
	first, firstEnded := startNode(t, home)
	say(t, first, "all", "I am the first")
	eventually(t, "the first has pushed", func() bool { return first.record.Status().Unpushed+first.record.Status().Unrecorded == 0 })
	second, ended := startNode(t, copy)
	say(t, second, "all", "so am I")
	wantExpelled(t, ended, "writes into the record")
	wantRunning(t, first, firstEnded, "writes into the record")
	// The message that the second node had accepted is not lost.
	eventually(t, "its message is there", func() bool {
		all := everything(t, first)
		return first.record.Status().Unpushed == 0 && slices.ContainsFunc(all, func(m control.Message) bool { return m.Body == "so am I" })
	})
}

// A backup that is put back finds messages that its earlier life wrote. That is no second node.
func TestARestoredHomeIsNoTwin(t *testing.T) {
	home := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "leaf", bareRemote(t) })
	fastFetch(t, home)
	backup := copied(t, home)
	n, stop := runNode(t, home)
	say(t, n, "all", "after the backup")
	eventually(t, "it is pushed", func() bool { return n.record.Status().Unpushed+n.record.Status().Unrecorded == 0 })
	stop()
	again, ended := startNodeWith(t, Options{Home: backup, Version: "test", Log: zerolog.Nop(), Moved: true, builtin: true})
	eventually(t, "it is fetched", func() bool { return len(everything(t, again)) == 2 })
	say(t, again, "all", "restored")
	wantRunning(t, again, ended, "")
}

// Two hosts took one name without knowing of each other. The host that joined later stays out, at
// once or when it learns of the other.
func TestTwoKeysOfOneName(t *testing.T) {
	scratch.Unraced(t)
	t.Parallel()
	for _, c := range []struct {
		name       string
		firstWaits bool // the first to join is the last to push
	}{{"the second learns of the first", false}, {"the first comes late", true}} {
		t.Run(c.name, func(t *testing.T) {
			remote := bareRemote(t)
			initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "other", remote })
			apart := copied(t, configs.Home{Dir: remote}).Dir
			where := []string{remote, apart}
			if c.firstWaits {
				where = []string{apart, remote}
			}
			first := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "white", where[0] })
			second := initHome(t, func(o *homes.Options) { o.Alias, o.Remote = "white", where[1] })
			for _, h := range []configs.Home{first, second} {
				changeConfig(t, h, func(c *configs.Config) { c.Remote, c.FetchInterval = remote, 100*time.Millisecond })
			}
			if c.firstWaits {
				_, ended := startNode(t, second)
				n, firstEnded := startNode(t, first)
				wantExpelled(t, ended, "joined first")
				wantRunning(t, n, firstEnded, "")
				return
			}
			n, firstEnded := startNode(t, first)
			_, ended := startNode(t, second)
			if err := awaited(t, "the end of the second node of the name", ended); err == nil || !strings.Contains(err.Error(), "has a host called white already") {
				t.Errorf("it ended with %v", err)
			}
			wantRunning(t, n, firstEnded, "")
		})
	}
}
