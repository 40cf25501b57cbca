package netrig

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// prefix begins the names of all namespaces. A name is made of the prefix, the process, a number,
// and the host.
const prefix = "parleyrig"

// Net is a router and the hosts around it. Its methods end the test if the system refuses.
type Net struct {
	t    testing.TB
	name string

	mu    sync.Mutex // guards hosts
	hosts []*Host
}

// Open makes a network without hosts. It skips the test if that is not possible.
func Open(t testing.TB) *Net {
	t.Helper()
	if os.Getenv("PARLEY_ROOT_TESTS") == "" || os.Getuid() != 0 {
		t.Skip("SKIPPED: needs root, to make network namespaces: set PARLEY_ROOT_TESTS=1")
	}
	for _, program := range []string{"ip", "nft", "git"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: needs the program %s: install iproute2, nftables and git", program)
		}
	}
	sweep(t)
	n := &Net{t: t, name: fmt.Sprintf("%s-%d-%d", prefix, os.Getpid(), time.Now().UnixNano()%1e9)}
	if out, err := exec.Command("ip", "netns", "add", n.router()).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: this system makes no network namespaces: %s", out)
	}
	t.Cleanup(func() { remove(t, n.router()) })
	n.inRouter("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward")
	n.rules("table inet faults {\n chain forward {\n type filter hook forward priority 0; policy accept;\n }\n}\n" +
		"table ip divert {\n chain prerouting {\n type nat hook prerouting priority -100;\n }\n}\n")
	return n
}

func (n *Net) router() string { return n.name + "-router" }

// Host adds a host with an address of its own.
func (n *Net) Host(name string) *Host {
	n.t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	i := len(n.hosts) + 1
	h := &Host{net: n, Name: name, Address: fmt.Sprintf("10.77.%d.2", i), space: n.name + "-" + name}
	wire, gateway := fmt.Sprintf("wire%d", i), fmt.Sprintf("10.77.%d.1", i)
	n.must("ip", "netns", "add", h.space)
	n.t.Cleanup(func() { remove(n.t, h.space) })
	n.must("ip", "-n", n.router(), "link", "add", wire, "type", "veth", "peer", "name", "eth0", "netns", h.space)
	n.must("ip", "-n", n.router(), "address", "add", gateway+"/24", "dev", wire)
	n.must("ip", "-n", n.router(), "link", "set", wire, "up")
	n.must("ip", "-n", h.space, "address", "add", h.Address+"/24", "dev", "eth0")
	n.must("ip", "-n", h.space, "link", "set", "lo", "up")
	n.must("ip", "-n", h.space, "link", "set", "eth0", "up")
	n.must("ip", "-n", h.space, "route", "add", "default", "via", gateway)
	n.hosts = append(n.hosts, h)
	return h
}

// Host is one machine of a network.
type Host struct {
	Name    string
	Address string // IPv4
	net     *Net
	space   string
}

// Inside are the words that have to stand before a command to run it on the host.
func (h *Host) Inside() []string { return []string{"ip", "netns", "exec", h.space} }

// Command is a command that runs on the host. The process is that of the command itself: to kill it
// is not to kill a wrapper.
func (h *Host) Command(ctx context.Context, words ...string) *exec.Cmd {
	words = append(h.Inside(), words...)
	return exec.CommandContext(ctx, words[0], words[1:]...)
}

// Router is a host in the middle, through which all packets go.
func (n *Net) Router() *Host { return &Host{net: n, Name: "router", space: n.router()} }

func (n *Net) inRouter(words ...string) {
	n.t.Helper()
	n.must(append(n.Router().Inside(), words...)...)
}

// rules gives these commands to the router's packet filter: all of them, or none.
func (n *Net) rules(text string) {
	n.t.Helper()
	cmd := n.Router().Command(context.Background(), "nft", "-f", "-")
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		n.t.Fatalf("nft: %v: %s\n%s", err, out, text)
	}
}

func (n *Net) must(words ...string) {
	n.t.Helper()
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		n.t.Fatalf("%s: %v: %s", strings.Join(words, " "), err, out)
	}
}

// sweep removes what was left by processes that are gone.
func sweep(t testing.TB) {
	out, err := exec.Command("ip", "netns", "list").Output()
	if err != nil {
		return // Open says what is wrong
	}
	for line := range bytes.Lines(out) {
		name, _, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		rest, ours := strings.CutPrefix(name, prefix+"-")
		number, _, _ := strings.Cut(rest, "-")
		if pid, err := strconv.Atoi(number); ours && err == nil && syscall.Kill(pid, 0) == syscall.ESRCH {
			remove(t, name)
		}
	}
}

// remove ends what still runs in a namespace, and removes the namespace with its wires.
func remove(t testing.TB, space string) {
	out, err := exec.Command("ip", "netns", "pids", space).Output()
	for _, word := range strings.Fields(string(out)) {
		if pid, err := strconv.Atoi(word); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended by now
		}
	}
	if err == nil {
		out, err = exec.Command("ip", "netns", "delete", space).CombinedOutput()
	}
	if err != nil {
		t.Logf("cannot remove the network namespace %s: %v: %s", space, err, out)
	}
}
