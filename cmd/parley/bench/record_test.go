package bench

import (
	"context"
	"fmt"
	"io/fs"
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

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

const (
	eachCommit = `"git add" and "git commit" of each message`
	oneCommit  = `one "git add" and "git commit"`
)

func storedTrial() trial {
	const bare = "append and fsync of the same bytes to one bare file"
	return trial{measure{name: "stored", what: "one sender stores messages one after the other", figures: []Figure{
		{Name: "stored_p50", Unit: "ms", What: "one sender, until a message is stored: median", Better: Lower, Beside: bare, Aim: new(3.0), AimOn: OnRatio},
		{Name: "stored_p99", Unit: "ms", What: "one sender, until a message is stored: 99 of 100 take no longer", Better: Lower, Beside: bare,
			Aim: new(20.0), AimOn: OnValue},
	}}, func(r *rig) readings {
		record, _ := r.newRecord(nil)
		bare := must(r.openBare("bare"))(r)
		letters := r.lettersOfADay(record.ID(), r.count(5000, 1000))
		next := 0
		stored, synced, err := inTurn(len(letters), 50, func() error {
			next++
			return record.Append(r.Context(), letters[next-1:next])
		}, func() error { return appendTo(bare) })
		r.check(err)
		return both("stored", stored, synced)
	}}
}

func sendRateTrial() trial {
	return trial{measure{name: "send_rate", what: "64 programs send messages through a node's socket", figures: []Figure{
		{Name: "send_rate", Unit: "/s", What: "64 programs: messages a second through the socket of a node", Better: Higher, Beside: eachCommit},
	}}, func(r *rig) readings {
		h, many := r.host(), r.count(20_000, 500)
		began := time.Now()
		r.sendBySockets(h, many)
		r.until("all messages were recorded", time.Millisecond, func() bool { return r.status(h).Record.Unrecorded == 0 })
		took := time.Since(began)
		commit, _ := r.gitTimes()
		return readings{"send_rate": {value: perSecond(many, took), yardstick: perSecond(1, commit)}}
	}}
}

// sendBySockets has 64 programs send messages through the socket of a node.
func (r *rig) sendBySockets(h *host, many int) time.Duration {
	home := configs.Home{Dir: r.path(hostName(0))}
	return r.together(senders, many, func(i int) func(context.Context, int) error {
		client, random := control.NewClient(home.Socket(), "bench"), rand.New(rand.NewPCG(5, uint64(i)))
		return func(ctx context.Context, _ int) error {
			_, err := control.Send.Ask(ctx, client, control.SendRequest{To: []string{"mawjs"}, Body: text(random), Anyway: true})
			return err
		}
	})
}

func throughputTrial() trial {
	return trial{measure{name: "throughput", what: "64 senders store as fast as they can, in one channel on one day", figures: []Figure{
		{Name: "stored_rate", Unit: "/s", What: "64 senders: messages stored a second", Better: Higher, Beside: "append and fsync of each, one at a time"},
		{Name: "recorded_rate", Unit: "/s", What: "64 senders: messages a second until the last is in a commit", Better: Higher, Beside: eachCommit,
			Aim: new(10_000.0), AimOn: OnValue},
		{Name: "recorded_vs_git", Unit: "/s", What: "recorded_rate again: its ratio is what counts here", Better: Higher, Beside: eachCommit,
			Aim: new(100.0), AimOn: OnRatio},
	}}, func(r *rig) readings {
		n := r.count(100_000, 10_000)
		var recorded atomic.Int64
		record, _ := r.newRecord(func(paths []protocol.Path) { recorded.Add(int64(len(paths))) })
		letters := r.lettersOfADay(record.ID(), n)
		began := time.Now()
		storing := r.together(senders, n, func(int) func(context.Context, int) error {
			return func(ctx context.Context, i int) error { return record.Append(ctx, letters[i:i+1]) }
		})
		r.until("all messages were recorded", time.Millisecond, func() bool { return recorded.Load() == int64(n) })
		rate := reading{value: perSecond(n, time.Since(began))}
		commit, _ := r.gitTimes()
		rate.yardstick = perSecond(1, commit)
		return readings{"stored_rate": {value: perSecond(n, storing), yardstick: r.bareRate()}, "recorded_rate": rate, "recorded_vs_git": rate}
	}}
}

func lagTrial() trial {
	const rate = 2000 // messages a second
	return trial{measure{name: "lag", what: "2,000 messages a second are stored, evenly", figures: []Figure{
		{Name: "lag_p50", Unit: "ms", What: "at 2,000 a second, from stored to recorded: median", Better: Lower, Beside: oneCommit},
		{Name: "lag_p99", Unit: "ms", What: "at 2,000 a second, from stored to recorded: 99 of 100 take no longer", Better: Lower, Beside: oneCommit,
			Aim: new(250.0), AimOn: OnValue},
	}}, func(r *rig) readings {
		n := r.count(10, 1) * rate
		var mu sync.Mutex // guards the two
		stored, recorded := map[protocol.Path]time.Time{}, map[protocol.Path]time.Time{}
		note := func(in map[protocol.Path]time.Time, paths ...protocol.Path) {
			mu.Lock()
			defer mu.Unlock()
			for _, p := range paths {
				in[p] = time.Now()
			}
		}
		record, _ := r.newRecord(func(paths []protocol.Path) { note(recorded, paths...) })
		letters := r.lettersOfADay(record.ID(), n)
		due := make(chan int, n)
		began := time.Now()
		go func() { // ends when all are due
			for i := range n {
				time.Sleep(time.Until(began.Add(time.Duration(i) * time.Second / rate)))
				due <- i
			}
		}()
		took := r.together(2*senders, n, func(int) func(context.Context, int) error {
			return func(ctx context.Context, _ int) error {
				i := <-due
				err := record.Append(ctx, letters[i:i+1])
				note(stored, letters[i].Path)
				return err
			}
		})
		var lags []time.Duration
		r.until("all messages were recorded", time.Millisecond, func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(recorded) == n
		})
		for p, at := range stored {
			lags = append(lags, max(0, recorded[p].Sub(at))) // its sender may learn later that it is stored
		}
		commit, _ := r.gitTimes()
		slow := ""
		if got := perSecond(n, took); got < rate*95/100 {
			slow = fmt.Sprintf("only %.0f a second could be stored", got)
		}
		return both("lag", lags, []time.Duration{commit}).in(slow)
	}}
}

func diskTrial() trial {
	return trial{measure{name: "disk", what: "messages come one per commit, in one channel on one day", figures: []Figure{
		{Name: "idle_p50", Unit: "ms", What: "nothing else to do, from stored to recorded: median", Better: Lower, Beside: oneCommit},
		{Name: "idle_p99", Unit: "ms", What: "nothing else to do, from stored to recorded: 99 of 100 take no longer", Better: Lower, Beside: oneCommit,
			Aim: new(100.0), AimOn: OnValue},
		{Name: "disk_per_message", Unit: "bytes", What: "size of the record per message, each in a commit of its own", Better: Lower,
			Beside: `a copy after "git gc --prune=now"`, Aim: new(3.0), AimOn: OnRatio},
		{Name: "disk_vs_fresh", Unit: "bytes", What: "disk_per_message, beside what git makes of it when it searches all deltas anew", Better: Lower,
			Beside: `a copy after "git repack -a -d -f"`},
		{Name: "packs_most", Unit: "", What: "most packs in the record at any time", Better: Lower,
			Beside: `a copy after "git gc --prune=now"`, Aim: new(50.0), AimOn: OnValue},
	}}, func(r *rig) readings {
		recorded := make(chan struct{}, 1)
		record, end := r.newRecord(func([]protocol.Path) { recorded <- struct{}{} })
		letters, repo := r.lettersOfADay(record.ID(), r.count(10_000, 200)), r.path("host0/record.git")
		var lags []time.Duration
		most := 0
		for i := range letters {
			r.check(record.Append(r.Context(), letters[i:i+1]))
			stored := time.Now()
			<-recorded
			if lags = append(lags, time.Since(stored)); i%20 == 0 {
				packs, _ := r.content(repo)
				most = max(most, packs)
			}
		}
		end()
		commit, _ := r.gitTimes()
		_, size := r.content(repo)
		packs, small := r.repacked(repo, "gc", "--quiet", "--prune=now")
		_, fresh := r.repacked(repo, "repack", "--quiet", "-a", "-d", "-f")
		n := float64(len(letters))
		taken := both("idle", lags, []time.Duration{commit})
		taken["disk_per_message"] = reading{value: size / n, yardstick: small / n}
		taken["disk_vs_fresh"] = reading{value: size / n, yardstick: fresh / n}
		taken["packs_most"] = reading{value: float64(most), yardstick: float64(packs)}
		return taken
	}}
}

// content is what a repository takes on disk: packs and bytes.
func (r *rig) content(repo string) (packs int, bytes float64) {
	r.check(filepath.WalkDir(repo, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if filepath.Ext(path) == ".pack" {
			packs++
		}
		info, err := e.Info()
		if os.IsNotExist(err) {
			return nil // it is being replaced
		}
		bytes += float64(info.Size())
		return err
	}))
	return packs, bytes
}

// repacked is what a command of the git program makes of a copy of a repository.
func (r *rig) repacked(repo string, command ...string) (packs int, bytes float64) {
	copied := r.path(command[0])
	r.check(os.CopyFS(copied, os.DirFS(repo)))
	for _, keep := range must(filepath.Glob(filepath.Join(copied, "objects", "pack", "*.keep")))(r) {
		r.check(os.Remove(keep)) // git may have this pack
	}
	r.git(copied, command...)
	return r.content(copied)
}

func pushTrial(name string, slowest float64) trial {
	alone := name == "git"
	what := fmt.Sprintf("%d hosts %s, 100 messages each: ", fleetSize, map[bool]string{false: "linked live", true: "without the bus"}[alone])
	const oneByOne = `"git add", "git commit" and "git push" of one message`
	return trial{measure{name: "push_" + name, what: what + "they share one repository", figures: []Figure{
		{Name: "push_slowest_" + name, Unit: "s", What: what + "slowest from stored to pushed", Better: Lower, Beside: oneByOne,
			Aim: &slowest, AimOn: OnValue},
		{Name: "push_p50_" + name, Unit: "s", What: what + "median from stored to pushed", Better: Lower, Beside: oneByOne},
		{Name: "push_wrong_" + name, Unit: "", What: what + "those that the remote has not exactly once", Better: Lower, Beside: "messages stored",
			Aim: new(0.0), AimOn: OnValue},
		{Name: "push_rejected_" + name, Unit: "", What: what + "pushes that came after another host's", Better: Lower, Beside: "pushes that were taken"},
	}}, func(r *rig) readings {
		_, push := r.gitTimes()
		f := r.fleet(wantedFleet{size: r.count(fleetSize, quickFleet), alone: alone})
		before, rejected, each := len(r.pushes(f.shared)), f.rejected(), r.count(100, 25)
		sent := &sentMessages{at: map[string]time.Time{}}
		r.together(len(f.nodes), len(f.nodes), func(i int) func(context.Context, int) error {
			random := rand.New(rand.NewPCG(2, uint64(i)))
			return func(ctx context.Context, i int) (err error) {
				for range each {
					if err == nil {
						err = f.say(ctx, i, random, sent)
					}
				}
				return err
			}
		})
		late := ""
		if waiting := f.awaitPushed(sent); waiting > 0 {
			late = fmt.Sprintf("%d messages had not come after %s", waiting, patience)
		}
		slowness := r.slowness(f.shared, sent)
		wrong, note := r.wrong(f.shared, sent)
		return readings{
			"push_slowest_" + name:  {value: percentile(slowness, 100).Seconds(), yardstick: push.Seconds(), note: late},
			"push_p50_" + name:      {value: percentile(slowness, 50).Seconds(), yardstick: push.Seconds()},
			"push_wrong_" + name:    {value: float64(wrong), yardstick: float64(len(sent.at)), note: note},
			"push_rejected_" + name: {value: float64(f.rejected() - rejected), yardstick: float64(len(r.pushes(f.shared)) - before)},
		}.in(r.less("%d hosts, %d messages each", len(f.nodes), each))
	}}
}

func pushesTrial() trial {
	return trial{measure{name: "pushes", what: fmt.Sprintf("%d linked hosts store 1,000 messages in 60 s", fleetSize), figures: []Figure{
		{Name: "pushes_60s", Unit: "", What: fmt.Sprintf("pushes that %d linked hosts use for 1,000 messages in 60 s", fleetSize), Better: Lower,
			Beside: "messages: one push each"},
	}}, func(r *rig) readings {
		if r.quick { // it takes more than a minute
			return nil
		}
		f := r.fleet(wantedFleet{size: fleetSize})
		const n = 1000
		before, sent, random := len(r.pushes(f.shared)), &sentMessages{at: map[string]time.Time{}}, rand.New(rand.NewPCG(3, 0))
		began := time.Now()
		for i := range n {
			time.Sleep(time.Until(began.Add(time.Minute * time.Duration(i) / n)))
			r.check(f.say(r.Context(), i%len(f.nodes), random, sent))
		}
		if missing := f.awaitPushed(sent); missing > 0 {
			r.Fatalf("%d messages did not reach the shared repository", missing)
		}
		return readings{"pushes_60s": {value: float64(len(r.pushes(f.shared)) - before), yardstick: n}}
	}}
}

// sentMessages are the times when messages were stored, by their paths in the repository.
type sentMessages struct {
	mu sync.Mutex // guards at
	at map[string]time.Time
}

// say has the human of a host write to the human of the next host.
func (f *fleet) say(ctx context.Context, i int, random *rand.Rand, sent *sentMessages) error {
	m, err := control.Send.Ask(ctx, f.nodes[i], control.SendRequest{To: []string{humanName((i + 1) % len(f.nodes))}, Body: text(random)})
	if err != nil {
		return err
	}
	now := time.Now()
	sent.mu.Lock()
	defer sent.mu.Unlock()
	sent.at[m.Path.RepoPath()] = now
	return nil
}

// rejected is how many pushes of the hosts came after another's, since their start.
func (f *fleet) rejected() (all int) {
	for _, h := range f.nodes {
		all += f.status(h).Record.Rejected
	}
	return all
}

// awaitPushed waits until everything that was sent is in the shared repository, as git lists it. It
// returns how many messages are still missing when patience ends.
func (f *fleet) awaitPushed(sent *sentMessages) (missing int) {
	_ = until(f.Context(), "all is pushed", 250*time.Millisecond, func() (bool, error) { // the caller says what is missing
		there := f.files(f.shared)
		missing = 0
		for path := range sent.at {
			if there[path] == 0 {
				missing++
			}
		}
		return missing == 0, nil
	})
	return missing
}

// noting makes a bare repository that notes each push: a file, whose name is the commit that main
// became, says which it was, and its time is that of the push. So git counts them, and not parley.
func (r *rig) noting() string {
	dir := must(r.newShared(r.Context()))(r)
	r.check(os.MkdirAll(filepath.Join(dir, "hooks"), 0o700))
	r.check(os.Mkdir(filepath.Join(dir, "pushes"), 0o700))
	hook := "#!/bin/sh\nwhile read -r old new ref; do printf '%s' \"$old\" >\"pushes/$new\"; done\n"
	r.check(os.WriteFile(filepath.Join(dir, "hooks", "post-receive"), []byte(hook), 0o700))
	return dir
}

// pushed is one push that the repository took.
type pushed struct {
	at       time.Time
	old, new string
}

// pushes are all pushes so far, the oldest first.
func (r *rig) pushes(repo string) (all []pushed) {
	for _, f := range must(os.ReadDir(filepath.Join(repo, "pushes")))(r) {
		old := must(os.ReadFile(filepath.Join(repo, "pushes", f.Name())))(r)
		all = append(all, pushed{at: must(f.Info())(r).ModTime(), old: string(old), new: f.Name()})
	}
	slices.SortFunc(all, func(a, b pushed) int { return a.at.Compare(b.at) })
	return all
}

// files are the paths in main below data, as the git program lists them, with the number of times
// that each is there.
func (r *rig) files(repo string) map[string]int {
	found := map[string]int{}
	for name := range strings.SplitSeq(r.git(repo, "ls-tree", "-r", "-z", "--name-only", "main", "data/"), "\x00") {
		found[name]++
	}
	delete(found, "")
	return found
}

// slowness are the times from stored to pushed, of the messages that were pushed.
func (r *rig) slowness(repo string, sent *sentMessages) (took []time.Duration) {
	came := map[string]time.Time{}
	for _, p := range r.pushes(repo) {
		if strings.Trim(p.old, "0") == "" {
			continue // main began
		}
		added := r.git(repo, "diff-tree", "-r", "-z", "--name-only", "--diff-filter=A", p.old, p.new, "--", "data/")
		for name := range strings.SplitSeq(added, "\x00") {
			if _, known := came[name]; !known {
				came[name] = p.at
			}
		}
	}
	for path, stored := range sent.at {
		if at, ok := came[path]; ok {
			took = append(took, max(0, at.Sub(stored)))
		}
	}
	return took
}

// wrong counts what is not in the shared repository exactly once: messages that are missing or
// there twice, and files that nobody has sent.
func (r *rig) wrong(repo string, sent *sentMessages) (wrong int, note string) {
	there, channels := r.files(repo), map[string]bool{}
	channelOf := func(path string) string {
		rest, _ := strings.CutPrefix(path, protocol.ChannelsDir+"/")
		channel, _, _ := strings.Cut(rest, "/")
		return channel
	}
	missing, double, foreign := 0, 0, 0
	for path := range sent.at {
		channels[channelOf(path)] = true
		switch n := there[path]; {
		case n == 0:
			missing++
		case n > 1:
			double++
		}
	}
	for path := range there {
		if _, ok := sent.at[path]; !ok && channels[channelOf(path)] || strings.HasPrefix(path, "data/conflicts/") {
			foreign++
		}
	}
	if wrong = missing + double + foreign; wrong > 0 {
		note = fmt.Sprintf("%d missing, %d double, %d that nobody sent", missing, double, foreign)
	}
	return wrong, note
}

// It prevents: a bench that calls a push good because parley says so. Git alone tells what came to
// the shared repository, and when.
func TestSharedRepositoryNotesPushes(t *testing.T) {
	r := newRig(t, true)
	repo, work := r.noting(), r.path("work")
	r.git(r.dir, "init", "--quiet", work)
	letters := r.lettersOfADay("record", 4)
	sent := &sentMessages{at: map[string]time.Time{}}
	for _, l := range letters[:3] { // the first push begins main, and comes without any message that was sent
		r.commitOne(work, l)
		r.git(work, "push", "--quiet", repo, "HEAD:main")
	}
	for _, l := range letters[1:] {
		sent.at[l.Path.RepoPath()] = time.Now().Add(-time.Hour)
	}
	if all := r.pushes(repo); len(all) != 3 || all[1].old != all[0].new || all[2].old != all[1].new {
		t.Errorf("the pushes are %v", all)
	}
	if took := r.slowness(repo, sent); len(took) != 2 || percentile(took, 1) < time.Hour-time.Minute {
		t.Errorf("the messages took %v", took)
	}
	// letters[0] is there and was not sent. letters[3] was sent and is not there.
	if wrong, note := r.wrong(repo, sent); wrong != 2 || note != "1 missing, 0 double, 1 that nobody sent" {
		t.Errorf("wrong are %d: %q", wrong, note)
	}
}

// A start is measured on usualScale messages, or on as many as PARLEY_BENCH_SCALE says.
const usualScale, largeScale = 100_000, 1_000_000

func startTrial() trial {
	scale, err := strconv.Atoi(os.Getenv("PARLEY_BENCH_SCALE"))
	if err != nil {
		scale = usualScale
	}
	on := fmt.Sprintf("on %d messages", scale)
	const read, bytes = `"git archive", which reads every message once`, "the messages' own bytes"
	figures := []Figure{
		{Name: "start_cached", Unit: "s", What: "from the start of a process to its first stored message, " + on, Better: Lower, Beside: read},
		{Name: "memory_cached", Unit: "MiB", What: "most anonymous memory of that process while it starts and for a second after, " + on,
			Better: Lower, Beside: bytes},
		{Name: "start_uncached", Unit: "s", What: "start_cached without the cache: all is read from git", Better: Lower, Beside: read},
		{Name: "memory_uncached", Unit: "MiB", What: "memory_cached without the cache, until that is whole again", Better: Lower, Beside: bytes},
	}
	if scale <= largeScale {
		figures[0].Aim, figures[0].AimOn, figures[1].Aim, figures[1].AimOn = new(5.0), OnValue, new(300.0), OnValue
	}
	if scale <= usualScale {
		figures[0].Aim = new(1.0)
	}
	return trial{measure{name: "start", what: "a node starts on a long record", figures: figures}, func(r *rig) readings {
		if r.quick {
			scale = min(scale, 2000)
		}
		began := time.Now().UTC().Add(-time.Duration(scale+1) * apart)
		home := must(r.newHome(r.Context(), 0, func(o *homes.Options) { o.Now = func() time.Time { return began } }))(r)
		size := r.fillTalk(home, scale)
		archiving := r.archive(home).Seconds()
		r.check(os.RemoveAll(home.Cache()))
		taken := readings{}
		for _, cache := range []string{"uncached", "cached"} { // the first start makes the cache
			took, memory := r.startOnce(home)
			taken["start_"+cache] = reading{value: took.Seconds(), yardstick: archiving}
			if memory > 0 {
				taken["memory_"+cache] = reading{value: memory, yardstick: size}
			}
		}
		return taken.in(r.less("on %d messages only", scale))
	}}
}

// startOnce runs a node as a process of its own, sends it a message as soon as it takes one, watches
// its memory until it rests, and ends it.
func (r *rig) startOnce(home configs.Home) (took time.Duration, most float64) {
	must(built())(r) // it is built before the time is taken
	began := time.Now()
	p := r.startParley(home)
	end, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends with this function
		defer close(ended)
		for tick := time.NewTicker(5 * time.Millisecond); ; {
			most = max(most, memoryOf(p.pid, "RssAnon"))
			select {
			case <-tick.C:
			case <-end:
				tick.Stop()
				return
			}
		}
	}()
	r.awaitAnswer(func() error {
		_, err := control.Send.Ask(r.Context(), p, control.SendRequest{To: []string{"agent0"}, Body: "the first message after a start", Anyway: true})
		return err
	})
	took = time.Since(began)
	r.rest(p)
	close(end)
	<-ended
	p.stop()
	return took, most
}

// It prevents: a yardstick that has not the size of what parley stores.
func TestLetterHasTheSizeOfAMessage(t *testing.T) {
	r := newRig(t, true)
	var sizes []int
	for _, l := range r.lettersOfADay("record", 9) {
		sizes = append(sizes, len(l.Data))
	}
	if slices.Sort(sizes); sizes[0] > len(letter)+50 || sizes[8] < len(letter)-50 {
		t.Errorf("messages have %v bytes, the yardstick's %d", sizes, len(letter))
	}
}
