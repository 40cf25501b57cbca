package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// said keeps the messages that senders were told are stored: the text of each by its path.
type said struct {
	mu   sync.Mutex // guards all
	all  map[protocol.Path]string
	once sync.Once
	any  chan struct{} // closed at the first
}

func newSaid() *said { return &said{all: map[protocol.Path]string{}, any: make(chan struct{})} }

// add notes the answer to one hey. A path that comes twice is a failure.
func (s *said) add(t testing.TB, p protocol.Path, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other, twice := s.all[p]; twice {
		t.Errorf("%s was given to %q and to %q", p, other, text)
	}
	s.all[p] = text
	s.once.Do(func() { close(s.any) })
}

// addLine notes what "parley hey" printed.
func (s *said) addLine(t testing.TB, line, text string) {
	path, stages, _ := strings.Cut(strings.TrimSpace(line), "  ")
	p, err := protocol.ParsePath(path)
	if err != nil || !strings.HasPrefix(stages, "stored") {
		t.Errorf("hey printed %q", line)
		return
	}
	s.add(t, p, text)
}

// check compares what was said with the record, as the node shows it and as git alone holds it.
// Each message to the agent must have one reply and one receipt.
func (s *said) check(t *testing.T, h *storyHost, agent string, repositories ...string) {
	t.Helper()
	all := h.log()
	h.stop()
	times, texts := map[protocol.Path]int{}, map[string]int{}
	replies, receipts := map[string]int{}, map[string]int{}
	for _, m := range all {
		times[m.Path]++
		switch {
		case m.Type == protocol.TypeRead:
			receipts[m.Ref]++
		case m.From == agent:
			replies[m.Re]++
		default:
			texts[m.Body]++
		}
	}
	for _, repository := range repositories {
		gitOut(t, repository, "fsck", "--strict", "--full")
		files := filesInGit(t, repository)
		if len(files) != len(all) {
			t.Errorf("%s holds %d messages, the log shows %d", repository, len(files), len(all))
		}
		for p, text := range s.all {
			if m, err := protocol.Decode(p, files[p]); err != nil || m.Body != text {
				t.Errorf("%s was stored, in %s it is %q (%v), want %q", p, repository, files[p], err, text)
			}
		}
	}
	for p, text := range s.all {
		if times[p] != 1 || texts[text] != 1 {
			t.Errorf("%s was stored once: its path stands %d times in the log, its text %q %d times", p, times[p], text, texts[text])
		}
	}
	for _, m := range all {
		if len(m.To) != 1 || m.To[0] != agent || m.Type != protocol.TypeText {
			continue
		}
		if r, a := receipts[m.Path.String()], replies[m.Path.String()]; r != 1 || a != 1 {
			t.Errorf("%s to %s has %d replies and %d receipts, want one of each", m.Path, agent, a, r)
		}
	}
}

// settled waits until all that the hosts have stored is pushed, all hosts have the same record, and
// every message to the agent in it is answered.
func settled(agent string, hosts ...*storyHost) {
	h := hosts[0]
	h.t.Helper()
	h.until("everything is answered, pushed and fetched", func() bool {
		tips := map[string]bool{}
		for _, each := range hosts {
			s := each.status()
			if s.Record.Unrecorded+s.Record.Unpushed > 0 {
				return false
			}
			tips[s.Record.Tip] = true
		}
		return len(tips) == 1 && h.unanswered(agent) == 0
	})
}

// unanswered returns how many messages to the agent have no answer that this host knows.
func (h *storyHost) unanswered(agent string) int {
	n := 0
	for _, m := range h.log() {
		if m.Type == protocol.TypeText && len(m.To) == 1 && m.To[0] == agent && m.Stage != protocol.StageAnswered {
			n++
		}
	}
	return n
}

// Ten people and scripts speak at once, with a process for each message, while an agent works. No
// message fails, none is lost, none is doubled. Crosstalk D32.
func TestTwoHundredHeysFromTenProcesses(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	remote := sharedRepository(t)
	h := newStoryHost(t, "white", "--remote", remote)
	h.start()
	h.must("agent", "add", "echo", "--exec", "git hash-object --stdin")
	h.must("agent", "add", "mawjs", "--inbox")
	heard := newSaid()
	var senders sync.WaitGroup
	for sender := range 10 {
		senders.Go(func() {
			for i := range 20 {
				text := fmt.Sprintf("hello %d from %d", i, sender)
				out, err := h.try("hey", []string{"echo", "mawjs"}[i%2], text, "--as", "nat")
				if err != nil {
					t.Error(err)
					continue
				}
				heard.addLine(t, out, text)
			}
		})
	}
	senders.Wait()
	if len(heard.all) != 200 {
		t.Errorf("%d of 200 messages were stored", len(heard.all))
	}
	settled("echo", h)
	heard.check(t, h, "echo", h.home.Record(), remote)
}

// killRounds returns how often the node is killed. PARLEY_SOAK=N asks for N times.
func killRounds(t *testing.T) int {
	text := os.Getenv("PARLEY_SOAK")
	if text == "" {
		return 5
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("PARLEY_SOAK=%q is not a number of rounds", text)
	}
	return n
}

// The node is ended with kill -9 at any moment, while people speak and an agent answers. Every
// message that was answered with "stored" is in the record once. No message is answered twice.
func TestKilledNodeKeepsWhatItStored(t *testing.T) {
	t.Parallel()
	remote := sharedRepository(t)
	h := newStoryHost(t, "white", "--remote", remote)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	all := newSaid()
	for round := range killRounds(t) {
		h.start()
		if round == 0 {
			h.must("agent", "add", "echo", "--exec", "git hash-object --stdin")
			h.must("agent", "add", "mawjs", "--inbox")
		}
		ctx, cancel := context.WithCancel(t.Context())
		var senders sync.WaitGroup
		now := newSaid()
		for sender := range 4 {
			to := []string{"echo", "mawjs", "mawjs", "mawjs"}[sender]
			senders.Go(func() { h.talk(ctx, to, fmt.Sprintf("round %d sender %d", round, sender), sender == 1, 0, now) })
		}
		<-now.any
		<-time.After(time.Duration(random.Int64N(int64(150 * time.Millisecond))))
		h.kill()
		cancel()
		senders.Wait()
		for p, text := range now.all {
			all.add(t, p, text)
		}
	}
	t.Logf("%d messages were stored", len(all.all))
	h.start()
	settled("echo", h)
	all.check(t, h, "echo", h.home.Record(), remote)
}

// talk sends messages until the node is gone: from processes of their own, or over the control
// socket, which is faster. pause is the time between two of them.
func (h *storyHost) talk(ctx context.Context, to, text string, processes bool, pause time.Duration, told *said) {
	for i := 0; ctx.Err() == nil; i++ {
		if i > 0 && pause > 0 {
			<-time.After(pause)
		}
		body := fmt.Sprintf("%s message %d", text, i)
		if processes {
			out, err := h.try("hey", to, body, "--as", "nat")
			if err != nil {
				return
			}
			told.addLine(h.t, out, body)
			continue
		}
		m, err := control.Send.Ask(ctx, h.client, control.SendRequest{As: "nat", To: []string{to}, Body: body})
		if err != nil {
			return
		}
		told.add(h.t, m.Path, body)
	}
}

// One of two linked hosts is killed again and again while people on both hosts speak to its agent.
// Every message that one of the two stored is in all three repositories once, and has one answer
// and one receipt.
func TestKilledHostOfTwo(t *testing.T) {
	t.Parallel()
	remote := sharedRepository(t)
	a := newStoryHost(t, "black", "--fleet", "demo", "--remote", remote, "--listen", "127.0.0.1:0")
	a.start()
	b := newStoryHost(t, "white", "--remote", remote, "--hub", a.status().Bus.Links)
	const agent = "echo@white"
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	all := newSaid()
	for round := range (killRounds(t) + 1) / 2 {
		b.start()
		if round == 0 {
			b.must("agent", "add", "echo", "--exec", "git hash-object --stdin")
			a.until("black knows the agent", func() bool { return strings.Contains(a.must("ls", "-q"), "echo") })
		}
		ctx, cancel := context.WithCancel(t.Context())
		var senders sync.WaitGroup
		now := newSaid()
		senders.Go(func() { a.talk(ctx, agent, fmt.Sprintf("round %d from black", round), false, 5*time.Millisecond, now) })
		senders.Go(func() { b.talk(ctx, agent, fmt.Sprintf("round %d from white", round), true, 0, now) })
		<-now.any
		<-time.After(time.Duration(random.Int64N(int64(150 * time.Millisecond))))
		b.kill()
		cancel()
		senders.Wait()
		for p, text := range now.all {
			all.add(t, p, text)
		}
	}
	t.Logf("%d messages were stored", len(all.all))
	b.start()
	settled(agent, a, b)
	b.stop()
	all.check(t, a, "echo", a.home.Record(), b.home.Record(), remote)
}
