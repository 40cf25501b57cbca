package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/netrig"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// newInvitedFleet makes a fleet without a git server: the first host carries the record, and the others
// join by one invitation line. The first two take links. The last one is behind a NAT.
func newInvitedFleet(t *testing.T, size int) (f *netFleet, line string) {
	t.Helper()
	f = &netFleet{t: t, net: netrig.Open(t), sent: map[protocol.Path]string{}}
	for i := range size {
		at := f.net.Host(netAlias(i))
		if i == size-1 {
			f.net.Hide(at)
		}
		h := &netHost{alias: netAlias(i), at: at, storyHost: emptyStoryHost(t)}
		h.inside = at.Inside()
		f.hosts = append(f.hosts, h)
		words := []string{"init"}
		if i > 0 {
			words = []string{"join", line}
		}
		if i < 2 && i < size-1 {
			words = append(words, "--listen", at.Address+":4222")
		}
		h.must(append(words, "--alias", h.alias, "--human", "nat-"+h.alias)...)
		h.start()
		if i == 0 {
			line = h.invites(size)
		}
		h.must("agent", "add", "echo-"+h.alias, "--exec", "cat")
	}
	f.remote = &netrig.Remote{Host: f.hosts[0].at, Dir: f.hosts[0].home.Shared()}
	f.took("all hosts are live", scratch.Patience(), f.linked)
	f.settle()
	return f, line
}

// invites is an invitation line by which nobody is asked.
func (h *netHost) invites(uses int) string {
	h.t.Helper()
	made, err := control.MakeInvitation.Ask(h.t.Context(), h.client, control.InvitationRequest{Uses: uses, Unasked: true})
	if err != nil {
		h.t.Fatal(err)
	}
	return made.Line
}

// Three hosts are a fleet by invitation lines alone, and one of them is behind a NAT. Each has the mail
// of all and the whole record, also after it was away, and whoever else was away meanwhile.
func TestInvitedBehindANAT(t *testing.T) {
	t.Parallel()
	f, _ := newInvitedFleet(t, 3)
	carrier, other, hidden := f.hosts[0], f.hosts[1], f.hosts[2]
	f.sayAll(3)
	f.settled("all had spoken")
	f.same()

	f.away(hidden, soak(300, 5000))

	// The carrier and the hidden host are away. The hidden one comes back first, and gets what the other
	// one has: also a memory, which only git brings.
	hidden.stop()
	carrier.kill()
	f.say(other, "nat-"+hidden.alias, 20)
	if _, err := control.AddMemory.Ask(t.Context(), other.client, control.AddMemoryRequest{Subject: "ports", Body: "The port is 4222."}); err != nil {
		t.Fatal(err)
	}
	other.until("it is committed", func() bool { return other.status().Record.Unrecorded == 0 })
	hidden.start()
	f.took("the host behind the NAT has what was said without it", scratch.Patience(), func() bool { return f.heardAll(other, hidden) })
	f.took("it has the memory", scratch.Patience(), func() bool {
		all, err := control.Memories.Ask(t.Context(), hidden.client, control.MemoriesRequest{})
		return err == nil && len(all) == 1
	})
	if s := hidden.status().Record; s.Trouble == nil || !strings.Contains(s.RemoteError, "white") {
		t.Errorf("it does not say that the carrier is away: %+v", s)
	}
	f.say(hidden, "nat-"+carrier.alias, 5)
	carrier.start()
	began := time.Now()
	f.settled("the carrier was back")
	if took := time.Since(began); took > 2*seconds {
		t.Errorf("that took %s", took)
	}
	f.sayAll(1)
	f.settle()
	f.same()
}

// Two homes on one machine, which has another name for each of them, meet by a line with an address of
// the loopback. It prevents: a host that has joined by an address and then does not dial it.
func TestInvitedOnOneMachineWithTwoNames(t *testing.T) {
	t.Parallel()
	if os.Getenv("PARLEY_ROOT_TESTS") == "" || os.Getuid() != 0 {
		t.Skip("SKIPPED: needs root, to give the machine another name: set PARLEY_ROOT_TESTS=1")
	}
	a := &netHost{alias: "white", storyHost: newStoryHost(t, "white", "--listen", "127.0.0.1:0")}
	a.start()
	b := &netHost{alias: "black", storyHost: emptyStoryHost(t)}
	b.inside = []string{"unshare", "--uts", "sh", "-c", `echo elsewhere >/proc/sys/kernel/hostname && exec "$@"`, "sh"}
	b.must("join", a.invites(1), "--alias", "black", "--human", "ida")
	b.start()
	b.until("the two are linked", func() bool { return b.linkUp() && a.sees(b) && b.sees(a) })
}
