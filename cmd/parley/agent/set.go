package agent

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newSetCommand(p *cli.Program) *cobra.Command {
	given := control.Given{}
	cmd := &cobra.Command{
		Use:   "set NAME",
		Short: "Change how an agent is served",
		Long: `Change how an agent is served, while the node runs or not. What is not named
stays as it is, comments in its file too. Mail that waits is handled as the
agent is served from then on; a command that runs ends as it began. An empty
value takes a setting back: --dir '' for the folder where the node runs,
--timeout 0 for the time that config.yaml gives, --limit memory= for no limit of
memory, --env '' for all of the environment, --wakes-on '' for the usual acts,
--quiet '' for no quiet hours.

An agent has one command, or several tiers, each with a command and a count of
how many may run at once; --tier, given once for each, names them all anew.`,
		Example: `  parley agent set calc --exec 'bc -lq' --timeout 10s
  parley agent set calc --limit memory=500MB --limit nice=10 --env PATH
  parley agent set mawjs --input prompt --profile precise-generalist
  parley agent set sage --tier 'small*5=llm -m s' --tier 'large=llm -m l'`,
		Args: cli.Exactly(1, "the agent's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(given) == 0 {
				return cli.UsageErrorf(cmd, "%s needs what is to be changed, such as --timeout 30s", cmd.CommandPath())
			}
			return runSet(cmd.Context(), control.SetAgentRequest{Name: args[0], Settings: given}, p)
		},
	}
	settingFlags(cmd.Flags(), given, func(s configs.Setting) bool { return s.InSet })
	p.JSONFlag(cmd, "print the agent as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}

// settingFlags makes a flag of each setting of an agent that `has` one. What is given to them is put
// into `given`.
func settingFlags(f *pflag.FlagSet, given control.Given, has func(configs.Setting) bool) {
	for _, s := range configs.AgentSettings(new(configs.Agent)) {
		if !has(s) {
			continue
		}
		flag := f.VarPF(settingFlag{s, given}, s.Name, "", s.Doc)
		if s.IsBool {
			flag.NoOptDefVal = "true"
		}
	}
}

// locate has the commands among settings name their programs by whole paths, where the shell finds
// them.
func locate(given control.Given, v cli.View) {
	for _, name := range []string{"exec", "wake", "tier"} {
		for i, text := range given[name] {
			tier := ""
			if name == "tier" {
				tier, text, _ = strings.Cut(text, "=")
				tier += "="
			}
			given[name][i] = tier + v.Located(text)
		}
	}
}

type settingFlag struct {
	configs.Setting
	given control.Given
}

// String is empty: what the setting is now is not known here.
func (settingFlag) String() string { return "" }

// Set takes a text, unless the setting cannot have it.
func (s settingFlag) Set(text string) (err error) {
	if s.IsPath && text != "" {
		if text, err = filepath.Abs(text); err != nil {
			return err
		}
	}
	if err := s.Take([]string{text}); err != nil {
		return errors.Unwrap(err) // the flag is named already
	}
	if !s.List {
		delete(s.given, s.Name)
	}
	s.given[s.Name] = append(s.given[s.Name], text)
	return nil
}

// Type is the name of the value's type in help.
func (s settingFlag) Type() string {
	if s.IsBool {
		return "bool"
	}
	return "string"
}

func runSet(ctx context.Context, r control.SetAgentRequest, p *cli.Program) error {
	v := p.View()
	locate(r.Settings, v)
	a, offline, err := changeAgents(ctx, p, control.SetAgent, r, agentFiles.SetAgent)
	return v.Show(a, err, func() {
		if len(a.Changed) == 0 {
			v.Out.Printf("%s is served so already: nothing was changed\n", a.Name)
			return
		}
		for _, c := range a.Changed {
			v.Out.Printf("%s: %s %s → %s\n", a.Name, term.Line(c.Name), orNone(c.Was), orNone(c.Now))
		}
		if offline {
			v.Out.Printf("%s is changed%s\n", a.Name, fromNextStart(offline))
		}
		NoteMissing(v, a.Agent)
	})
}

func orNone(value string) string { return term.Line(cmp.Or(value, "none")) }
