package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/node/control"
)

const bareCommand = "the agent's command alone: fork, exec and its end"

func replyMeasure() Measure {
	return Measure{
		Name: "reply", What: "an agent on this host is asked and answers", take: takeReply,
		Figures: []Spec{
			{Name: "reply_p50", Unit: "ms", What: "from the request until the answer of this host's agent is here, its command run: median", Better: Lower,
				Beside: bareCommand, Aim: 4, AimOn: OnRatio},
			{Name: "reply_p99", Unit: "ms", What: "from the request until the answer of this host's agent is here: 99 of 100 take no longer", Better: Lower,
				Beside: bareCommand},
		},
	}
}

func acrossMeasure() Measure {
	return Measure{
		Name: "across", What: "an agent on another host is asked and answers", take: takeAcross,
		Figures: []Spec{
			{Name: "across_p50", Unit: "ms", What: "from the request until the answer of another host's agent is here, its command run: median", Better: Lower,
				Beside: bareCommand, Aim: 6, AimOn: OnRatio},
			{Name: "across_p99", Unit: "ms", What: "from the request until the answer of another host's agent is here: 99 of 100 take no longer", Better: Lower,
				Beside: bareCommand},
		},
	}
}

func oldMeasure() Measure {
	return Measure{
		Name: "old", What: "an agent is asked where many messages are in the record", take: takeOld,
		Figures: []Spec{
			{Name: "old_p50", Unit: "ms", What: "reply_p50 with 50,000 old messages", Better: Lower,
				Beside: "the same without old messages", Aim: 1.2, AimOn: OnRatio, Full: true},
		},
	}
}

func takeReply(ctx context.Context, s *stand) (_ readings, err error) {
	n, err := s.startAnswering(ctx, "host", 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	answered, alone, err := s.askMany(ctx, n, s.count(500, 60))
	return besideEachOther("reply", answered, alone), err
}

func takeAcross(ctx context.Context, s *stand) (_ readings, err error) {
	pair, err := s.startHosts(ctx, wantedHosts{size: 2})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pair.stop()) }()
	if err := serveAnswering(ctx, pair.nodes[1]); err != nil {
		return nil, err
	}
	if err := awaitAnswering(ctx, pair.nodes[0]); err != nil {
		return nil, err
	}
	answered, alone, err := s.askMany(ctx, pair.nodes[0], s.count(500, 60))
	return besideEachOther("across", answered, alone), err
}

// takeOld asks two nodes in turn, so that other work of the machine affects both.
func takeOld(ctx context.Context, s *stand) (_ readings, err error) {
	empty, err := s.startAnswering(ctx, "empty", 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, empty.stop()) }()
	full, err := s.startAnswering(ctx, "full", s.count(50_000, 2000))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, full.stop()) }()
	var with, without []time.Duration
	for many := s.count(300, 40); len(with) < many; {
		for n, times := range map[*runningNode]*[]time.Duration{empty: &without, full: &with} {
			answered, _, err := s.askMany(ctx, n, 1)
			if err != nil {
				return nil, err
			}
			*times = append(*times, answered...)
		}
	}
	return readings{"old_p50": {value: milliseconds(percentile(with, 50)), yardstick: milliseconds(percentile(without, 50))}}, nil
}

// startAnswering runs a node that has that many messages, and the agent that answers.
func (s *stand) startAnswering(ctx context.Context, name string, old int) (_ *runningNode, err error) {
	home, err := newHome(ctx, s.path(name), nil)
	if err == nil && old > 0 {
		_, err = s.fill(ctx, home, old)
	}
	if err != nil {
		return nil, err
	}
	n, err := runNode(ctx, home, zerolog.Nop())
	if err != nil {
		return nil, err
	}
	n.human = "nat"
	if old > 0 {
		err = s.rest(ctx, control.NewClient(home.Socket(), version))
	}
	if err == nil {
		err = serveAnswering(ctx, n)
	}
	if err != nil {
		return nil, errors.Join(err, n.stop())
	}
	return n, nil
}

// serveAnswering has a node serve the agent that answers.
func serveAnswering(ctx context.Context, n *runningNode) error {
	command, err := exec.LookPath(answering)
	if err != nil {
		return skipped(fmt.Sprintf("there is no program %s", answering))
	}
	_, err = control.AddAgent.Ask(ctx, n, control.AddAgentRequest{Name: "echo", Exec: command + " done"})
	return err
}

func awaitAnswering(ctx context.Context, n *runningNode) error {
	return until(ctx, "the other host knows the agent", time.Millisecond, func() (bool, error) {
		list, err := control.List.Ask(ctx, n, control.HostsRequest{})
		for _, p := range list {
			if p.Name == "echo" {
				return true, nil
			}
		}
		return false, err
	})
}

// askMany asks the agent that answers, and runs its command alone, in turn.
func (s *stand) askMany(ctx context.Context, n *runningNode, many int) (answered, alone []time.Duration, err error) {
	client := control.NewClient(n.home.Socket(), version)
	for len(answered) < many {
		if many > 1 {
			s.progress("asking", len(answered), many)
		}
		began := time.Now()
		if err := ask(ctx, client, n.human); err != nil {
			return nil, nil, err
		}
		answered = append(answered, time.Since(began))
		began = time.Now()
		if err := runAlone(ctx); err != nil {
			return nil, nil, err
		}
		alone = append(alone, time.Since(began))
	}
	return answered, alone, nil
}

// besideEachOther returns the median and the slow end of a measure, each beside its yardstick.
func besideEachOther(name string, measured, bare []time.Duration) readings {
	read := func(p int) reading {
		return reading{value: milliseconds(percentile(measured, p)), yardstick: milliseconds(percentile(bare, p))}
	}
	return readings{name + "_p50": read(50), name + "_p99": read(99)}
}

// runAlone runs the command of the agent that answers.
func runAlone(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, answering, "done")
	cmd.Stdin = strings.NewReader("a question")
	if _, err := cmd.Output(); err != nil {
		return fmt.Errorf("cannot run %s: %w", answering, err)
	}
	return nil
}
