package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

const (
	mebibyte = 1 << 20
	// senders send or store at a time in the measures of throughput.
	senders = 64
	// The measures of sharing have fleetSize hosts, in a quick run quickFleet.
	fleetSize, quickFleet = 8, 3
)

func hostName(i int) string  { return fmt.Sprintf("host%d", i) }
func humanName(i int) string { return fmt.Sprintf("human%d", i) }

// perSecond is how many of `n` things are done in a second.
func perSecond(n int, d time.Duration) float64 { return float64(n) / d.Seconds() }

// in has a note for what was measured.
func (r readings) in(note string) readings {
	for name, one := range r {
		one.note = strings.Trim(note+"; "+one.note, "; ")
		r[name] = one
	}
	return r
}

// less is a note for a quick run.
func (r *rig) less(format string, args ...any) string {
	if !r.quick {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

// both are the median and the slow end, each beside its yardstick.
func both(name string, took, least []time.Duration) readings {
	return readings{name + "_p50": beside(took, least, 50), name + "_p99": beside(took, least, 99)}
}

// git runs the git program in a folder, without the user's own settings.
func (r *rig) git(dir string, args ...string) string {
	r.Helper()
	cmd := exec.CommandContext(r.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "GIT_") }),
		"GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=bench", "GIT_AUTHOR_EMAIL=bench@localhost", "GIT_COMMITTER_NAME=bench", "GIT_COMMITTER_EMAIL=bench@localhost")
	return string(must(cmd.Output())(r))
}

// gitTimes are the median times of "git add" and "git commit" of one message, and of these with "git
// push" to a bare repository on the same disk. They take long, so they are measured once.
func (r *rig) gitTimes() (commit, push time.Duration) {
	byGit.Do(func() {
		work := r.path("work")
		r.git(r.dir, "init", "--quiet", work)
		r.git(r.dir, "init", "--quiet", "--bare", "remote.git")
		r.git(work, "remote", "add", "origin", "../remote.git")
		commits := r.count(200, 20)
		var committing, pushing []time.Duration
		for i, l := range r.lettersOfADay("bench", commits+r.count(20, 5)) {
			began := time.Now()
			r.commitOne(work, l)
			if i < commits {
				committing = append(committing, time.Since(began))
				continue
			}
			r.git(work, "push", "--quiet", "origin", "HEAD:main")
			pushing = append(pushing, time.Since(began))
		}
		byGit.commit, byGit.push = percentile(committing, 50), percentile(pushing, 50)
	})
	if byGit.commit == 0 {
		r.Skip("the git program could not be measured")
	}
	return byGit.commit, byGit.push
}

var byGit struct {
	sync.Once
	commit, push time.Duration
}

func (r *rig) commitOne(work string, l gitsync.MessageFile) {
	file := filepath.Join(work, l.Path.RepoPath())
	r.check(os.MkdirAll(filepath.Dir(file), 0o700))
	r.check(os.WriteFile(file, l.Data, 0o600))
	r.git(work, "add", l.Path.RepoPath())
	r.git(work, "commit", "--quiet", "-m", "one message")
}

// timesOf is how long each of `many` doings took.
func (r *rig) timesOf(many int, do func() error) (took []time.Duration) {
	for range many {
		began := time.Now()
		r.check(do())
		took = append(took, time.Since(began))
	}
	return took
}

// together does something `many` times, `atOnce` of them at a time, and returns how long that took.
// `worker` makes what each of these does.
func (r *rig) together(atOnce, many int, worker func(i int) func(ctx context.Context, n int) error) time.Duration {
	ctx, fail := context.WithCancelCause(r.Context())
	defer fail(nil)
	var next atomic.Int64
	var working sync.WaitGroup
	began := time.Now()
	for i := range atOnce {
		working.Go(func() {
			do := worker(i)
			for n := next.Add(1); n <= int64(many) && ctx.Err() == nil; n = next.Add(1) {
				if err := do(ctx, int(n)-1); err != nil {
					fail(err)
				}
			}
		})
	}
	working.Wait()
	r.check(context.Cause(ctx))
	return time.Since(began)
}

// bareRate is how many messages a second the bare disk takes.
func (r *rig) bareRate() float64 {
	many, bare := r.count(2000, 500), must(r.openBare("bare"))(r)
	return perSecond(many, sum(r.timesOf(many, func() error { return appendTo(bare) })))
}

func sum(times []time.Duration) (all time.Duration) {
	for _, t := range times {
		all += t
	}
	return all
}

func (r *rig) until(what string, every time.Duration, so func() bool) {
	r.Helper()
	r.check(until(r.Context(), what, every, func() (bool, error) { return so(), nil }))
}

func (r *rig) status(of control.Service) control.Status {
	r.Helper()
	return must(control.ShowStatus.Ask(r.Context(), of))(r)
}

func (r *rig) host() *host {
	return must(r.startHost(r.Context(), 0, func(*homes.Options) {}))(r)
}

// fleet are the nodes of one fleet with one shared repository.
type fleet struct {
	*rig
	shared string
	nodes  []*host
}

// wantedFleet says what fleet a measure needs.
type wantedFleet struct {
	size  int
	alone bool                       // without the bus: they dial a hub that does not exist
	noGit bool                       // after their start, what they say stays on the bus and on their disks
	log   func(i int) zerolog.Logger // nil: nobody looks at the logs
}

// fleet runs hosts. The first one is the hub of all others.
func (r *rig) fleet(want wantedFleet) *fleet {
	f := &fleet{rig: r, shared: r.noting()}
	hub := ""
	if want.alone {
		l := must(net.Listen("tcp", "127.0.0.1:0"))(r)
		hub = l.Addr().String()
		r.check(l.Close()) // nobody listens there
	}
	for i := range want.size {
		home := r.homeIn(i, f.shared, hub)
		if want.noGit {
			r.reconfigure(home, func(c *configs.Config) { c.PushInterval, c.FetchInterval = time.Hour, time.Hour })
		}
		log := zerolog.Nop()
		if want.log != nil {
			log = want.log(i)
		}
		f.nodes = append(f.nodes, must(r.runHost(r.Context(), home, log))(r))
		if hub == "" {
			hub = r.status(f.nodes[0]).Bus.Links
		}
	}
	r.check(settled(r.Context(), f.nodes, !want.alone, !want.noGit))
	return f
}

// homeIn makes the home of one host of a fleet. If `hub` is "", the host is the hub.
func (r *rig) homeIn(i int, shared, hub string) configs.Home {
	return must(r.newHome(r.Context(), i, func(o *homes.Options) {
		if o.Remote = shared; hub == "" {
			o.Listen = "127.0.0.1:0"
		} else {
			o.Hubs = []string{hub}
		}
	}))(r)
}

// reconfigure changes the configuration of a home whose node does not run.
func (r *rig) reconfigure(home configs.Home, change func(*configs.Config)) {
	cfg := must(configs.Load(home.Config()))(r)
	change(&cfg)
	r.check(os.Remove(home.Config()))
	r.check(home.WriteDraft(cfg))
	r.check(home.TakeDraft())
}

// sendMany has 64 senders on one host say `many` things to someone, as fast as they can, and returns
// the paths.
func (r *rig) sendMany(h *host, to string, many int) map[string]bool {
	var mu sync.Mutex // guards paths
	paths := map[string]bool{}
	r.together(senders, many, func(i int) func(context.Context, int) error {
		random := rand.New(rand.NewPCG(7, uint64(i)))
		return func(ctx context.Context, _ int) error {
			m, err := control.Send.Ask(ctx, h, control.SendRequest{To: []string{to}, Body: text(random)})
			mu.Lock()
			defer mu.Unlock()
			paths[m.Path.String()] = true
			return err
		}
	})
	return paths
}

// arrivals notes when messages come to a node, as its log tells at the level trace.
type arrivals struct {
	mu sync.Mutex // guards at
	at map[string]arrival
}

// arrival is the first time that a message came.
type arrival struct {
	at    time.Time
	byBus bool
}

func newArrivals() *arrivals { return &arrivals{at: map[string]arrival{}} }

// log is a log that writes into a.
func (a *arrivals) log() zerolog.Logger { return zerolog.New(a).Level(zerolog.TraceLevel) }

// Write implements io.Writer.
func (a *arrivals) Write(line []byte) (int, error) {
	now := time.Now()
	var said struct{ Path, By, Message string }
	if json.Unmarshal(line, &said) != nil || said.Message != "came in" {
		return len(line), nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, again := a.at[said.Path]; !again {
		a.at[said.Path] = arrival{now, said.By == "bus"}
	}
	return len(line), nil
}

// of is when a message came; the zero time if it has not.
func (a *arrivals) of(path string) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at[path].at
}

// count is how many of these messages have come, how many of them by the bus, and when the last one
// did.
func (a *arrivals) count(paths map[string]bool) (all, byBus int, last time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for p := range paths {
		came, ok := a.at[p]
		if !ok {
			continue
		}
		all++
		if came.byBus {
			byBus++
		}
		if came.at.After(last) {
			last = came.at
		}
	}
	return all, byBus, last
}

// awaitArrivals waits until these messages have come at all hosts of `all`, or patience ends. It
// reports whether they have.
func (r *rig) awaitArrivals(paths map[string]bool, all ...*arrivals) bool {
	return until(r.Context(), "all messages had come", 20*time.Millisecond, func() (bool, error) {
		return !slices.ContainsFunc(all, func(a *arrivals) bool {
			came, _, _ := a.count(paths)
			return came < len(paths)
		}), nil
	}) == nil
}

// bareDeliveries is how many deliveries bare NATS makes in a second, from a hub to some spokes. It
// is 0 if NATS lost some.
func (r *rig) bareDeliveries(spokes, many int) float64 {
	seen, done := make([]int, spokes), make(chan struct{}, spokes)
	l := must(r.openLinks(r.Context(), spokes, func(i int, _ *nats.Msg) {
		if seen[i]++; seen[i] == many {
			done <- struct{}{}
		}
	}))(r)
	began := time.Now()
	for range many {
		r.check(l.conns[0].Publish("message", letter))
	}
	late := time.After(natsWait)
	for range spokes {
		select {
		case <-done:
		case <-late:
			return 0
		}
	}
	return perSecond(many*spokes, time.Since(began))
}

// process is a node that runs as a process of its own, as "parley up" does.
type process struct {
	*control.Client
	pid  int
	stop func()
}

// built is the program parley, which is built once. TestMain removes its folder.
var built = sync.OnceValues(func() (string, error) {
	program := filepath.Join(programs, "parley")
	out, err := exec.Command("go", "build", "-o", program, "github.com/parleyfleet/parley/cmd/parley").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("cannot build parley: %w: %s", err, out)
	}
	return program, nil
})

var programs = filepath.Join(os.TempDir(), fmt.Sprintf("parley-bench-%d", os.Getpid()))

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(programs)
	os.Exit(code)
}

// startParley runs the node of a home as a process of its own.
func (r *rig) startParley(home configs.Home) *process {
	program := must(built())(r)
	cmd := exec.CommandContext(r.Context(), program, "--home", home.Dir, "up")
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	r.check(cmd.Start())
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // ends with the process
	p := &process{Client: control.NewClient(home.Socket(), "bench"), pid: cmd.Process.Pid}
	stop := sync.OnceValue(func() error {
		_, err := control.Stop.Ask(context.Background(), p)
		if err != nil {
			_ = cmd.Process.Kill() // it may have ended
		}
		if ended := <-ended; err == nil && ended != nil {
			err = fmt.Errorf("the node did not end well: %w: %s", ended, said.String())
		}
		return err
	})
	r.ends = append(r.ends, stop)
	p.stop = func() { r.check(stop()) }
	return p
}

// awaitAnswer waits until a process answers what it is asked.
func (r *rig) awaitAnswer(ask func() error) {
	r.check(until(r.Context(), "a node answered", time.Millisecond, func() (bool, error) {
		err := ask()
		if err != nil && control.AsError(err).Kind == control.KindUnavailable {
			return false, nil
		}
		return err == nil, err
	}))
}

// rest waits a second, and until the node has put all its messages into the index of words.
func (r *rig) rest(of control.Service) {
	time.Sleep(time.Second)
	r.until("all is in the index of words", 100*time.Millisecond, func() bool {
		return must(control.Search.Ask(r.Context(), of, control.SearchRequest{Words: "message", Limit: 1}))(r).Pending == 0
	})
}

// memoryOf is the memory of a process in MiB as Linux tells it: RssAnon is resident memory of no
// file, VmRSS all resident memory. It is 0 elsewhere.
func memoryOf(pid int, field string) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // it is missing elsewhere
	_, rest, _ := strings.Cut(string(text), field+":")
	kilobytes, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	n, _ := strconv.ParseFloat(kilobytes, 64)
	return n * 1024 / mebibyte
}

// author writes messages as a node does: signed, and each naming the one before.
type author struct {
	*rig
	key    nkeys.KeyPair
	record string
	host   protocol.Name
	seq    uint64
	prev   string
	random *rand.Rand // the same texts in every run
}

func (r *rig) newAuthor(record string, key nkeys.KeyPair) *author {
	return &author{rig: r, key: key, record: record, host: "host0", random: rand.New(rand.NewPCG(1, 5))}
}

// write is the next message, to one addressee, at a time that is not before the last.
func (a *author) write(from, to string, at time.Time) gitsync.MessageFile {
	return a.sign(protocol.Message{
		From: from, To: []protocol.Address{{Name: to}}, Act: protocol.ActHey, Body: text(a.random),
	}, protocol.DeriveChannel(a.record, from, to), at)
}

// sign makes a message of the record of what somebody says in a channel.
func (a *author) sign(m protocol.Message, channel protocol.ChannelID, at time.Time) gitsync.MessageFile {
	a.seq++
	m.Path, m.Timestamp, m.Type = protocol.NewPath(channel, at, a.random.Uint32()), at.Truncate(time.Millisecond), protocol.TypeText
	m.Host, m.Run, m.Seq, m.Prev, m.Body = a.host, "0be7c402", a.seq, a.prev, protocol.NormalBody(m.Body)
	data := must(protocol.Sign(&m, a.record, a.key))(a.rig)
	a.prev = protocol.Hash(data)
	return gitsync.MessageFile{Path: m.Path, Data: data}
}

// text is a body that compresses about as well as a short paragraph that people write.
func text(random *rand.Rand) string {
	const bodyBytes = 400
	words := strings.Fields("the a we they record message agent host said that this when because before after under over " +
		"push commit branch remote journal fleet channel please look at answer with without should would could done open " +
		"closed later tomorrow deadline review release notes build failed passed again once never always every some")
	var b strings.Builder
	for b.Len() < bodyBytes {
		fmt.Fprintf(&b, "%s ", words[random.IntN(len(words))])
		if random.IntN(12) == 0 {
			fmt.Fprintf(&b, "%x ", random.Uint32())
		}
	}
	return strings.TrimSpace(b.String()[:bodyBytes])
}

// lettersOfADay are `n` messages of one channel and one day. That is the hardest case for a record:
// each message makes a new version of one long list of files.
func (r *rig) lettersOfADay(record string, n int) []gitsync.MessageFile {
	a := r.newAuthor(record, must(nkeys.CreateUser())(r))
	midnight := time.Now().UTC().Truncate(24 * time.Hour)
	letters := make([]gitsync.MessageFile, n)
	for i := range letters {
		letters[i] = a.write("nat", "mawjs", midnight.Add(time.Duration(i)*24*time.Hour/time.Duration(n)))
	}
	return letters
}

// openRecord opens the record of a home, which commits in the background as in a node until `close`
// is called. `recorded` is called with messages that are in a commit. It must not block.
func (r *rig) openRecord(home configs.Home, recorded func([]protocol.Path)) (record *gitsync.Record, close func()) {
	record = must(gitsync.Open(r.Context(), gitsync.Options{
		Dir: home.Dir, Author: gitsync.Author{Name: hostName(0), Email: "bench@localhost"}, Events: gitsync.Events{Recorded: recorded},
	}))(r)
	running, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- record.Run(running) }() // close ends it
	stop := sync.OnceValue(func() error {
		end()
		if err := <-ended; err != nil {
			return err
		}
		return record.Close()
	})
	r.ends = append(r.ends, stop)
	return record, func() { r.check(stop()) }
}

// newRecord is openRecord for a new home.
func (r *rig) newRecord(recorded func([]protocol.Path)) (*gitsync.Record, func()) {
	return r.openRecord(must(r.newHome(r.Context(), 0, func(*homes.Options) {}))(r), recorded)
}

// fill writes `n` messages that `write` makes into the record of a home, as its host. It returns how
// many MiB they have.
func (r *rig) fill(home configs.Home, n int, write func(a *author, i int) gitsync.MessageFile) (size float64) {
	record, close := r.openRecord(home, nil)
	defer close()
	a := r.newAuthor(record.ID(), must(homes.HostKey(home))(r).Pair)
	var last gitsync.MessageFile // the next one names it
	r.check(record.Walk(r.Context(), func(l gitsync.MessageFile) error {
		if last.Path.IsZero() || l.Path.Time().After(last.Path.Time()) {
			last = l
		}
		return nil
	}))
	a.prev = protocol.Hash(last.Data)
	for i := 0; i < n; {
		var letters []gitsync.MessageFile
		for ; len(letters) < 1000 && i < n; i++ {
			l := write(a, i)
			size += float64(len(l.Data)) / mebibyte
			letters = append(letters, l)
		}
		r.check(record.Append(r.Context(), letters))
	}
	return size
}

// apart is the time between two messages of a filled record: 10,000 a day.
const apart = 24 * time.Hour / 10_000

// fillTalk is fill with messages to 20 names. The last one is of now.
func (r *rig) fillTalk(home configs.Home, n int) float64 {
	at := time.Now().UTC().Add(-time.Duration(n) * apart)
	return r.fill(home, n, func(a *author, i int) gitsync.MessageFile {
		return a.write("human0", fmt.Sprintf("agent%d", a.random.IntN(20)), at.Add(time.Duration(i)*apart))
	})
}

// archive is how long the git program takes to read every message once.
func (r *rig) archive(home configs.Home) time.Duration {
	began := time.Now()
	r.git(home.Record(), "archive", "--format=tar", "--output="+os.DevNull, "main", "data")
	return time.Since(began)
}
