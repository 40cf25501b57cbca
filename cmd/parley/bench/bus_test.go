package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
)

func entryTrial() trial {
	const (
		what = "from the request at a node's socket until the other node receives the message: "
		bare = "the least it takes: the same bytes appended to one bare file with fsync, then published over bare NATS across such a link"
	)
	return trial{measure{name: "entry", what: "messages to another host, until they come in", figures: []Figure{
		{Name: "entry_p50", Unit: "ms", What: what + "median", Better: Lower, Beside: bare, Aim: new(1.0), AimOn: OnValue},
		{Name: "entry_p99", Unit: "ms", What: what + "99 of 100 take no longer", Better: Lower, Beside: bare},
	}}, func(r *rig) readings {
		came := newArrivals()
		f := r.fleet(wantedFleet{size: 2, log: logOfLast(came)})
		disk, there := must(r.openBare("bare"))(r), make(chan time.Time, 1)
		link := must(r.openLinks(r.Context(), 1, func(int, *nats.Msg) { there <- time.Now() }))(r)
		random := rand.New(rand.NewPCG(6, 0))
		var entry, bare []time.Duration
		_, _, err := inTurn(r.count(2000, 300), 50, func() error {
			body, began := text(random), time.Now()
			m, err := control.Send.Ask(r.Context(), f.nodes[0].client, control.SendRequest{To: []string{humanName(1)}, Body: body, HeardWithin: patience})
			entry = append(entry, came.of(m.Path.String()).Sub(began))
			return err
		}, func() error {
			began := time.Now()
			r.check(appendTo(disk))
			r.check(link.conns[0].Publish("message", letter))
			bare = append(bare, (<-there).Sub(began))
			return nil
		})
		r.check(err)
		return both("entry", entry, bare)
	}}
}

// logOfLast has the arrivals at the second of two hosts noted.
func logOfLast(came *arrivals) func(int) zerolog.Logger {
	return func(i int) zerolog.Logger {
		if i == 0 {
			return zerolog.Nop()
		}
		return came.log()
	}
}

func burstTrial() trial {
	return trial{measure{name: "burst", what: "as many messages to another host as go out", figures: []Figure{
		{Name: "burst_rate", Unit: "/s", What: "64 senders on one host, 50,000 messages: a second until the other host received the last", Better: Higher,
			Beside: "as many bytes as often over bare NATS across such a link, kept by nobody", Aim: new(5000.0), AimOn: OnValue},
		{Name: "burst_wrong", Unit: "", What: "of those, what the other host's record has not exactly once", Better: Lower,
			Beside: "messages sent", Aim: new(0.0), AimOn: OnValue},
		{Name: "burst_bus", Unit: "%", What: "of those, what came live; git brought the rest", Better: Higher},
	}}, func(r *rig) readings {
		many, came := r.count(50_000, 2000), newArrivals()
		f := r.fleet(wantedFleet{size: 2, log: logOfLast(came)})
		began := time.Now()
		paths := r.sendMany(f.nodes[0], humanName(1), many)
		late := ""
		whole := r.awaitArrivals(paths, came)
		here, byBus, last := came.count(paths)
		if !whole {
			late = fmt.Sprintf("%d messages had not come after %s", many-here, patience)
		}
		wrong, note := r.wrongAt(f.nodes[1], paths)
		for end := time.Now().Add(10 * time.Second); wrong > 0 && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			wrong, note = r.wrongAt(f.nodes[1], paths) // what has come is stored a moment later
		}
		return readings{
			"burst_rate":  {value: perSecond(here, last.Sub(began)), yardstick: r.bareDeliveries(1, many), note: late},
			"burst_wrong": {value: float64(wrong), yardstick: float64(many), note: note},
			"burst_bus":   {value: 100 * float64(byBus) / float64(many)},
		}.in(r.less("%d messages", many))
	}}
}

// wrongAt counts what a node shows of these messages not exactly once.
func (r *rig) wrongAt(h *host, paths map[string]bool) (wrong int, note string) {
	seen, double := map[string]int{}, 0
	r.check(control.Log.Ask(r.Context(), h, control.LogRequest{}, func(m control.Message) error {
		if p := m.Path.String(); paths[p] {
			if seen[p]++; seen[p] == 2 {
				double++
			}
		}
		return nil
	}))
	missing := len(paths) - len(seen)
	if wrong = missing + double; wrong > 0 {
		note = fmt.Sprintf("%d missing, %d double", missing, double)
	}
	return wrong, note
}

// It prevents: a bench says "none lost" while messages are missing.
func TestWhatIsMissingIsCounted(t *testing.T) {
	r, came := newRig(t, true), newArrivals()
	f := r.fleet(wantedFleet{size: 2, log: logOfLast(came)})
	paths := r.sendMany(f.nodes[0], humanName(1), 5)
	if len(paths) != 5 || !r.awaitArrivals(paths, came) {
		t.Fatalf("of %d not all were seen to come in", len(paths))
	}
	r.until("the other host has them", time.Millisecond, func() bool {
		wrong, _ := r.wrongAt(f.nodes[1], paths)
		return wrong == 0
	})
	paths["nobody/sent/this"] = true
	if wrong, note := r.wrongAt(f.nodes[1], paths); wrong != 1 || note != "1 missing, 0 double" {
		t.Errorf("wrong are %d: %q", wrong, note)
	}
}

// It prevents: a yardstick that is taken before the servers know each other, and that waits for
// messages that nobody carries.
func TestBareLinksDeliver(t *testing.T) {
	if rate := newRig(t, true).bareDeliveries(3, 1000); rate <= 0 {
		t.Errorf("the rate is %f", rate)
	}
}

func fanoutTrial() trial {
	const whole = "50 whole nodes with their records in one process: "
	return trial{measure{name: "fanout", what: "one host speaks to many, and is started anew", figures: []Figure{
		{Name: "fanout_rate", Unit: "/s", What: whole + "messages to all, counted at each that receives one, a second until the last", Better: Higher,
			Beside: "as many bytes as often over bare NATS across as many links, kept by nobody"},
		{Name: "fanout_lost", Unit: "", What: whole + "of those, what did not come live", Better: Lower, Beside: "deliveries", Aim: new(0.0), AimOn: OnValue},
		{Name: "back_all", Unit: "s", What: whole + "from the start of the hub anew until all are live there and heard it again", Better: Lower,
			Aim: new(10.0), AimOn: OnValue},
	}}, func(r *rig) readings {
		var came []*arrivals
		size, many := r.count(50, 6), r.count(1000, 200)
		for range size {
			came = append(came, newArrivals())
		}
		// One machine has no room for so many git programs. The bus is what is measured.
		f := r.fleet(wantedFleet{size: size, log: func(i int) zerolog.Logger { return came[i].log() }, noGit: true})
		began := time.Now()
		paths := r.sendMany(f.nodes[0], "all", many)
		r.awaitArrivals(paths, came[1:]...) // missing messages are counted
		end, deliveries, wanted := began, 0, many*(size-1)
		for _, a := range came[1:] {
			_, byBus, last := a.count(paths)
			if deliveries += byBus; last.After(end) {
				end = last
			}
		}
		return readings{
			"fanout_rate": {value: perSecond(deliveries, end.Sub(began)), yardstick: r.bareDeliveries(size-1, many)},
			"fanout_lost": {value: float64(wanted - deliveries), yardstick: float64(wanted)},
			"back_all":    {value: f.restart(came).Seconds()},
		}.in(r.less("%d hosts, %d messages", size, many))
	}}
}

// restart ends the hub and starts it anew, at the same addresses, until all hosts hear it again.
func (f *fleet) restart(came []*arrivals) time.Duration {
	status, home := f.status(f.nodes[0]), configs.Home{Dir: f.path(hostName(0))}
	f.check(f.nodes[0].stop())
	f.reconfigure(home, func(c *configs.Config) { c.Bus.Listen, c.Bus.Links = status.Bus.Clients, status.Bus.Links })
	began := time.Now()
	hub := must(f.runHost(f.Context(), home, zerolog.Nop()))(f.rig)
	f.until("all hosts were live again", time.Millisecond, func() bool {
		return !slices.ContainsFunc(f.status(hub).Hosts, func(h control.HostStatus) bool { return !h.Live })
	})
	said := must(control.Send.Ask(f.Context(), hub, control.SendRequest{To: []string{"all"}, Body: "here again"}))(f.rig)
	if !f.awaitArrivals(map[string]bool{said.Path.String(): true}, came[1:]...) {
		f.Fatalf("waited %s in vain until all hosts heard the hub again", patience)
	}
	return time.Since(began)
}

func idleTrial() trial {
	return trial{measure{name: "idle", what: "two linked nodes with nothing to do", figures: []Figure{
		{Name: "idle_memory", Unit: "MiB", What: "a node with nothing to do, linked to another, as a process: its anonymous memory, the larger of the two",
			Better: Lower, Aim: new(60.0), AimOn: OnValue},
		{Name: "idle_resident", Unit: "MiB", What: "the same process: all its resident memory, with what it shares with the file it was started from", Better: Lower},
		{Name: "idle_cpu", Unit: "%", What: "processor time of such a process and of the programs it runs, of one processor", Better: Lower,
			Aim: new(1.0), AimOn: OnValue},
	}}, func(r *rig) readings {
		shared, hub := must(r.newShared(r.Context()))(r), ""
		var all []*process
		for i := range 2 {
			p := r.startParley(r.homeIn(i, shared, hub))
			r.awaitAnswer(func() error {
				_, err := control.ShowStatus.Ask(r.Context(), p)
				return err
			})
			all, hub = append(all, p), r.status(p).Bus.Links
		}
		r.until("the nodes are linked", 10*time.Millisecond, func() bool {
			s := r.status(all[0])
			return len(s.Hosts) == 2 && !slices.ContainsFunc(s.Hosts, func(h control.HostStatus) bool { return !h.Live })
		})
		time.Sleep(time.Duration(r.count(10, 1)) * time.Second)
		used := []time.Duration{processorTime(all[0].pid), processorTime(all[1].pid)}
		began := time.Now()
		time.Sleep(time.Duration(r.count(30, 2)) * time.Second)
		took := time.Since(began)
		var share, anonymous, resident float64
		for i, p := range all {
			share = max(share, 100*(processorTime(p.pid)-used[i]).Seconds()/took.Seconds())
			anonymous, resident = max(anonymous, memoryOf(p.pid, "RssAnon")), max(resident, memoryOf(p.pid, "VmRSS"))
		}
		if resident == 0 {
			r.Skip("only Linux tells what a process uses")
		}
		return readings{
			"idle_memory": {value: anonymous}, "idle_resident": {value: resident}, "idle_cpu": {value: share, note: "over " + took.Round(time.Second).String()},
		}
	}}
}

// processorTime is the processor time that a process has used, together with the programs that it
// has run and waited for, as Linux tells it in hundredths of a second. It is 0 elsewhere.
func processorTime(pid int) (all time.Duration) {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)) // it is missing elsewhere
	// The name in brackets may hold anything; what follows it is numbers, of which the 12th to the
	// 15th are times.
	fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
	for _, field := range fields[min(len(fields), 11):min(len(fields), 15)] {
		n, _ := strconv.ParseInt(field, 10, 64)
		all += time.Duration(n) * 10 * time.Millisecond
	}
	return all
}

func TestLinuxTellsWhatAProcessUses(t *testing.T) {
	pid := os.Getpid()
	if _, err := os.Stat("/proc/self/stat"); err != nil {
		t.Skip("needs /proc")
	}
	if all, anonymous := memoryOf(pid, "VmRSS"), memoryOf(pid, "RssAnon"); anonymous <= 0 || all <= anonymous {
		t.Errorf("%f MiB are resident, %f of them anonymous", all, anonymous)
	}
	before := processorTime(pid)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for processorTime(pid) == before {
		if ctx.Err() != nil {
			t.Fatal("no processor time was used in a minute of work")
		}
	}
}
