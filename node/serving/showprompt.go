package serving

import (
	"context"
	"encoding/base64"
	"unicode/utf8"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/node/promptlog"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

// keep keeps what a command is about to be given. If the disk does not take it, the agent is run
// all the same: an answer is worth more than the chance to read the prompt later.
func (pr *prompts) keep(run runlog.Job, attempt int, j job, p prompt.Prompt) {
	err := pr.given.Keep(promptlog.Given{
		Path: run.Path, Agent: run.Agent, Retry: run.Again, Attempt: attempt, Tier: j.tier.Name, Input: agents.InputOf(j.agent), LeftOut: p.LeftOut.Total(),
	}, p)
	if err != nil {
		pr.Log.Warn().Err(err).Stringer("agent", run.Agent).Stringer("path", run.Path).Msg("what an agent is given is not kept")
	}
}

// Prompt answers control.ShowPrompt.
func (pr *prompts) Prompt(_ context.Context, by control.Caller, r control.PromptRequest) (control.Prompt, error) {
	it, err := pr.Find(r.Path)
	if err != nil {
		return control.Prompt{}, err
	}
	as := r.As
	if as == "" && by.Kind != control.Operator {
		as = by.Name.String() // an agent sees what it was given itself
	}
	if !r.Now {
		g, kept, err := pr.given.Find(it.Path, protocol.Name(as), r.Attempt)
		switch {
		case err != nil:
			return control.Prompt{}, err
		case kept:
			return givenView(g), nil
		case r.Attempt > 0:
			return control.Prompt{}, control.Errorf(control.KindNotFound, "what was done with it: parley why "+visible.Shell(it.Path.Short()),
				"what was given in attempt %d for %s is not kept: there was none, or it was let go", r.Attempt, it.Path.Short())
		}
	}
	a, err := pr.promptedAgent(it, as)
	if err != nil {
		return control.Prompt{}, err
	}
	if !r.Now && pr.handled(it, a) {
		return control.Prompt{}, control.Errorf(control.KindNotFound, "what it would be given now: parley prompt "+visible.Shell(it.Path.Short())+" --now",
			"what %s was given for %s is not kept: it was let go, or nothing was", a.Name, it.Path.Short())
	}
	return pr.would(it, a)
}

// handled reports whether the agent is done with a message, or was run for it.
func (pr *prompts) handled(it *fleet.Item, a configs.Agent) (yes bool) {
	pr.Folded(func(s *fleet.State) {
		for _, p := range s.Talk.Progress(it) {
			yes = yes || p.Name == a.Name.String() && p.Read
		}
	})
	if yes {
		return true
	}
	steps, err := pr.runs.History(it.Path)
	if err != nil {
		pr.Log.Warn().Err(err).Stringer("path", it.Path).Msg("cannot tell whether an agent was run")
	}
	for _, e := range steps {
		yes = yes || e.Agent == a.Name && e.Step == runlog.Started
	}
	return yes
}

// would shows what an agent would be given for a message now.
func (pr *prompts) would(it *fleet.Item, a configs.Agent) (control.Prompt, error) {
	asked, err := pr.Load(it)
	if err != nil {
		return control.Prompt{}, err
	}
	p, err := pr.givenFor(a, asked)
	if err != nil {
		return control.Prompt{}, err
	}
	return givenView(promptlog.Given{
		Agent: a.Name, Input: agents.InputOf(a), LeftOut: p.LeftOut.Total(), Parts: promptlog.Parts(p),
	}), nil
}

func givenView(g promptlog.Given) control.Prompt {
	text := g.Text()
	v := control.Prompt{
		Agent: g.Agent.String(), Input: g.Input, Text: text, LeftOut: g.LeftOut, Hash: promptlog.Hash(text),
		Attempt: g.Attempt, Retry: g.Retry, Tier: g.Tier, Time: g.Time,
		Parts: each.Of(g.Parts, func(p promptlog.Part) control.PromptPart {
			return control.PromptPart{Kind: string(p.Kind), Bytes: len(p.Text), Hash: p.Hash}
		}),
	}
	if !utf8.ValidString(text) {
		v.Base64 = base64.StdEncoding.EncodeToString([]byte(text))
	}
	return v
}
