package serving

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/protocol"
)

// trials are runs of an agent's programs that no message asks for: the human tries the agent's
// command, or opens the program that the agent has for talking to a human.
type trials struct {
	*Options
	prompts *prompts
	Runner  *Runner
}

// Test answers control.TestAgent.
func (t *trials) Test(ctx context.Context, r control.TestRequest) (control.TestResult, error) {
	a, err := t.Roster.Get(r.Name)
	if err != nil {
		return control.TestResult{}, err
	}
	if a.Door != configs.DoorExec {
		return control.TestResult{}, control.Errorf(control.KindRefused, "", "%s asks for its mail itself: there is no command to test", a.Name)
	}
	given, err := t.prompts.aside(a, r.Text, t.Now())
	if err != nil {
		return control.TestResult{}, err
	}
	result := t.Runner.run(ctx, a, a.Tiers[0], given.Text, protocol.Path{}, "PARLEY_FROM="+t.Human.String())
	if result.Failure == door.Canceled {
		return control.TestResult{}, ctx.Err()
	}
	return control.TestResult{
		Agent: a.Name.String(), Command: a.Tiers[0].Exec, Input: given.Text, Answer: answerOf(a.Name, t.Host, result), Problem: result.Problem(),
		Stderr: result.Stderr, Elapsed: control.Seconds(result.Elapsed),
	}, nil
}

// Open answers control.Open.
func (t *trials) Open(_ context.Context, r control.OpenRequest) (control.Opening, error) {
	a, err := t.Roster.Get(r.Agent)
	if err != nil {
		return control.Opening{}, err
	}
	if a.Open == "" {
		return control.Opening{}, control.Errorf(control.KindRefused,
			"add it with --open 'CMD …', or talk to it: parley chat "+a.Name.String(), "%s has no interactive program", a.Name)
	}
	if a.RunAs != "" {
		return control.Opening{}, control.Errorf(control.KindRefused, "talk to it: parley chat "+a.Name.String(),
			"cannot open %s: it runs as %s, and its program would run as you", a.Name, a.RunAs)
	}
	argv, err := agents.OpenArgv(a.Open)
	if err != nil {
		return control.Opening{}, control.Errorf(control.KindFailed, "see agents/"+a.Name.String()+".yaml in the home", "cannot open %s: %v", a.Name, err)
	}
	channel, name, err := t.channelOf(a, r.Channel)
	if err != nil {
		return control.Opening{}, err
	}
	about, err := t.prompts.program(a, channel)
	if err != nil {
		return control.Opening{}, err
	}
	o := control.Opening{
		Agent: a.Name.String(), Channel: channel, ChannelName: name, Argv: argv, Dir: a.Dir, Context: about.Text,
		Env: append(t.Runner.environment(a, t.Runner.Callers.Standing(a.Name)), "PARLEY_CHANNEL="+channel.String()),
	}
	for i, word := range argv {
		if strings.Contains(word, configs.PlaceholderContext) {
			o.Argv[i] = strings.ReplaceAll(word, configs.PlaceholderContext, o.Context)
			o.Passed = true
		}
	}
	return o, nil
}

// channelOf finds the channel in which an agent's program is opened, and its name. That is the
// channel `named`; if it is "", the channel of the agent and the human.
func (t *trials) channelOf(a configs.Agent, named string) (id protocol.ChannelID, name string, err error) {
	id = protocol.DeriveChannel(t.Record.ID(), a.Name.String(), t.Human.String())
	t.Folded(func(s *fleet.State) {
		if named != "" {
			id, err = s.Channels.Find(named)
		}
		name = s.Channels.Name(id)
	})
	return id, name, err
}
