package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// chaosAgent is an agent of the chaos. Its script says how its command misbehaves.
type chaosAgent struct {
	name     string
	host     int
	script   string // of the shell; $MARK is a length of time that tells its processes from others
	timeout  string // "": that of the host
	attempts int    // 0: as everybody's
	share    int    // of a thousand messages it gets so many
	short    bool   // the short form has it too
}

// chaosAgents are twenty agents on three hosts. Before a script runs, its start is noted.
var chaosAgents = []chaosAgent{
	{name: "fast-a", host: 0, script: `cat`, share: 170, short: true},
	{name: "fast-b", host: 1, script: `cat`, share: 170, short: true},
	{name: "fast-c", host: 2, script: `cat`, share: 170, short: true},
	{name: "deaf", host: 0, script: `exec <&-; echo not listening`, share: 120, short: true},
	{name: "slow-a", host: 1, script: `sleep 0.3; cat`, share: 40, short: true},
	{name: "slow-b", host: 2, script: `sleep 0.3; cat`, share: 40},
	{name: "forks", host: 0, script: `sleep $MARK >/dev/null 2>&1 & echo forked`, share: 50, short: true},
	{name: "daemon", host: 1, script: `setsid sh -c 'sleep $0 & exit' $MARK >/dev/null 2>&1; echo gone`, share: 50, short: true},
	{name: "hides", host: 2, script: `env -i setsid sh -c '(sleep $0 &) & exit' $MARK >/dev/null 2>&1 </dev/null; echo hidden`, share: 50, short: true},
	{name: "flaky", host: 1, script: `[ $(grep -c "$PARLEY_MESSAGE" "$NOTES") -ge 2 ] && exec cat; exit 1`, share: 30, short: true},
	{name: "crashes", host: 2, script: `echo no luck >&2; exit 1`, share: 15, short: true},
	{name: "signals", host: 0, script: `kill -9 $$`, share: 10},
	{name: "mute", host: 1, script: `exit 0`, attempts: 2, share: 15, short: true},
	{name: "hangs", host: 2, script: `exec sleep $MARK`, timeout: "1s", attempts: 2, share: 5, short: true},
	{name: "stubborn", host: 0, script: `trap '' TERM; while :; do sleep $MARK; done`, timeout: "1s", attempts: 1, share: 5},
	{name: "floods", host: 1, script: `head -c 100000000 /dev/zero | tr '\0' x`, share: 5, short: true},
	{name: "ping", host: 0, script: `parley hey pong - >/dev/null && echo served`, share: 5, short: true},
	{name: "pong", host: 2, script: `parley hey ping - >/dev/null && echo returned`, share: 5, short: true},
	{name: "shouts", host: 1, script: `parley broadcast - >/dev/null && echo shouted`, share: 1, short: true},
	{name: "ends-node", host: 2, script: `read -r _ node _ <<-X
$(grep PPid "/proc/$PPID/status") -
X
kill -9 "$node"; sleep $MARK`, attempts: 2, share: 2, short: true},
}

// meant reports whether an address is the agent's, or all.
func (a chaosAgent) meant(address string) bool {
	name, _, _ := strings.Cut(address, "@")
	return name == a.name || name == "all"
}

// chaos is a fleet to which everything happens at once.
type chaos struct {
	t       *testing.T
	hosts   []*storyHost
	agents  []chaosAgent
	notes   string // the folder in which each start is noted, a file for each agent
	mark    string // a length of time, in seconds, which no other process sleeps
	remote  string
	random  *rand.Rand // of the story, not of its senders
	printed []*bytes.Buffer
	peak    int // the most memory that a node had, in bytes
	kills   int
	lost    int // files that are no messages and that a disk has lost
}

// chaosSize says how much happens, and for how long.
type chaosSize struct {
	messages int
	lasts    time.Duration // how long nodes are killed
	between  time.Duration // two kills, about
	away     time.Duration // the remote
	settles  time.Duration // all that was sent is answered within that, at the most
	agents   []chaosAgent
}

// chaosSizeOf returns the size that is asked for: the whole with PARLEY_SOAK, a minute without it.
func chaosSizeOf(t *testing.T) (s chaosSize, rounds int) {
	if os.Getenv("PARLEY_SOAK") != "" {
		return chaosSize{
			messages: 2000, lasts: 2 * time.Minute, between: 4 * time.Second, away: 30 * time.Second, settles: 10 * time.Minute, agents: chaosAgents,
		}, killRounds(t)
	}
	s = chaosSize{messages: 60, lasts: 6 * time.Second, between: 2 * time.Second, away: 2 * time.Second, settles: 3 * time.Minute}
	for _, a := range chaosAgents {
		if a.short {
			a.attempts = cmp.Or(a.attempts, 2) // a third attempt would come only after 8 s
			s.agents = append(s.agents, a)
		}
	}
	return s, 1
}

// Agents of all kinds work on three hosts. The nodes may open no more files for a moment, are
// killed, lose files that are no messages, and the remote goes away while people write to the
// agents. Every message is answered once, or given up once with its sender
// told. No command is started more often than its attempts. Nothing that commands started is left,
// and the memory of the nodes stays small.
func TestChaosOfAgents(t *testing.T) {
	scratch.Long(t)
	scratch.Unraced(t)
	t.Parallel()
	size, rounds := chaosSizeOf(t)
	for range rounds {
		newChaos(t, size).run(size)
	}
}

func newChaos(t *testing.T, size chaosSize) *chaos {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	c := &chaos{
		t: t, agents: size.agents, notes: t.TempDir(), remote: sharedRepository(t), random: rand.New(rand.NewPCG(seed, 0)),
		mark: fmt.Sprintf("%d.%09d", 100_000+os.Getpid(), seed%1_000_000_000),
	}
	for _, alias := range []string{"black", "grey", "white"} {
		h := newStoryHost(t, alias, "--fleet", "chaos", "--remote", c.remote, "--listen", "127.0.0.1:0")
		c.take(h, "fetch_interval: 10s", "fetch_interval: 500ms", "max_commands: auto", "max_commands: 6")
	}
	c.serve()
	return c
}

// take starts the node of a host whose home is made, with these settings replaced too. Conversations
// are short, and there are no budgets: mail that a budget holds back would wait for a human.
func (c *chaos) take(h *storyHost, settings ...string) {
	c.t.Helper()
	h.env = []string{"MARK=" + c.mark}
	config, err := os.ReadFile(h.home.Config())
	if err == nil {
		text := strings.NewReplacer(append(settings, "max_hops: 8", "max_hops: 3", "max_runs: 60", "max_runs: 100000",
			"max_conversation_runs: 30", "max_conversation_runs: 100000")...).Replace(string(config))
		err = os.WriteFile(h.home.Config(), []byte(text), 0o600)
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.hosts = append(c.hosts, h)
	c.begin(h)
}

// serve adds the agents to their hosts, and waits until all hosts know them.
func (c *chaos) serve() {
	t := c.t
	t.Helper()
	for _, a := range c.agents {
		file, notes := filepath.Join(c.notes, a.name+".sh"), filepath.Join(c.notes, a.name)
		script := fmt.Sprintf("NOTES=%s\necho \"$PARLEY_MESSAGE\" >>$NOTES\n%s\n", notes, a.script)
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		words := []string{"agent", "add", a.name, "--exec", "sh " + file}
		if a.timeout != "" {
			words = append(words, "--timeout", a.timeout)
		}
		if a.attempts > 0 {
			words = append(words, "--attempts", strconv.Itoa(a.attempts))
		}
		c.hosts[a.host].must(words...)
	}
	for _, h := range c.hosts {
		h.until("it knows all agents", func() bool {
			known := h.must("ls", "-q")
			return !slices.ContainsFunc(c.agents, func(a chaosAgent) bool { return !strings.Contains(known, a.name) })
		})
	}
}

// begin starts a node. It starts it again if one of its agents ends the node before the node has
// said a word.
func (c *chaos) begin(h *storyHost) {
	c.t.Helper()
	for range 20 {
		c.printed = append(c.printed, h.begin())
		select {
		case <-h.output.came:
			return
		case <-h.ended:
		case <-time.After(scratch.Patience()):
			c.t.Fatalf("the node of %s does not say within %s that it runs", h.home.Dir, scratch.Patience())
		}
	}
	c.t.Fatalf("the node of %s ends whenever it is started: %s", h.home.Dir, c.printed[len(c.printed)-1])
}

// revive starts each node again that has ended.
func (c *chaos) revive() {
	for _, h := range c.hosts {
		select {
		case <-h.ended:
			c.begin(h)
		default:
			c.peak = max(c.peak, memoryOf(h.up.Process.Pid))
		}
	}
}

// memoryOf is the most memory that a process has had so far, in bytes.
func memoryOf(pid int) int {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it may have ended
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "VmHWM:" {
			kilobytes, _ := strconv.Atoi(fields[1]) // the system writes numbers
			return kilobytes << 10
		}
	}
	return 0
}

func (c *chaos) run(size chaosSize) {
	t := c.t
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), size.lasts+size.settles)
	defer cancel()
	var senders sync.WaitGroup
	var sent atomic.Int64
	each := (size.messages + len(c.hosts) - 1) / len(c.hosts)
	pace := size.lasts / time.Duration(each)
	for i, h := range c.hosts {
		random := rand.New(rand.NewPCG(c.random.Uint64(), 0))
		senders.Go(func() { c.talk(ctx, h, i, each, pace, random, &sent) })
	}
	away := c.remote + ".away"
	var went time.Duration // the time from the beginning until the remote went away
	for gone, back := false, false; time.Since(began) < size.lasts || !back; {
		<-time.After(size.between/2 + time.Duration(c.random.Int64N(int64(size.between))))
		c.revive()
		h := c.hosts[c.random.IntN(len(c.hosts))]
		starve(h, size.between/4)
		h.kill()
		c.kills++
		remote := c.remote
		if gone && !back {
			remote = away
		}
		if loseFile(t, h.home.Record(), remote, c.random) != "" {
			c.lost++
		}
		c.begin(h)
		switch now := time.Since(began); {
		case !gone && now > size.lasts/4:
			c.rename(c.remote, away)
			gone, went = true, now
		case gone && !back && now > went+size.away:
			c.rename(away, c.remote)
			back = true
		}
	}
	done := make(chan struct{})
	go func() { senders.Wait(); close(done) }() // ends with ctx at the latest
	all := c.settled(ctx, done)
	t.Logf("%d messages were sent, %d stand in the record; nodes were starved and killed %d times, lost %d files that are no messages, and were started %d times; the most memory was %d MB; it took %s",
		sent.Load(), len(all), c.kills, c.lost, len(c.printed), c.peak>>20, time.Since(began).Round(time.Second))
	if int(sent.Load()) < size.messages {
		t.Errorf("%d of %d messages were sent", sent.Load(), size.messages)
	}
	c.check(all)
	c.end()
}

func (c *chaos) rename(from, to string) {
	c.t.Helper()
	if err := os.Rename(from, to); err != nil {
		c.t.Fatal(err)
	}
}

// talk sends messages at a host. It repeats each one until the node takes it.
func (c *chaos) talk(ctx context.Context, h *storyHost, sender, count int, pace time.Duration, random *rand.Rand, sent *atomic.Int64) {
	var shares int
	for _, a := range c.agents {
		shares += a.share
	}
	for i := range count {
		at := random.IntN(shares)
		// Each agent gets one message, and then as many as its share says.
		to := c.agents[(i*len(c.hosts)+sender)%len(c.agents)]
		if i*len(c.hosts)+sender >= len(c.agents) {
			for _, a := range c.agents {
				if to, at = a, at-a.share; at < 0 {
					break
				}
			}
		}
		r := control.SendRequest{As: "nat", To: []string{to.name}, Body: fmt.Sprintf("message %d of sender %d", i, sender), Request: fmt.Sprintf("chaos-%d-%d", sender, i)}
		for {
			_, err := control.Send.Ask(ctx, h.client, r)
			if err == nil {
				sent.Add(1)
				break
			}
			select {
			case <-time.After(50 * time.Millisecond): // its node is about to come back
			case <-ctx.Done():
				c.t.Errorf("message %d of sender %d was never taken: %v", i, sender, err)
				return
			}
		}
		<-time.After(time.Duration(random.Int64N(int64(2 * pace))))
	}
}

// settled waits until all that was sent is answered and the hosts have the same record. It returns
// the messages of that record.
func (c *chaos) settled(ctx context.Context, sent <-chan struct{}) []control.Message {
	t := c.t
	t.Helper()
	var open []string
	for {
		c.revive()
		all, same := c.records(ctx)
		if same {
			if open = c.open(all); len(open) == 0 {
				select {
				case <-sent:
					if again, same := c.records(ctx); same && len(again) == len(all) && len(c.open(again)) == 0 {
						return again
					}
				default:
				}
			}
		}
		select {
		case <-time.After(500 * time.Millisecond): // only spares the processor
		case <-ctx.Done():
			t.Fatalf("the hosts do not settle; same record: %v; not answered: %s", same, strings.Join(open, ", "))
		}
	}
}

// records returns the record of the first host. same reports whether all hosts have this record and
// have pushed all of it.
func (c *chaos) records(ctx context.Context) (all []control.Message, same bool) {
	tips := map[string]bool{}
	for _, h := range c.hosts {
		s, err := control.ShowStatus.Ask(ctx, h.client)
		if err != nil || s.Record.Unrecorded+s.Record.Unpushed > 0 {
			return nil, false
		}
		tips[s.Record.Tip] = true
	}
	if len(tips) > 1 {
		return nil, false
	}
	err := control.Log.Ask(ctx, c.hosts[0].client, control.LogRequest{Everything: true}, func(m control.Message) error {
		all = append(all, m)
		return nil
	})
	return all, err == nil
}

// work is a message as the work of an agent.
type work struct {
	agent, path string
}

// works returns all that agents had to do, each with what came of it: the answers.
func (c *chaos) works(all []control.Message) map[work][]control.Message {
	authors := map[string]string{}
	for _, m := range all {
		authors[m.Path.String()] = m.From
	}
	works := map[work][]control.Message{}
	for _, m := range all {
		if m.Type != protocol.TypeText || !m.Act.Mail() {
			continue
		}
		for _, a := range c.agents {
			if m.From != a.name && authors[m.Re] != a.name && slices.ContainsFunc(m.To, a.meant) {
				works[work{a.name, m.Path.String()}] = nil
			}
		}
	}
	for _, m := range all {
		for _, who := range append([]string{m.From}, m.To...) { // the host tells both that a conversation was stopped
			who, _, _ = strings.Cut(who, "@")
			w := work{who, m.Re}
			if _, there := works[w]; there && m.Type == protocol.TypeText && (who == m.From || m.Act == protocol.ActFailed && m.From == m.Host.String()) {
				works[w] = append(works[w], m)
			}
		}
	}
	return works
}

// open returns the works of which nothing has come yet.
func (c *chaos) open(all []control.Message) (open []string) {
	for w, answers := range c.works(all) {
		if len(answers) == 0 {
			open = append(open, w.agent+" "+w.path)
		}
	}
	slices.Sort(open)
	return open
}

// check tests what came of every message.
func (c *chaos) check(all []control.Message) {
	t := c.t
	t.Helper()
	starts, receipts := map[work]int{}, map[work]int{}
	attempts := map[string]int{}
	for _, a := range c.agents {
		attempts[a.name] = cmp.Or(a.attempts, 3)
		data, err := os.ReadFile(filepath.Join(c.notes, a.name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		for _, path := range strings.Fields(string(data)) {
			starts[work{a.name, path}]++
		}
	}
	texts := map[string]int{}
	for _, m := range all {
		switch {
		case m.Type == protocol.TypeRead:
			receipts[work{m.From, m.Ref}]++
		case m.Request != "":
			texts[m.Request]++
		}
	}
	for request, count := range texts {
		if count != 1 {
			t.Errorf("the request %s made %d messages", request, count)
		}
	}
	dead := map[work]bool{}
	listed, err := control.DeadLetters.Ask(t.Context(), c.hosts[0].client, control.DeadLettersRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range listed {
		if strings.Contains(d.Text, "too many open files") {
			t.Errorf("%v is a dead letter because of a shortage: %s", d.Message.Path, d.Text)
		}
		w := work{d.Agent, d.Message.Path.String()}
		if dead[w] {
			t.Errorf("%v is a dead letter twice", w)
		}
		dead[w] = true
	}
	outcomes := map[string]map[string]int{}
	for w, answers := range c.works(all) {
		if len(answers) != 1 || receipts[w] != 1 {
			t.Errorf("%v has %d answers and %d receipts, want one of each: %v", w, len(answers), receipts[w], answers)
			continue
		}
		a := answers[0]
		outcome := string(a.Act)
		switch {
		case a.Act == protocol.ActFailed && a.From != w.agent:
			outcome = "stopped"
		case a.Act == protocol.ActFailed && !dead[w]:
			t.Errorf("%v failed, and is no dead letter", w)
		case a.Act != protocol.ActFailed && dead[w]:
			t.Errorf("%v is answered, and a dead letter", w)
		}
		if outcomes[w.agent] == nil {
			outcomes[w.agent] = map[string]int{}
		}
		outcomes[w.agent][outcome]++
		if starts[w] > attempts[w.agent] {
			t.Errorf("%v was started %d times, with %d attempts", w, starts[w], attempts[w.agent])
		}
		if starts[w] == 0 && outcome == string(protocol.ActReply) {
			t.Errorf("%v is answered, and was not started", w)
		}
		delete(starts, w)
	}
	for w, count := range starts {
		t.Errorf("%v was started %d times, and nobody asked for it", w, count)
	}
	for _, a := range c.agents {
		t.Logf("%s: %v", a.name, outcomes[a.name])
	}
}

// maxChaosMemory bounds what a node may take in all this, however much its commands print.
const maxChaosMemory = 320 << 20

// end stops the nodes and checks that nothing is left of them.
func (c *chaos) end() {
	t := c.t
	t.Helper()
	if c.peak > maxChaosMemory {
		t.Errorf("a node took %d MB of memory", c.peak>>20)
	}
	for _, h := range c.hosts {
		h.must("record", "verify") // what was damaged and not read since is found
		h.stop()
		h.start() // packs that were about to be replaced are put right, too
		h.must("record", "verify")
		h.stop()
		gitOut(t, h.home.Record(), "fsck", "--strict", "--full")
	}
	gitOut(t, c.remote, "fsck", "--strict", "--full")
	for _, out := range c.printed {
		if text := out.String(); strings.Contains(text, "panic:") || strings.Contains(text, "fatal error:") {
			t.Errorf("a node ended with:\n%s", text)
		}
	}
	c.hosts[0].until("nothing that agents started is left", func() bool { return len(c.left()) == 0 })
}

// left returns the processes that bear the mark of this chaos.
func (c *chaos) left() (left []int) {
	for _, pid := range process.All() {
		mark, _ := process.Environment(pid, "MARK")
		if mark == c.mark || slices.Contains(process.Arguments(pid), c.mark) {
			left = append(left, pid)
		}
	}
	return left
}
