package bench

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/parleyfleet/parley/node/control"
)

// answering is the command of the agent that answers: one that takes as little
// time as a command can.
const answering = "echo"

func answerMeasure() Measure {
	const bare = `the agent's command alone`
	return Measure{
		Name: "answer", What: "an agent on another host is asked and answers", take: takeAnswer,
		Figures: []Spec{
			{Name: "answer_p50", Unit: "ms", What: "from the request until the answer of another host's agent is here, its command run: median", Better: Lower,
				Beside: bare, Aim: 30, AimOn: OnValue},
			{Name: "answer_p99", Unit: "ms", What: "from the request until the answer of another host's agent is here, its command run: 99 of 100 take no longer", Better: Lower,
				Beside: bare},
		},
	}
}

func takeAnswer(ctx context.Context, s *stand) (_ readings, err error) {
	command, err := exec.LookPath(answering)
	if err != nil {
		return nil, skipped(fmt.Sprintf("there is no program %s", answering))
	}
	pair, err := s.startHosts(ctx, wantedHosts{size: 2})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pair.stop()) }()
	near, far := pair.nodes[0], pair.nodes[1]
	if _, err := control.AddAgent.Ask(ctx, far, control.AddAgentRequest{Name: "echo", Exec: command + " done"}); err != nil {
		return nil, err
	}
	err = until(ctx, "the other host knows the agent", time.Millisecond, func() (bool, error) {
		list, err := control.List.Ask(ctx, near, control.HostsRequest{})
		for _, p := range list {
			if p.Name == "echo" {
				return true, nil
			}
		}
		return false, err
	})
	if err != nil {
		return nil, err
	}
	client := control.NewClient(near.home.Socket(), version)
	var answered, alone []time.Duration
	for many := s.count(500, 60); len(answered) < many; {
		s.progress("asking", len(answered), many)
		began := time.Now()
		if err := ask(ctx, client, near.human); err != nil {
			return nil, err
		}
		answered = append(answered, time.Since(began))
		began = time.Now()
		cmd := exec.CommandContext(ctx, command, "done")
		cmd.Stdin = strings.NewReader("a question")
		if _, err := cmd.Output(); err != nil {
			return nil, fmt.Errorf("cannot run %s: %w", command, err)
		}
		alone = append(alone, time.Since(began))
	}
	read := func(p int) reading {
		return reading{value: milliseconds(percentile(answered, p)), yardstick: milliseconds(percentile(alone, p))}
	}
	return readings{"answer_p50": read(50), "answer_p99": read(99)}, nil
}

// ask asks the agent and waits for its answer, as "parley hey --wait" does.
func ask(ctx context.Context, client *control.Client, human string) error {
	m, err := control.Send.Ask(ctx, client, control.SendRequest{As: human, To: []string{"echo"}, Body: "a question"})
	if err != nil {
		return err
	}
	answer, err := control.Wait.Ask(ctx, client, control.WaitRequest{Re: m.Path.String(), Within: patience})
	if err == nil && strings.TrimSpace(answer.Body) != "done" {
		err = fmt.Errorf("the agent answered %q", answer.Body)
	}
	return err
}
