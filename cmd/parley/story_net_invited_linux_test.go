package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
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
	scratch.Long(t)
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

// A machine joins by a line and is killed in the middle of the first copy, twice. The same command goes
// on where it was, with the key that was let in. It prevents: a large record that never comes over a bad
// line, and a line that is spent by that.
func TestInvitedAndKilledInTheFirstCopy(t *testing.T) {
	t.Parallel()
	n := netrig.Open(t)
	white := &netHost{alias: "white", at: n.Host("white"), storyHost: emptyStoryHost(t)}
	white.inside = white.at.Inside()
	white.must("init", "--alias", "white", "--human", "nat", "--listen", white.at.Address+":4222")
	white.start()
	line := white.invites(2)
	growShared(t, white.home.Shared(), 3500)
	invited := func(alias string) (*netHost, []string) {
		h := &netHost{alias: alias, at: n.Host(alias), storyHost: emptyStoryHost(t)}
		h.inside = h.at.Inside()
		return h, []string{"join", line, "--alias", alias, "--human", "ida"}
	}
	whole, words := invited("black")
	whole.must(words...)

	h, words := invited("grey")
	packs := func() int {
		all, err := filepath.Glob(filepath.Join(h.home.Dir, "record.git.new", "objects", "pack", "*.pack"))
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	came := []int{0}
	for range 2 {
		before := packs()
		cmd := h.command(t.Context(), words...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		h.until("a piece has come", func() bool { return packs() > before })
		_ = cmd.Process.Kill() // with kill -9
		if err := cmd.Wait(); err == nil {
			t.Fatal("it was not killed")
		}
		came = append(came, received(t, h.at))
	}
	if _, err := os.Stat(h.home.Config()); err == nil {
		t.Error("it is a home already")
	}
	h.must(words...)
	all, rest := received(t, whole.at), received(t, h.at)-came[2]
	t.Logf("%d bytes are all, %d came before the second kill, %d after that", all, came[2], rest)
	if rest > all*2/3 {
		t.Errorf("it began anew: %d bytes are all, and %d came after %d", all, rest, came[2])
	}
	h.start()
	h.until("it has what the other host has", func() bool {
		return h.linkUp() && h.status().Record.Trouble == nil && h.status().Record.Unpushed == 0 && h.status().Record.Tip == white.status().Record.Tip
	})
	if out := h.must("record", "verify"); !strings.Contains(out, "nothing is wrong") {
		t.Errorf("verify: %s", out)
	}
	if _, err := os.Stat(filepath.Join(h.home.Dir, "record.git.new")); err == nil {
		t.Error("what was begun is left")
	}
	if made, err := control.Invitations.Ask(t.Context(), white.client, control.InvitationsRequest{}); err != nil || len(made.Lines) != 1 || made.Lines[0].Used != 2 {
		t.Errorf("the line: %+v, %v", made, err)
	}
}

// growShared adds commits to main of a repository, so that a first copy comes in pieces.
func growShared(t *testing.T, repo string, commits int) {
	t.Helper()
	var in strings.Builder
	tip := strings.TrimSpace(gitOut(t, repo, "rev-parse", "main"))
	for i := range commits {
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter x <x@example.org> %d +0000\ndata 1\nm\n", 1780000000+i)
		if i == 0 {
			fmt.Fprintf(&in, "from %s\n", tip)
		}
		text := rand.Text() + rand.Text() + rand.Text() + rand.Text()
		fmt.Fprintf(&in, "M 100644 inline README.md\ndata %d\n%s\n", len(text), text)
	}
	cmd := exec.Command("git", "-C", repo, "fast-import", "--quiet")
	cmd.Stdin = strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git fast-import: %v: %s", err, out)
	}
}

// received is how many bytes have come to a machine.
func received(t *testing.T, at *netrig.Host) int {
	t.Helper()
	out, err := at.Command(t.Context(), "cat", "/sys/class/net/eth0/statistics/rx_bytes").Output()
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
