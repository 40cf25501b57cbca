package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func pushMeasure(bus bool) Measure {
	name, with, slowest := "bus", "linked live", 3*time.Second
	if !bus {
		name, with, slowest = "git", "without the bus", 15*time.Second
	}
	what := fmt.Sprintf("%d hosts %s, 100 messages each: ", fleetSize, with)
	return Measure{
		Name: "push_" + name, What: fmt.Sprintf("hosts %s share one repository", with),
		take: func(ctx context.Context, s *stand) (readings, error) { return takePush(ctx, s, name, bus) },
		Figures: []Spec{
			{Name: "push_slowest_" + name, Unit: "s", What: what + "slowest from stored to pushed", Better: Lower,
				Beside: `"git add", "git commit" and "git push" of one message`, Aim: slowest.Seconds(), AimOn: OnValue, Full: true},
			{Name: "push_p50_" + name, Unit: "s", What: what + "median from stored to pushed", Better: Lower,
				Beside: `"git add", "git commit" and "git push" of one message`},
			{Name: "push_wrong_" + name, Unit: "", What: what + "those that the remote has not exactly once", Better: Lower,
				Beside: "messages stored", Aim: 0, AimOn: OnValue},
			{Name: "push_rejected_" + name, Unit: "", What: what + "pushes that came after another host's", Better: Lower,
				Beside: "pushes that were taken"},
		},
	}
}

// sentMessages are the times when messages were stored, by their paths in the repository.
type sentMessages struct {
	mu sync.Mutex // guards at
	at map[string]time.Time
}

// say has the human of a host write to the human of the next host.
func (h *hosts) say(ctx context.Context, i int, random *rand.Rand, sent *sentMessages) error {
	from, to := h.nodes[i], h.nodes[(i+1)%len(h.nodes)]
	m, err := control.Send.Ask(ctx, from, control.SendRequest{As: from.human, To: []string{to.human}, Body: text(random)})
	if err != nil {
		return err
	}
	now := time.Now()
	sent.mu.Lock()
	defer sent.mu.Unlock()
	sent.at[m.Path.RepoPath()] = now
	return nil
}

// sayAll has all hosts write n messages each, one after the other.
func (h *hosts) sayAll(ctx context.Context, n int, sent *sentMessages) error {
	errs := make([]error, len(h.nodes))
	var saying sync.WaitGroup
	for i := range h.nodes {
		saying.Go(func() {
			random := rand.New(rand.NewPCG(2, uint64(i)))
			for range n {
				if errs[i] = h.say(ctx, i, random, sent); errs[i] != nil {
					return
				}
			}
		})
	}
	saying.Wait()
	return errors.Join(errs...)
}

func takePush(ctx context.Context, s *stand, name string, bus bool) (_ readings, err error) {
	commit, err := s.tools.pushTime(ctx)
	if err != nil {
		return nil, err
	}
	h, err := s.startHosts(ctx, wantedHosts{size: s.count(fleetSize, quickFleet), alone: !bus})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.stop()) }()
	rejected, err := h.rejected(ctx)
	if err != nil {
		return nil, err
	}
	before, err := h.shared.pushes()
	if err != nil {
		return nil, err
	}
	sent := &sentMessages{at: map[string]time.Time{}}
	each := s.count(100, 25)
	if err := h.sayAll(ctx, each, sent); err != nil {
		return nil, err
	}
	waiting, err := h.awaitPushed(ctx, s, sent)
	if err != nil {
		return nil, err
	}
	slowness, err := h.slowness(ctx, sent)
	if err != nil {
		return nil, err
	}
	wrong, note, err := h.wrong(ctx, sent)
	if err != nil {
		return nil, err
	}
	after, err := h.shared.pushes()
	if err != nil {
		return nil, err
	}
	now, err := h.rejected(ctx)
	if err != nil {
		return nil, err
	}
	size := ""
	if s.options.Quick {
		size = fmt.Sprintf("%d hosts, %d messages each", len(h.nodes), each)
	}
	worst := reading{value: percentile(slowness, 100).Seconds(), yardstick: commit.Seconds(), note: size}
	if waiting > 0 {
		worst.note = fmt.Sprintf("%d messages had not come after %s", waiting, patience)
	}
	return readings{
		"push_slowest_" + name:  worst,
		"push_p50_" + name:      {value: percentile(slowness, 50).Seconds(), yardstick: commit.Seconds(), note: size},
		"push_wrong_" + name:    {value: float64(wrong), yardstick: float64(len(sent.at)), note: strings.Trim(size+"; "+note, "; ")},
		"push_rejected_" + name: {value: float64(now - rejected), yardstick: float64(len(after) - len(before)), note: size},
	}, nil
}

// awaitPushed waits until everything that was sent is in the shared repository, as git lists it. It
// returns how many messages are still missing when patience ends.
func (h *hosts) awaitPushed(ctx context.Context, s *stand, sent *sentMessages) (missing int, err error) {
	deadline := time.Now().Add(patience)
	for {
		there, err := h.shared.files(ctx)
		if err != nil {
			return 0, err
		}
		missing = 0
		for path := range sent.at {
			if there[path] == 0 {
				missing++
			}
		}
		s.progress("pushed", len(sent.at)-missing, len(sent.at))
		if missing == 0 || time.Now().After(deadline) {
			return missing, nil
		}
		select {
		case <-time.After(250 * time.Millisecond):
		case <-ctx.Done():
			return 0, context.Cause(ctx)
		}
	}
}

// slowness are the times from stored to pushed, of the messages that were pushed.
func (h *hosts) slowness(ctx context.Context, sent *sentMessages) ([]time.Duration, error) {
	came, err := h.shared.arrivals(ctx)
	if err != nil {
		return nil, err
	}
	var took []time.Duration
	for path, stored := range sent.at {
		if at, ok := came[path]; ok {
			took = append(took, max(0, at.Sub(stored)))
		}
	}
	return took, nil
}

// wrong counts what is not in the shared repository exactly once: messages that are missing or
// there twice, and files that nobody has sent.
func (h *hosts) wrong(ctx context.Context, sent *sentMessages) (wrong int, note string, err error) {
	there, err := h.shared.files(ctx)
	if err != nil {
		return 0, "", err
	}
	missing, double, foreign := 0, 0, 0
	channels := map[string]bool{}
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
	return wrong, note, nil
}

// channelOf is the folder of the channel in a path of the repository.
func channelOf(path string) string {
	rest, _ := strings.CutPrefix(path, protocol.ChannelsDir+"/")
	channel, _, _ := strings.Cut(rest, "/")
	return channel
}
