package bench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/control"
)

func hopMeasure() Measure {
	const (
		entry = "the least it takes: the same bytes appended to one bare file with fsync, then published over bare NATS across such a link"
		heard = "the least it takes: append and fsync, a bare NATS request across such a link, append and fsync there, and the reply"
	)
	return Measure{
		Name: "hop", What: "messages to another host, one after the other", take: takeHop,
		Figures: []Spec{
			{Name: "entry_p50", Unit: "ms", What: "from the request at a node's socket until the other node receives the message: median", Better: Lower,
				Beside: entry, Aim: 1, AimOn: OnValue},
			{Name: "entry_p99", Unit: "ms", What: "from the request at a node's socket until the other node receives the message: 99 of 100 take no longer", Better: Lower,
				Beside: entry},
			{Name: "heard_p50", Unit: "ms", What: "from the request until the sender has its answer that the other host has fsynced it: median", Better: Lower,
				Beside: heard, Aim: 3, AimOn: OnValue},
			{Name: "heard_p99", Unit: "ms", What: "from the request until the sender has its answer that the other host has fsynced it: 99 of 100 take no longer", Better: Lower,
				Beside: heard},
			{Name: "nats_p50", Unit: "ms", What: "bare NATS: request and reply across such a link, as many bytes: median", Better: Lower},
			{Name: "fsync_p50", Unit: "ms", What: "bare disk: append and fsync of as many bytes: median", Better: Lower},
		},
	}
}

// hop is the measure under way: two nodes, and the yardsticks beside them.
type hop struct {
	*stand
	near   *runningNode // sends
	client *control.Client
	came   *arrivals // at the other one
	link   *natsLinks
	disks  []bareFile // of the sender and of the other one
	there  chan time.Time
	random *rand.Rand

	entry, heard, bareEntry, bareHeard, nats, fsync []time.Duration
}

func takeHop(ctx context.Context, s *stand) (_ readings, err error) {
	h := &hop{stand: s, came: newArrivals(), there: make(chan time.Time, 1), random: rand.New(rand.NewPCG(6, 0))}
	pair, err := s.startHosts(ctx, wantedHosts{size: 2, log: func(i int) zerolog.Logger {
		if i == 0 {
			return zerolog.Nop()
		}
		return h.came.log()
	}})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pair.stop()) }()
	h.near = pair.nodes[0]
	h.client = control.NewClient(h.near.home.Socket(), version)
	if err := h.openBare(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, h.close()) }()
	like, err := s.lettersOfADay(ctx, "bench", 1)
	if err != nil {
		return nil, err
	}
	if err := h.send(ctx, pair.nodes[1].human, false); err != nil { // the first one is not like the others
		return nil, err
	}
	for many := s.count(2000, 300); len(h.heard) < many; {
		s.progress("sending one by one", len(h.heard), many)
		for range storedBlock {
			if err := h.send(ctx, pair.nodes[1].human, true); err != nil {
				return nil, err
			}
		}
		for range storedBlock {
			if err := h.bare(ctx, like[0].Data); err != nil {
				return nil, err
			}
		}
	}
	return h.readings(), nil
}

func (h *hop) readings() readings {
	read := func(took, least []time.Duration, p int) reading {
		return reading{value: milliseconds(percentile(took, p)), yardstick: milliseconds(percentile(least, p))}
	}
	return readings{
		"entry_p50": read(h.entry, h.bareEntry, 50), "entry_p99": read(h.entry, h.bareEntry, 99),
		"heard_p50": read(h.heard, h.bareHeard, 50), "heard_p99": read(h.heard, h.bareHeard, 99),
		"nats_p50":  {value: milliseconds(percentile(h.nats, 50))},
		"fsync_p50": {value: milliseconds(percentile(h.fsync, 50))},
	}
}

// send has the human of the first host write to the human of the other one, and waits until it is
// known that the other host has heard it.
func (h *hop) send(ctx context.Context, to string, counts bool) error {
	body, began := text(h.random), time.Now()
	m, err := control.Send.Ask(ctx, h.client, control.SendRequest{As: h.near.human, To: []string{to}, Body: body, HeardWithin: patience})
	if err != nil {
		return err
	}
	heard := time.Since(began)
	if len(m.Heard) != 1 {
		return fmt.Errorf("waited %s in vain until a message was heard by the other host", patience)
	}
	if counts {
		h.heard = append(h.heard, heard)
		h.entry = append(h.entry, h.came.of(m.Path.String()).Sub(began))
	}
	return nil
}

// openBare prepares the yardsticks of the nodes.
func (h *hop) openBare(ctx context.Context) (err error) {
	for _, name := range []string{"near", "far"} {
		disk, err := openBare(h.path(name))
		if err != nil {
			return err
		}
		h.disks = append(h.disks, disk)
	}
	h.link, err = openLinks(ctx, 1, func(_ int, m *nats.Msg) {
		h.there <- time.Now()
		if h.disks[1].append(m.Data) == nil { // otherwise the one who asks waits in vain, and says so
			_ = m.Respond(nil)
		}
	})
	return err
}

func (h *hop) close() error {
	if h.link != nil {
		h.link.close()
	}
	var errs []error
	for _, d := range h.disks {
		errs = append(errs, d.close())
	}
	return errors.Join(errs...)
}

// bare does what a message needs, only with the disk and NATS.
func (h *hop) bare(ctx context.Context, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, natsWait)
	defer cancel()
	began := time.Now()
	if err := h.disks[0].append(data); err != nil {
		return err
	}
	synced := time.Now()
	if _, err := h.link.hub.RequestWithContext(ctx, natsSubject, data); err != nil {
		return fmt.Errorf("cannot ask over bare NATS: %w", err)
	}
	replied := time.Now()
	there := <-h.there
	if _, err := h.link.hub.RequestWithContext(ctx, natsEcho+".0", data); err != nil {
		return fmt.Errorf("cannot ask over bare NATS: %w", err)
	}
	h.nats = append(h.nats, time.Since(replied))
	h.fsync = append(h.fsync, synced.Sub(began))
	h.bareEntry = append(h.bareEntry, there.Sub(began))
	h.bareHeard = append(h.bareHeard, replied.Sub(began))
	return nil
}
