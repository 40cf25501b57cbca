package node

import (
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
)

// wire is a TCP connection between two hosts that can be cut and joined again.
type wire struct {
	listener net.Listener

	mu    sync.Mutex // guards what follows
	to    string     // the links address of a node
	cut   bool
	conns map[net.Conn]bool
}

// newWire returns a wire that leads nowhere until lead is called.
func newWire(t testing.TB) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, conns: map[net.Conn]bool{}}
	var running sync.WaitGroup
	running.Go(func() { // ends with the listener
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.carry(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		w.set(true)
		running.Wait()
	})
	return w
}

// lead has the wire lead to a node.
func (w *wire) lead(to *Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = to.currentBus().Addresses().Links
}

func (w *wire) address() string { return w.listener.Addr().String() }

// set cuts the wire, or joins it.
func (w *wire) set(cut bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cut = cut
	for conn := range w.conns {
		if cut {
			conn.Close()
		}
	}
}

// keep notes a connection that is to be closed when the wire is cut, or forgets it. It reports
// whether the wire is whole.
func (w *wire) keep(conn net.Conn, there bool) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.conns, conn); there {
		w.conns[conn] = true
	}
	return !w.cut
}

func (w *wire) carry(from net.Conn) {
	defer from.Close()
	w.mu.Lock()
	end := w.to
	w.mu.Unlock()
	to, err := net.Dial("tcp", end)
	if err != nil {
		return
	}
	defer to.Close()
	for _, conn := range []net.Conn{from, to} {
		if !w.keep(conn, true) {
			return
		}
		defer w.keep(conn, false)
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{from, to}, {to, from}} {
		both.Go(func() {
			_, _ = io.Copy(way[0], way[1]) // ends when one of the two is closed
			way[0].Close()
			way[1].Close()
		})
	}
	both.Wait()
}

// awaitSame waits until all nodes have the same messages, each once, and these messages among them.
func awaitSame(t *testing.T, want []string, nodes ...*Node) {
	t.Helper()
	eventually(t, "all have the same messages", func() bool {
		first := paths(everything(t, nodes[0]))
		if !containsAll(first, want) {
			return false
		}
		for _, n := range nodes[1:] {
			if !slices.Equal(first, paths(everything(t, n))) {
				return false
			}
		}
		return true
	})
	first := paths(everything(t, nodes[0]))
	if unique := slices.Compact(slices.Clone(first)); len(unique) != len(first) {
		t.Errorf("%d of %d messages are different ones", len(unique), len(first))
	}
}

// containsAll reports whether a sorted list has everything that is wanted.
func containsAll(list, want []string) bool {
	for _, w := range want {
		if _, found := slices.BinarySearch(list, w); !found {
			return false
		}
	}
	return true
}

// Both sides of a partition write, with the remote out of reach all the while. When the link is
// back, every host has everything once, by the bus alone. It still has everything once when the
// remote is back too and a node starts anew.
func TestPartitionHealsByTheBusAlone(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	each := scratch.Rounds(15, 40)
	remote := bareRemote(t)
	leaves := map[string]*Node{}
	link := newWire(t)
	hub, _ := runNode(t, initHome(t, func(o *homes.Options) {
		o.Alias, o.Remote, o.Listen, o.Advertise = "hub", remote, "127.0.0.1:0", []string{link.address()}
	}))
	link.lead(hub)
	for alias, address := range map[string]string{"left": hub.currentBus().Addresses().Links, "right": link.address()} {
		leaves[alias], _ = runNode(t, initHome(t, func(o *homes.Options) { o.Alias, o.Remote, o.Hubs = alias, remote, []string{address} }))
	}
	all := []*Node{hub, leaves["left"], leaves["right"]}
	for i := range all {
		awaitMeeting(t, all[i], all[(i+1)%3])
	}
	awaitSame(t, nil, all...)
	link.set(true)
	if err := os.Rename(remote, remote+"-away"); err != nil {
		t.Fatal(err)
	}
	said := map[*Node][]string{}
	for i := range each {
		for _, n := range all {
			m, err := control.Send.Ask(t.Context(), n, control.SendRequest{To: []string{"all"}, Body: fmt.Sprint("word ", i)})
			if err != nil {
				t.Fatal(err)
			}
			said[n] = append(said[n], m.Path.String())
		}
	}
	awaitSame(t, slices.Concat(said[hub], said[leaves["left"]]), hub, leaves["left"])
	if away := paths(everything(t, leaves["right"])); containsAll(away, said[hub][:1]) || !containsAll(away, said[leaves["right"]]) {
		t.Error("the host that is cut off does not have its own messages alone")
	}
	link.set(false)
	everybodys := slices.Concat(said[hub], said[leaves["left"]], said[leaves["right"]])
	awaitSame(t, everybodys, all...)
	if err := os.Rename(remote+"-away", remote); err != nil {
		t.Fatal(err)
	}
	for _, n := range all {
		if _, err := control.Wake.Ask(t.Context(), n, control.WakeRequest{}); err != nil {
			t.Fatal(err)
		}
		eventually(t, "everything is on the remote", func() bool { s := n.record.Status(); return s.Unpushed+s.Unrecorded == 0 })
	}
	awaitSame(t, everybodys, all...)
}
