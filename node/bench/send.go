package bench

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

func sendMeasure() Measure {
	return Measure{
		Name: "send", What: "programs send messages through a node's socket", take: takeSend,
		Figures: []Spec{
			{Name: "send_p50", Unit: "ms", What: "one program, through the socket of a node until its answer: median", Better: Lower,
				Beside: "append and fsync of as many bytes to one bare file"},
			{Name: "send_p99", Unit: "ms", What: "one program, through the socket of a node until its answer: 99 of 100 take no longer", Better: Lower,
				Beside: "append and fsync of as many bytes to one bare file"},
			{Name: "send_rate", Unit: "/s", What: "64 programs: messages a second through the socket of a node", Better: Higher,
				Beside: `"git add" and "git commit" of each message`},
		},
	}
}

func takeSend(ctx context.Context, s *stand) (_ readings, err error) {
	n, err := startNode(ctx, s.path("home"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	// With the first message, the node gets to know the addressee.
	if err := sendOne(ctx, n.Node, "hello"); err != nil {
		return nil, err
	}
	alone, synced, err := s.sendAlone(ctx, n)
	if err != nil {
		return nil, err
	}
	many := s.count(20_000, 500)
	took, err := s.sendTogether(ctx, n, many)
	if err != nil {
		return nil, err
	}
	rate := reading{value: perSecond(many, took)}
	commit, err := s.tools.commitTime(ctx)
	var noGit skipped
	if err != nil && !errors.As(err, &noGit) {
		return nil, err
	}
	if commit > 0 {
		rate.yardstick = perSecond(1, commit)
	}
	return readings{
		"send_p50":  {value: milliseconds(percentile(alone, 50)), yardstick: milliseconds(percentile(synced, 50))},
		"send_p99":  {value: milliseconds(percentile(alone, 99)), yardstick: milliseconds(percentile(synced, 99))},
		"send_rate": rate,
	}, nil
}

func sendOne(ctx context.Context, to control.Service, body string) error {
	_, err := control.Send.Ask(ctx, to, control.SendRequest{To: []string{"mawjs"}, Body: body, Anyway: true})
	return err
}

// sendAlone has one program send, in turn with appends of as many bytes as a message has.
func (s *stand) sendAlone(ctx context.Context, n *runningNode) (sent, synced []time.Duration, err error) {
	client := control.NewClient(n.home.Socket(), version)
	random := rand.New(rand.NewPCG(4, 0))
	bare, err := openBare(s.path("bare"))
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, bare.close()) }()
	like, err := s.lettersOfADay(ctx, "bench", 1)
	if err != nil {
		return nil, nil, err
	}
	for many := s.count(2000, 200); len(sent) < many; {
		s.progress("sending one by one", len(sent), many)
		for range storedBlock {
			body, began := text(random), time.Now()
			if err := sendOne(ctx, client, body); err != nil {
				return nil, nil, err
			}
			sent = append(sent, time.Since(began))
		}
		for range storedBlock {
			began := time.Now()
			if err := bare.append(like[0].Data); err != nil {
				return nil, nil, err
			}
			synced = append(synced, time.Since(began))
		}
	}
	return sent, synced, nil
}

// sendTogether has as many programs as there are `senders` send `many` messages in all. It returns
// how long it took until the last one was in a commit.
func (s *stand) sendTogether(ctx context.Context, n *runningNode, many int) (time.Duration, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next atomic.Int64
	var sending sync.WaitGroup
	began := time.Now()
	for i := range senders {
		sending.Go(func() {
			client, random := control.NewClient(n.home.Socket(), version), rand.New(rand.NewPCG(5, uint64(i)))
			for ctx.Err() == nil {
				at := next.Add(1)
				if at > int64(many) {
					return
				}
				if at%500 == 0 {
					s.progress("sending with 64 programs", int(at), many)
				}
				if err := sendOne(ctx, client, text(random)); err != nil {
					fail(err)
				}
			}
		})
	}
	sending.Wait()
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	err := until(ctx, "all messages were recorded", time.Millisecond, func() (bool, error) {
		status, err := control.ShowStatus.Ask(ctx, n)
		return err == nil && status.Record.Unrecorded == 0, err
	})
	return time.Since(began), err
}
