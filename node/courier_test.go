package node

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

const fleetSize = 8

// fleetOf starts hosts h1 to h8 on one remote. If they are linked, the first is the hub to which
// the others link.
func fleetOf(t testing.TB, linked bool) (remote string, nodes []*Node) {
	t.Helper()
	remote = bareRemote(t)
	var hubs []string
	for i := range fleetSize {
		home := initHome(t, func(o *homes.Options) {
			o.Alias, o.Remote, o.Hubs = fmt.Sprint("h", i+1), remote, hubs
			if linked && i == 0 {
				o.Listen = "127.0.0.1:0"
			}
		})
		n, _ := runNode(t, home)
		if linked && i == 0 {
			hubs = []string{n.currentBus().Addresses().Links}
		}
		nodes = append(nodes, n)
	}
	for i, n := range nodes {
		eventually(t, "everything of the joins is shared", func() bool {
			s := n.record.Status()
			return s.Unpushed+s.Unrecorded == 0 && s.RemoteTip == s.Tip && (!linked || s.Place == i+1)
		})
	}
	return remote, nodes
}

// burst has every host store that many messages as fast as it can. It returns how long the slowest
// host took, after it had stored its last message, to know that all its messages are pushed.
func burst(t testing.TB, nodes []*Node, each int) (slowest time.Duration) {
	t.Helper()
	took := make([]time.Duration, len(nodes))
	var all sync.WaitGroup
	for i, n := range nodes {
		all.Go(func() {
			var last time.Time
			var waiting []protocol.Path
			for k := range each {
				m, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{"all"}, Body: fmt.Sprint("burst ", i, " ", k)})
				if err != nil {
					t.Error(err)
					return
				}
				last, waiting = time.Now(), append(waiting, m.Path)
			}
			for len(waiting) > 0 && t.Context().Err() == nil {
				<-time.After(5 * time.Millisecond)
				waiting = slices.DeleteFunc(waiting, func(p protocol.Path) bool { return n.record.Place(p) == gitsync.Pushed })
			}
			took[i] = time.Since(last)
		})
	}
	all.Wait()
	return slices.Max(took)
}

// counted returns the pushes of all hosts so far.
func counted(nodes []*Node) (pushes, rejected int) {
	for _, n := range nodes {
		s := n.record.Status()
		pushes += s.Pushes
		rejected += s.Rejected
	}
	return pushes, rejected
}

// wantBursts checks that the remote has each message of the bursts once, as the git program sees
// it.
func wantBursts(t testing.TB, remote string, count int) {
	t.Helper()
	cmd := exec.Command("git", "-C", remote, "grep", "-h", "^burst [0-9]* [0-9]*$", "main", "--", "data/channels")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git grep: %v", err)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	slices.Sort(lines)
	if n := len(slices.Compact(slices.Clone(lines))); len(lines) != count || n != count {
		t.Errorf("%d messages on the remote, of which %d different: want %d once each", len(lines), n, count)
	}
}

// If the bus is up, one host pushes for all. Without it all hosts push, and nothing is lost either.
func TestEightHostsPushOnce(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	const each = 10
	for _, linked := range []bool{true, false} {
		t.Run(fmt.Sprint("linked ", linked), func(t *testing.T) {
			remote, nodes := fleetOf(t, linked)
			pushesBefore, rejectedBefore := counted(nodes)
			slowest := burst(t, nodes, each)
			pushes, rejected := counted(nodes)
			pushes, rejected = pushes-pushesBefore, rejected-rejectedBefore
			t.Logf("%d pushes, %d rejected, the slowest after %s", pushes, rejected, slowest)
			wantBursts(t, remote, fleetSize*each)
			if linked && rejected > 2*fleetSize {
				t.Errorf("%d of %d pushes were rejected although one host pushes for all", rejected, pushes)
			}
		})
	}
}

// BenchmarkEightHosts reports how long messages of eight hosts take to the remote, with and without
// the bus.
func BenchmarkEightHosts(b *testing.B) {
	for _, linked := range []bool{true, false} {
		b.Run(fmt.Sprint("linked=", linked), func(b *testing.B) {
			const each = 100
			for range b.N {
				b.StopTimer()
				remote, nodes := fleetOf(b, linked)
				pushesBefore, rejectedBefore := counted(nodes)
				b.StartTimer()
				slowest := burst(b, nodes, each)
				b.StopTimer()
				pushes, rejected := counted(nodes)
				wantBursts(b, remote, fleetSize*each)
				b.ReportMetric(slowest.Seconds(), "slowest-s")
				b.ReportMetric(float64(pushes-pushesBefore), "pushes")
				b.ReportMetric(float64(rejected-rejectedBefore), "rejected")
			}
		})
	}
}
