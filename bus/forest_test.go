package bus

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/protocol"
)

// forest is a set of hosts. Some of them take links, and some can reach some others.
type forest struct {
	*testing.T
	fleet *fleet
	hosts []*host
	down  map[*host]bool
	loops *loopWatch

	mu    sync.Mutex             // guards reach
	reach map[[2]*host]bool      // whether the first host can dial the second
	at    map[protocol.Name]*Bus // the bus of each host while it is up
}

// loopWatch is a log that keeps what NATS says of cycles.
type loopWatch struct {
	mu    sync.Mutex // guards lines
	lines []string
}

func (l *loopWatch) Write(p []byte) (int, error) {
	if bytes.Contains(bytes.ToLower(p), []byte("loop detected")) {
		l.mu.Lock()
		l.lines = append(l.lines, string(p))
		l.mu.Unlock()
	}
	return len(p), nil
}

func newForest(t *testing.T, takes []bool) *forest {
	f := &forest{T: t, fleet: newFleet(), down: map[*host]bool{}, loops: &loopWatch{}, reach: map[[2]*host]bool{}, at: map[protocol.Name]*Bus{}}
	for i, listens := range takes {
		h := newHost(t, f.fleet, protocol.Name(fmt.Sprintf("h%d", i)))
		h.opts.Log = zerolog.New(f.loops).Level(zerolog.DebugLevel)
		h.opts.Hubs = func() []Hub { return f.hubs(h) }
		h.opts.Heard = func(other protocol.Name) bool { return f.heard(h.alias, other) }
		if listens {
			h.opts.Links = "127.0.0.1:0"
		}
		f.hosts = append(f.hosts, h)
	}
	return f
}

// hubs returns what `from` knows of hubs: all other hosts that take links. If a hub is down or out
// of reach, the address leads nowhere.
func (f *forest) hubs(from *host) []Hub {
	f.mu.Lock()
	defer f.mu.Unlock()
	var hubs []Hub
	for _, h := range f.hosts {
		if h == from || h.opts.Links == "" {
			continue
		}
		address := closedAddress
		if b := f.at[h.alias]; b != nil && f.reach[[2]*host{from, h}] {
			address, _ = b.entrance.address()
		}
		key, err := h.opts.Key.PublicKey()
		if err != nil {
			panic(err)
		}
		hubs = append(hubs, Hub{Alias: h.alias, Keys: []string{key}, Addresses: []string{address}})
	}
	return hubs
}

func (f *forest) up(h *host) {
	h.start(f.T)
	f.mu.Lock()
	f.at[h.alias] = h.Bus
	f.mu.Unlock()
	delete(f.down, h)
}

func (f *forest) kill(h *host) {
	f.mu.Lock()
	delete(f.at, h.alias)
	f.mu.Unlock()
	f.down[h] = true
	if err := h.Close(); err != nil {
		f.Errorf("closing %s: %v", h.alias, err)
	}
}

// heard reports whether two hosts are in one tree now. Links may change while it looks.
func (f *forest) heard(a, b protocol.Name) bool {
	return f.top(a) == f.top(b)
}

// top returns the host at the end of the links that lead out of `host`.
func (f *forest) top(host protocol.Name) protocol.Name {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range len(f.hosts) {
		b := f.at[host]
		if b == nil || b.tree.dialled() == nil {
			break
		}
		host = b.tree.dialled().host
	}
	return host
}

// looks makes every host that takes links look whether links up keep it from others. Until the test
// ends this happens again and again, far more often than a host would do it.
func (f *forest) looks() {
	ctx, cancel := context.WithCancel(context.Background())
	var looking sync.WaitGroup
	looking.Go(func() { // ends with ctx
		memory := map[*Bus]*rejoin{}
		for ctx.Err() == nil {
			f.mu.Lock()
			all := slices.Collect(maps.Values(f.at))
			f.mu.Unlock()
			for _, b := range all {
				if memory[b] == nil {
					memory[b] = &rejoin{done: map[protocol.Name]time.Time{}}
				}
				if b.takesLinks() {
					b.dialler.look(memory[b], time.Now())
				}
			}
			<-time.After(50 * time.Millisecond)
		}
	})
	f.Cleanup(func() {
		cancel()
		looking.Wait()
	})
}

// root returns the host at the end of the links that lead out of `h`.
func (f *forest) root(h *host) *host {
	for range len(f.hosts) {
		o := h.tree.dialled()
		if o == nil {
			return h
		}
		i := slices.IndexFunc(f.hosts, func(other *host) bool { return other.alias == o.host })
		h = f.hosts[i]
	}
	f.Fatal("the links form a cycle")
	return nil
}

// settled reports whether no two trees are left that the rules could join. Two trees are left if a
// host has dialled nobody, may dial, and reaches a host outside its own tree that would take its
// link.
func (f *forest) settled() bool {
	for _, h := range f.hosts {
		if f.down[h] || h.tree.dialled() != nil || h.tree.linkedUp() {
			continue
		}
		for _, other := range f.hosts {
			if f.down[other] || other.opts.Links == "" || !f.reach[[2]*host{h, other}] || f.root(other) == h {
				continue
			}
			refuses := h.opts.Links != "" && other.alias > h.alias && other.tree.dialled() != nil
			if !refuses {
				return false
			}
		}
	}
	return true
}

// hear makes sure that all hosts of each tree hear each other.
func (f *forest) hear(round int) {
	for i, from := range f.hosts {
		if f.down[from] {
			continue
		}
		n := round*100 + i
		m, data := message(f.T, from, n)
		awaitTrue(f.T, fmt.Sprintf("%s is heard", from.alias), func() bool {
			if err := from.Publish(m, data); err != nil { // published again, as heads and resends would do it
				f.Error(err)
			}
			for _, to := range f.hosts {
				if to != from && !f.down[to] && f.root(to) == f.root(from) && !slices.Contains(to.paths(), m.Path) {
					return false
				}
			}
			return true
		})
	}
}

func (f *forest) check(what string, round int) {
	f.Helper()
	awaitTrue(f.T, what, f.settled)
	f.hear(round)
	f.loops.mu.Lock()
	defer f.loops.mu.Unlock()
	if len(f.loops.lines) > 0 {
		f.Errorf("%s: NATS saw a cycle: %s", what, strings.Join(f.loops.lines, ""))
	}
}

func (f *forest) joined() bool {
	var root *host
	for _, h := range f.hosts {
		if f.down[h] {
			continue
		}
		if root == nil {
			root = f.root(h)
		}
		if f.root(h) != root {
			return false
		}
	}
	return true
}

// Hubs that all hosts can reach form one tree. They form one tree again after each of them was
// killed, and after it came back.
func TestOneTreeOfHubsThatAllReach(t *testing.T) {
	t.Parallel()
	f := newForest(t, []bool{true, true, true, false, false})
	for _, h := range f.hosts {
		for _, other := range f.hosts {
			f.reach[[2]*host{h, other}] = true
		}
	}
	for _, h := range f.hosts {
		f.up(h)
	}
	awaitTrue(t, "one tree", f.joined)
	f.check("at first", 1)
	for i, hub := range f.hosts[:3] {
		f.kill(hub)
		awaitTrue(t, "one tree without "+hub.alias.String(), f.joined)
		f.check("without "+hub.alias.String(), 10+i)
		f.up(hub)
		awaitTrue(t, "one tree with "+hub.alias.String(), f.joined)
		f.check("with "+hub.alias.String(), 20+i)
		awaitTrue(t, "no host to miss a link", func() bool {
			return !slices.ContainsFunc(f.hosts, func(h *host) bool {
				return slices.ContainsFunc(h.Links(), func(l Link) bool { return !l.Up })
			})
		})
	}
}

// Two hosts at home take links of each other, and nobody outside reaches them. The hub outside
// comes last in the alphabet. The three must meet all the same.
func TestHostsBehindANATMeetAHubBehindThemInTheAlphabet(t *testing.T) {
	t.Parallel()
	f := newForest(t, []bool{true, true, true})
	home1, home2, outside := f.hosts[0], f.hosts[1], f.hosts[2]
	for _, way := range [][2]*host{{home1, home2}, {home2, home1}, {home1, outside}, {home2, outside}} {
		f.reach[way] = true
	}
	for _, h := range f.hosts {
		f.up(h)
	}
	awaitTrue(t, "one tree", f.joined)
	f.check("at first", 1)
}

// It is drawn by lot which hosts reach which, and this changes. Hosts die and return. There is
// never a cycle, and in the end no two trees are left that the rules could join.
func TestForestSettlesWhoeverReachesWhom(t *testing.T) {
	t.Parallel()
	rounds, _ := strconv.Atoi(os.Getenv("PARLEY_SOAK"))
	for n := range uint64(max(2, 4*rounds)) {
		seed := n + 1
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 7))
			takes := make([]bool, 5)
			for i := range takes {
				takes[i] = r.IntN(4) > 0
			}
			f := newForest(t, takes)
			draw := func() {
				f.mu.Lock()
				defer f.mu.Unlock()
				for _, h := range f.hosts {
					for _, other := range f.hosts {
						f.reach[[2]*host{h, other}] = r.IntN(2) == 0
					}
				}
			}
			draw()
			for _, h := range f.hosts {
				f.up(h)
			}
			f.looks()
			f.check("at first", 1)
			for round := range 2 {
				victim := f.hosts[r.IntN(len(f.hosts))]
				f.kill(victim)
				draw()
				f.check(fmt.Sprintf("without %s", victim.alias), 10+round)
				f.up(victim)
				f.check(fmt.Sprintf("with %s", victim.alias), 20+round)
			}
		})
	}
}
