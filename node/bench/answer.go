package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/node/control"
)

// answering is the command of the agent that answers. It takes as little time as a command can.
const answering = "echo"

func answerMeasure() Measure {
	return Measure{
		Name: "answer", What: "an agent on another host is asked and answers", take: takeAnswer,
		Figures: []Spec{
			{Name: "answer_p50", Unit: "ms", What: "from the request until the answer of another host's agent is here, its command run: median", Better: Lower,
				Beside: bareCommand, Aim: 30, AimOn: OnValue},
			{Name: "answer_p99", Unit: "ms", What: "from the request until the answer of another host's agent is here, its command run: 99 of 100 take no longer", Better: Lower,
				Beside: bareCommand},
		},
	}
}

func takeAnswer(ctx context.Context, s *stand) (_ readings, err error) {
	pair, err := s.startHosts(ctx, wantedHosts{size: 2})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pair.stop()) }()
	near, far := pair.nodes[0], pair.nodes[1]
	if err := serveAnswering(ctx, far); err != nil {
		return nil, err
	}
	if err := awaitAnswering(ctx, near); err != nil {
		return nil, err
	}
	answered, alone, err := s.askMany(ctx, near, s.count(500, 60))
	return besideEachOther("answer", answered, alone), err
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
