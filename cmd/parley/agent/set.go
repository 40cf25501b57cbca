package agent

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// agentChange holds the values of the flags of "agent set".
type agentChange struct {
	exec, input, profile, open, dir, rerun, wake string
	accepts, takeover, examiner, soul            string
	tiers, env, limits, quiet, wakesOn           []string
	timeout                                      time.Duration
	attempts                                     int
	inbox, answers                               bool
}

func newSetCommand(p *cli.Program) *cobra.Command {
	var given agentChange
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
			r, err := given.request(cmd, args[0])
			if err != nil {
				return err
			}
			return runSet(cmd.Context(), r, p)
		},
	}
	f := cmd.Flags()
	f.StringVar(&given.exec, "exec", "", "the command that answers each message")
	f.StringArrayVar(&given.tiers, "tier", nil, "a tier, as `'NAME*COUNT=CMD'`; *COUNT is 1 where it is left out")
	f.BoolVar(&given.inbox, "inbox", false, "no command: the agent asks for its mail")
	f.StringVar(&given.input, "input", "", "what the command is given: text or prompt")
	f.StringVar(&given.profile, "profile", "", "the actor profile that its prompts begin with")
	f.StringVar(&given.open, "open", "", "the command of its interactive program, for parley open")
	f.StringVar(&given.wake, "wake", "", "the command that wakes the program of an agent with an inbox")
	f.StringArrayVar(&given.quiet, "quiet", nil, quietUsage)
	f.StringArrayVar(&given.env, "env", nil, envUsage)
	f.StringArrayVar(&given.limits, "limit", nil, limitUsage)
	cli.DurationFlag(f, &given.timeout, "timeout", "how long an answer may take")
	f.IntVar(&given.attempts, "attempts", 0, "how often a command that fails is started for a message, `N` times; 0: 3 times")
	f.StringVar(&given.rerun, "rerun", "", rerunUsage)
	f.StringVar(&given.dir, "dir", "", "the folder it works in")
	f.BoolVar(&given.answers, "answers", false, "run it on answers to its own messages too (--answers=false: no more)")
	f.StringVar(&given.takeover, "takeover-after", "", takeoverUsage)
	f.StringVar(&given.examiner, "examiner", "", examinerUsage)
	f.StringVar(&given.soul, "soul", "", soulUsage)
	f.StringVar(&given.accepts, "accepts", "", acceptsUsage)
	f.StringSliceVar(&given.wakesOn, "wakes-on", nil, wakesUsage)
	p.JSONFlag(cmd, "print the agent as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}

// request is what the given flags ask for.
func (c *agentChange) request(cmd *cobra.Command, name string) (control.SetAgentRequest, error) {
	r := control.SetAgentRequest{Name: name, Inbox: c.inbox}
	changed := false
	for flag, set := range map[string]func() error{
		"exec":           func() error { r.Exec = &c.exec; return nil },
		"input":          func() error { r.Input = &c.input; return nil },
		"profile":        func() error { r.Profile = &c.profile; return nil },
		"open":           func() error { r.Open = &c.open; return nil },
		"timeout":        func() error { r.Timeout = &c.timeout; return nil },
		"attempts":       func() error { r.Attempts = &c.attempts; return nil },
		"rerun":          func() error { r.Rerun = &c.rerun; return nil },
		"answers":        func() error { r.Answers = &c.answers; return nil },
		"accepts":        func() error { r.Accepts = &c.accepts; return nil },
		"examiner":       func() error { r.Examiner = &c.examiner; return nil },
		"soul":           func() error { r.Soul = &c.soul; return nil },
		"takeover-after": func() error { r.TakeoverAfter = &c.takeover; return nil },
		"wakes-on": func() error {
			if r.WakesOn = c.wakesOn; len(r.WakesOn) == 0 {
				r.WakesOn = []string{""}
			}
			return nil
		},
		"inbox": func() error { return nil },
		"env":   func() error { r.Env = c.env; return nil },
		"limit": func() error { r.Limits = c.limits; return nil },
		"wake":  func() error { r.Wake = &c.wake; return nil },
		"quiet": func() error { r.Quiet = c.quiet; return nil },
		"dir": func() (err error) {
			if c.dir != "" {
				c.dir, err = filepath.Abs(c.dir)
			}
			r.Dir = &c.dir
			return err
		},
		"tier": func() (err error) {
			r.Tiers, err = parseTiers(c.tiers)
			return err
		},
	} {
		if !cmd.Flags().Changed(flag) {
			continue
		}
		changed = true
		if err := set(); err != nil {
			return r, cli.UsageErrorf(cmd, "cannot change the agent %s: %v", name, err)
		}
	}
	if !changed {
		return r, cli.UsageErrorf(cmd, "%s needs what is to be changed, such as --timeout 30s", cmd.CommandPath())
	}
	return r, nil
}

// parseTiers reads "haiku*5=CMD".
func parseTiers(given []string) (tiers []control.AgentTier, err error) {
	for _, text := range given {
		head, exec, ok := strings.Cut(text, "=")
		name, times, counted := strings.Cut(head, "*")
		t := control.AgentTier{Name: strings.TrimSpace(name), Count: 1, Exec: strings.TrimSpace(exec)}
		if counted {
			t.Count, err = strconv.Atoi(strings.TrimSpace(times))
		}
		if !ok || err != nil {
			return nil, fmt.Errorf("--tier %q is not of the form NAME*COUNT=CMD", text)
		}
		tiers = append(tiers, t)
	}
	return tiers, nil
}

func runSet(ctx context.Context, r control.SetAgentRequest, p *cli.Program) error {
	a, offline, err := changeAgents(ctx, p,
		func(client control.Service) (control.ChangedAgent, error) {
			return control.SetAgent.Ask(ctx, client, r)
		},
		func(files agentFiles) (control.ChangedAgent, error) { return files.SetAgent(r) })
	if err != nil {
		return err
	}
	v := p.View()
	if v.JSON {
		return v.WriteJSON(a)
	}
	if len(a.Changed) == 0 {
		v.Out.Printf("%s is served so already: nothing was changed\n", a.Name)
		return nil
	}
	for _, c := range a.Changed {
		v.Out.Printf("%s: %s %s → %s\n", a.Name, term.Line(c.Name), orNone(c.Was), orNone(c.Now))
	}
	if offline {
		v.Out.Printf("%s is changed%s\n", a.Name, fromNextStart(offline))
	}
	return nil
}

// orNone is the value of a setting.
func orNone(value string) string { return term.Line(cmp.Or(value, "none")) }
