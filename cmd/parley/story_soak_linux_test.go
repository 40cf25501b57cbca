package main

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/testkit/netrig"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// soakAgents are the agents of the chaos that load a machine little, and one whose command runs long
// enough to be killed.
var soakAgents = append(slices.DeleteFunc(slices.Clone(chaosAgents), func(a chaosAgent) bool {
	return slices.Contains([]string{"hangs", "stubborn", "floods", "shouts", "ends-node", "slow-b"}, a.name)
}), chaosAgent{name: "long", host: 2, script: `sleep 4; cat`, share: 30})

// soakTold are the humans of the hosts, each by the alias.
var soakTold = map[string]string{"white": "nat", "black": "ida", "grey": "eve"}

// soaking is a fleet that lives with faults for hours.
type soaking struct {
	*chaos
	net    *netrig.Net
	at     []*netrig.Host // of the hosts
	said   *said
	faults map[string]int
	taken  []sample
}

// sample is what the node of a host took at one time.
type sample struct {
	host              int
	at, age           time.Duration // since the beginning, since the start of the node
	resident, private int           // memory, in kB
	files, goroutines int
	messages          int // of the record
}

// Three hosts, joined by invitation lines, one of them carrying the record, live with a fault every
// ten seconds for as long as PARLEY_SOAK says, while people and agents write to each other. What was
// acknowledged is on every host, once and in order; and what a node takes does not grow, but for what
// it knows of more messages. It prevents: a leak that only hours show, and a fault that only meets
// another one.
func TestSoak(t *testing.T) {
	lasts, err := time.ParseDuration(os.Getenv("PARLEY_SOAK"))
	if err != nil {
		t.Skip("takes as long as asked for: set PARLEY_SOAK=2h")
	}
	s := newSoaking(t)
	began := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), lasts+10*time.Minute) // to settle
	defer cancel()
	talking, quiet := context.WithTimeout(ctx, lasts)
	defer quiet()
	var senders sync.WaitGroup
	for i := range s.hosts {
		senders.Go(func() { s.talk(ctx, talking, i, rand.New(rand.NewPCG(s.random.Uint64(), 0))) })
	}
	due := time.NewTicker(10 * time.Second)
	defer due.Stop()
	for minutes := 0; talking.Err() == nil; <-due.C {
		s.lapse()
		if now := time.Since(began); int(now.Minutes()) > minutes {
			minutes = int(now.Minutes())
			s.measure(now)
		}
	}
	done := make(chan struct{})
	go func() { senders.Wait(); close(done) }() // ends with ctx at the latest
	all := s.settled(ctx, done)
	t.Logf("%d messages were acknowledged, %d stand in the record; the faults: %v; nodes were started %d times, and took %d MB at the most; it took %s",
		len(s.said.all), len(all), s.faults, len(s.printed), s.peak>>20, time.Since(began).Round(time.Second))
	s.check(all)
	s.whole()
	s.flat(lasts)
	s.end()
}

func newSoaking(t *testing.T) *soaking {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	s := &soaking{net: netrig.Open(t), said: newSaid(), faults: map[string]int{}, chaos: &chaos{
		t: t, agents: soakAgents, notes: t.TempDir(), random: rand.New(rand.NewPCG(seed, 0)), mark: fmt.Sprintf("%d.%09d", 100_000+os.Getpid(), seed%1_000_000_000),
	}}
	for i, alias := range []string{"white", "black", "grey"} {
		at, home := s.net.Host(alias), configs.Home{Dir: filepath.Join(smallDisk(t, 512), "home")}
		h := &storyHost{t: t, home: home, client: control.NewClient(home.Socket(), cli.Version), inside: at.Inside()}
		t.Cleanup(h.kill)
		if i == 0 {
			h.must("init", "--fleet", "soak", "--alias", alias, "--human", soakTold[alias])
			s.remote = home.Shared()
		} else {
			told := s.hosts[0].must("fleet", "invite", "--listen", s.at[0].Address+":4223", "--yes", "--json")
			h.must("join", inviteLine.FindString(told), "--listen", at.Address+":4222", "--alias", alias, "--human", soakTold[alias])
		}
		s.at = append(s.at, at)
		s.take(h, `metrics: ""`, `metrics: 127.0.0.1:0`)
	}
	s.serve()
	return s
}

// talk has the human of a host say things until talking ends: to agents and to humans, by hey, by
// wormhole and to all. What is not acknowledged it says again, until ctx ends.
func (s *soaking) talk(ctx, talking context.Context, host int, random *rand.Rand) {
	h, own := s.hosts[host], soakTold[s.at[host].Name]
	for i := 0; talking.Err() == nil; i++ {
		to := s.agents[random.IntN(len(s.agents))]
		r := control.SendRequest{As: own, Body: fmt.Sprintf("%d of %s", i, own), Request: fmt.Sprintf("soak-%s-%d", own, i)}
		switch n := random.IntN(40); {
		case n == 0:
			r.To, r.Act = []string{"all"}, protocol.ActBroadcast
		case n < 10:
			r.To, r.Cross = []string{s.at[to.host].Name + ":" + to.name}, true
		case n < 20:
			r.To = []string{soakTold[s.at[(host+1+random.IntN(len(s.at)-1))%len(s.at)].Name]}
		default:
			r.To = []string{to.name}
		}
		var last error
		for tries := 0; ; tries++ {
			if tries == 600 {
				s.t.Errorf("%s is not taken for long: %v", r.Body, last)
			}
			asking, cancel := context.WithTimeout(ctx, 5*time.Second)
			m, err := control.Send.Ask(asking, h.client, r)
			cancel()
			if err == nil {
				s.said.add(s.t, m.Path, r.Body)
				break
			}
			last = err
			select {
			case <-time.After(200 * time.Millisecond): // its node is about to come back, or room on its disk
			case <-ctx.Done():
				s.t.Errorf("%s was never taken: %v", r.Body, err)
				return
			}
		}
		select {
		case <-time.After(time.Duration(random.Int64N(int64(10 * time.Second)))): // people pause
		case <-talking.Done():
		}
	}
}

// lapse does one of the faults to one of the hosts, and heals it.
func (s *soaking) lapse() {
	for i, h := range s.hosts {
		select {
		case <-h.ended:
			s.t.Errorf("the node of %s has ended by itself: %s", s.at[i].Name, s.printed[len(s.printed)-1])
			s.begin(h)
		default:
			s.peak = max(s.peak, memoryOf(h.up.Process.Pid))
		}
	}
	i := s.random.IntN(len(s.hosts))
	// The last one is never killed: a leak has all the time to grow in it.
	mortal := s.random.IntN(len(s.hosts) - 1)
	pause := time.Duration(1+s.random.IntN(5)) * time.Second
	broken := func(faults ...netrig.Fault) {
		s.net.Break(faults...)
		<-time.After(pause)
		s.net.Break()
	}
	var others []*netrig.Host
	for _, o := range s.at {
		if o != s.at[i] {
			others = append(others, o)
		}
	}
	faults := map[string]func(){
		"killed": func() {
			s.hosts[mortal].kill()
			s.begin(s.hosts[mortal])
		},
		"lost an object": func() {
			h := s.hosts[mortal]
			h.kill()
			if loseFile(s.t, h.home.Record(), s.remote, s.random) != "" {
				s.lost++
			}
			s.begin(h)
		},
		"stopped for seconds": func() {
			up := s.hosts[i].up.Process
			_ = up.Signal(syscall.SIGSTOP) // if it has ended, the next lapse tells
			<-time.After(pause)
			_ = up.Signal(syscall.SIGCONT)
		},
		"no more files": func() { starve(s.hosts[i], pause) },
		"full disk": func() {
			ballast := filepath.Join(filepath.Dir(s.hosts[i].home.Dir), "ballast")
			fill(s.t, ballast)
			<-time.After(pause)
			if err := os.Remove(ballast); err != nil {
				s.t.Error(err)
			}
		},
		"apart":            func() { broken(netrig.Apart([]*netrig.Host{s.at[i]}, others)...) },
		"one link cut":     func() { broken(netrig.Drop(s.at[i], others[0]), netrig.Drop(others[0], s.at[i])) },
		"not heard":        func() { broken(netrig.Drop(s.at[i], others[0]), netrig.Drop(s.at[i], others[1])) },
		"links reset":      func() { broken(netrig.Reset(s.at[i], others[0]), netrig.Reset(s.at[i], others[1])) },
		"remote away":      func() { broken(netrig.Apart(s.at[:1], s.at[1:])...) },
		"packets lost":     func() { broken(netrig.Lose(30)) },
		"a command killed": func() { s.faults["of these, one ran"] += s.killCommand() },
	}
	names := slices.Sorted(maps.Keys(faults))
	name := names[s.random.IntN(len(names))]
	s.faults[name]++
	s.t.Logf("%s: %s, for %s", time.Now().Format(time.TimeOnly), name, pause)
	faults[name]()
}

// killCommand kills the command of an agent, if one runs or begins to within seconds.
func (s *soaking) killCommand() int {
	for range 40 {
		for _, pid := range process.All() {
			words := process.Arguments(pid)
			if len(words) == 2 && strings.HasPrefix(words[1], s.notes) && syscall.Kill(pid, syscall.SIGKILL) == nil {
				return 1
			}
		}
		<-time.After(100 * time.Millisecond) // only spares the processor
	}
	return 0
}

var goroutines = regexp.MustCompile(`(?m)^go_goroutines (\d+)$`)

// measure takes a sample of each node that answers.
func (s *soaking) measure(now time.Duration) {
	for i, h := range s.hosts {
		ctx, cancel := context.WithTimeout(s.t.Context(), 20*time.Second)
		status, err := control.ShowStatus.Ask(ctx, h.client)
		var text []byte
		if err == nil {
			text, err = s.at[i].Command(ctx, "curl", "-sS", status.Metrics).CombinedOutput()
		}
		cancel()
		found := goroutines.FindSubmatch(text)
		files, err2 := os.ReadDir(fmt.Sprintf("/proc/%d/fd", h.up.Process.Pid))
		resident, private := memoryNow(h.up.Process.Pid)
		if err != nil || err2 != nil || resident == 0 || found == nil {
			s.t.Logf("%s does not say what it takes: %v %v %d kB %.200s", s.at[i].Name, err, err2, resident, text)
			continue
		}
		m := sample{host: i, at: now, age: time.Since(status.Since), files: len(files), messages: status.Record.Messages, resident: resident, private: private}
		m.goroutines, _ = strconv.Atoi(string(found[1])) // the pattern has digits
		s.taken = append(s.taken, m)
		s.t.Logf("%s %s: age %s, %d messages, resident %d kB, private %d kB, %d files, %d goroutines; unrecorded %d, unpushed %d %.200v", now.Round(time.Second), s.at[i].Name,
			m.age.Round(time.Second), m.messages, m.resident, m.private, m.files, m.goroutines, status.Record.Unrecorded, status.Record.Unpushed, status.Warned)
	}
}

// flat prints what the nodes took in each quarter of the time, as medians, and fails if the last
// quarter's are above the second's. The first is no measure, nor is less than an hour: caches fill. A
// fifth more is allowed, as the medians of some thirty samples differ that much without any fault; a
// thing that each fault or message leaves behind would be hundreds by then. For memory, three kilobytes
// more are allowed for each message that came meanwhile: nodes keep half of that in mind, and the
// garbage collector doubles it.
func (s *soaking) flat(lasts time.Duration) {
	t := s.t
	t.Helper()
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "host\tquarter\tsamples\tage\tmessages\tresident kB\tprivate kB\tfiles\tgoroutines\t")
	for i, at := range s.at {
		var quarters [4][6]int
		for q := range quarters {
			var columns [6][]int
			for _, m := range s.taken {
				if m.host == i && int(4*m.at/(lasts+time.Minute)) == q {
					for c, v := range []int{int(m.age.Seconds()), m.messages, m.resident, m.private, m.files, m.goroutines} {
						columns[c] = append(columns[c], v)
					}
				}
			}
			n := len(columns[0])
			if n == 0 {
				t.Errorf("%s has no sample in quarter %d", at.Name, q+1)
				continue
			}
			for c := range columns {
				slices.Sort(columns[c])
				quarters[q][c] = columns[c][n/2]
			}
			m := quarters[q]
			fmt.Fprintf(w, "%s\t%d\t%d\t%ds\t%d\t%d\t%d\t%d\t%d\t\n", at.Name, q+1, n, m[0], m[1], m[2], m[3], m[4], m[5])
		}
		early, late := quarters[1], quarters[3]
		for c, what := range map[int]string{2: "kB of resident memory", 3: "kB of private memory", 4: "open files", 5: "goroutines"} {
			most := early[c] * 6 / 5
			if c < 4 {
				most += 3 * (late[1] - early[1])
			}
			if late[c] > most && lasts >= time.Hour {
				t.Errorf("%s takes %d %s in the last quarter, and %d in the second: more than %d", at.Name, late[c], what, early[c], most)
			}
		}
	}
	_ = w.Flush() // a Builder takes everything
	t.Logf("medians of each quarter:\n%s", &table)
}

// whole checks that every host has all that was acknowledged, once, as it was said, and what each
// human said in the order in which it was said; and that the hosts show the same.
func (s *soaking) whole() {
	t := s.t
	t.Helper()
	want := ""
	for i, h := range s.hosts {
		log := h.log()
		times, next := map[protocol.Path]int{}, map[string]int{}
		for _, m := range log {
			times[m.Path]++
			var n int
			if m.Re == "" && m.Type == protocol.TypeText && matches(m.Body, "%d of "+m.From, &n) && slices.Contains(slices.Collect(maps.Values(soakTold)), m.From) {
				if n != next[m.From] {
					t.Errorf("%s shows message %d of %s where %d is due", s.at[i].Name, n, m.From, next[m.From])
				}
				next[m.From] = n + 1
			}
		}
		files := filesInGit(t, h.home.Record())
		for p, text := range s.said.all {
			m, err := protocol.Decode(p, files[p])
			if err != nil || m.Body != text || times[p] != 1 {
				t.Errorf("%s was acknowledged as %q; %s shows it %d times, and in its git it is %q (%v)", p, text, s.at[i].Name, times[p], m.Body, err)
			}
		}
		got := inJSON(t, log)
		if want == "" {
			want = got
		}
		if got != want {
			t.Errorf("%s shows another record than %s", s.at[i].Name, s.at[0].Name)
		}
	}
}
