// Package agent holds the commands that say which agents a host serves, and how: parley agent. It
// also holds the table of agents that other commands show.
package agent

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewCommand is parley agent.
func NewCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:     "agent",
		Short:   "Say which agents this host serves, and how",
		Example: `  parley agent add calc --exec 'bc -l'`,
	}, newAddCommand(p), newListCommand(p), newShowCommand(p), newSetCommand(p), newPresetsCommand(p), newProfileCommand(p),
		newTestCommand(p), newTokenCommand(p), newPauseCommand(p), newResumeCommand(p), newRemoveCommand(p))
}

func newAddCommand(p *cli.Program) *cobra.Command {
	r := control.AddAgentRequest{Settings: control.Given{}}
	cmd := &cobra.Command{
		Use:   "add [NAME] --exec 'CMD …' | --preset PRESET | --inbox",
		Short: "Serve an agent on this host",
		Long: `Serve an agent on this host, behind one of two doors.

--exec runs a command for each message: standard input is the message's text,
standard output the reply. The command line is split as a shell would and run
without one. --preset does so with what is known of an agent program (see
"parley agent presets"); NAME is the preset's where it is left out. --inbox runs
nothing: the agent asks with "parley inbox", unless --wake names a command that
wakes its program; that is given what came on standard input. --session has the
sessions that you open of a program in --dir speak as this agent.

With --input prompt the command is given more than the text: the agent's
profile, what the channel is for, the memories that apply, the conversation that
the agent may see, and the message, fenced off as what others said. In the
command line {prompt} stands for all that, if the program wants it as an
argument, and {output} for a file from which the answer is read.

Whoever can write to the agent decides what its command reads. Give it no more
rights than that deserves: where the node runs as root, --run-as runs the
command as another user, who cannot read the home. --env and --limit, each given
as often as needed, say what it gets of the environment and what each run of it
may use: nice, memory, cpu, files, processes, network (none or host) and output.`,
		Example: `  parley agent add calc --exec 'bc -l'
  parley agent add --preset claude --dir ~/project
  parley agent add sage --preset gemini --profile precise-generalist
  parley agent add helper --exec ./helper.sh --limit memory=2GB --limit cpu=10m
  parley agent add mawjs --inbox
  parley agent add mawjs --session claude --dir ~/project`,
		Args: cli.Between(0, 1, "the agent's name"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			r.Inbox = r.Inbox || strings.Join(r.Settings["session"], "") != "" && r.Exec == "" && r.Preset == ""
			if each.Count([]bool{r.Exec != "", r.Preset != "", r.Inbox}, func(given bool) bool { return given }) != 1 {
				return cli.UsageErrorf(cmd, "%s needs one of --exec 'CMD …', --preset PRESET and --inbox", cmd.CommandPath())
			}
			switch {
			case len(args) > 0:
				r.Name = args[0]
			case r.Preset != "":
				r.Name = r.Preset
			default:
				return cli.UsageErrorf(cmd, "%s needs the agent's name", cmd.CommandPath())
			}
			if len(r.Settings["dir"]) == 0 {
				here, err := filepath.Abs(".")
				if err != nil {
					return fmt.Errorf("cannot find this folder: %w", err)
				}
				r.Settings["dir"] = []string{here}
			}
			return runAdd(cmd.Context(), r, client, v)
		}),
	}
	f := cmd.Flags()
	f.StringVar(&r.Exec, "exec", "", "the command that answers each message")
	f.StringVar(&r.Preset, "preset", "", "a known agent program, such as claude")
	f.BoolVar(&r.Inbox, "inbox", false, "the agent asks for its mail")
	f.BoolVar(&r.AnswerOld, "answer-old", false, "run the command for old mail too, which the record holds already and nobody has read")
	settingFlags(f, r.Settings, func(s configs.Setting) bool { return s.InAdd })
	p.JSONFlag(cmd, "print the agent as JSON")
	// It fails only if there is no such flag.
	_ = cmd.RegisterFlagCompletionFunc("preset", func(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		return completePresets(cmd, nil, begun)
	})
	return cmd
}

func runAdd(ctx context.Context, r control.AddAgentRequest, client control.Service, v cli.View) error {
	preset, _ := configs.FindPreset(r.Preset) // an unknown one is the node's to refuse
	if command := cmp.Or(r.Exec, preset.Exec); v.Located(command) != command {
		r.Exec = v.Located(command)
	}
	locate(r.Settings, v)
	a, err := control.AddAgent.Ask(ctx, client, r)
	return v.Show(a, err, func() {
		v.Out.Printf("%s is served here, door %s\n", a.Name, a.Door)
		if a.Missing != "" {
			NoteMissing(v, a)
			if preset.Install != "" {
				v.Note("to install it: " + preset.Install)
			}
			return
		}
		if a.ProfileState != "" && a.ProfileState != control.ProfileAccepted {
			v.Next(fmt.Sprintf("parley agent profile accept %s", a.Name), "read its profile in the record: it is text of others until you accept it")
		}
		session := strings.Join(r.Settings["session"], "")
		switch {
		case session != "":
			v.Next(session, "in that folder: the session is "+a.Name.String())
		case r.Inbox:
			v.Next(fmt.Sprintf("parley inbox --as %s", a.Name), "its mail")
		case r.Preset != "":
			v.Next(fmt.Sprintf("parley agent test %s", a.Name), "see whether it answers; nothing of it is kept")
		default:
			v.Next(fmt.Sprintf("parley hey %s --wait 30s TEXT", a.Name), "ask it something")
		}
	})
}

func newListCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "list",
		Short:   "List the agents that this host serves",
		Example: `  parley agent list`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: cli.Asks(p, control.Agents.Verb, nil, func(v cli.View, agents []control.Agent) {
			if len(agents) == 0 {
				v.Next("parley agent add calc --exec 'bc -l'", "no agent is served here yet")
				return
			}
			Table(v, agents)
			for _, a := range agents {
				NoteMissing(v, a)
			}
		}),
	}, "print an array of agents as JSON")
}

// Coloured is what an agent is at, red if it does not work and yellow if it is held up; else as `well`
// has it.
func Coloured(v cli.View, w control.AgentWork, text string, well func(string) string) string {
	switch standing.Hindrance(w) {
	case causes.Red:
		return v.Out.Bad(text)
	case causes.Yellow:
		return v.Out.Warn(text)
	}
	return well(text)
}

// Table shows the agents served here as a table.
func Table(v cli.View, agents []control.Agent) {
	t := term.Table{Heading: []string{"AGENT", "DOOR", "STATE", "WAITING", "RUNNING", "INPUT", "COMMAND", "FOLDER"}, Flexible: 6}
	t.Paint = term.Paint{Column: 2, Style: func(row int, cell string) string {
		return Coloured(v, agents[row].AgentWork, cell, func(text string) string { return text })
	}}
	for _, a := range agents {
		state, input := stateOf(a), ""
		if a.Input == configs.InputPrompt {
			input = a.Input
		}
		t.Rows = append(t.Rows, []string{
			a.Name.String(), a.Door, state, strconv.Itoa(max(a.Queued, a.Unread)), strconv.Itoa(a.Running), input,
			term.Line(commandsOf(a)), term.Line(a.Dir),
		})
	}
	v.Table(t, cli.Squeeze{Column: 6, Least: 13}, cli.Squeeze{Column: 7, Least: 16, Cut: cli.ToEnd}, cli.Squeeze{Column: 5}, cli.Squeeze{Column: 7}, cli.Squeeze{Column: 2, Least: 16})
}

// stateOf says in a few words what an agent does. For an agent with a command, it says only what
// hinders it.
func stateOf(a control.Agent) string {
	var words []string
	if a.Door == configs.DoorInbox && a.Presence != "" {
		words = append(words, term.Line(string(a.Presence)))
	}
	if hindered := standing.Hindered(a.AgentWork); hindered != "" {
		words = append(words, hindered)
	}
	if !a.QuietUntil.IsZero() {
		words = append(words, cli.Waiting(control.WhyQuiet))
	}
	return strings.Join(words, ", ")
}

// commandsOf is the command with which an agent's messages are run, or its tiers in the form that
// agent set takes. For an agent with an inbox, it is the command that wakes it.
func commandsOf(a control.Agent) string {
	if len(a.Tiers) == 0 {
		return cmp.Or(a.Command, a.Wake)
	}
	tiers := make([]string, len(a.Tiers))
	for i, t := range a.Tiers {
		tiers[i] = t.Name
		if t.Count > 1 {
			tiers[i] += "*" + strconv.Itoa(t.Count)
		}
		tiers[i] += "=" + t.Exec
	}
	return strings.Join(tiers, ", ")
}

func newRemoveCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "remove NAME",
		Short:   "Stop serving an agent, also while no node runs",
		Example: `  parley agent remove calc`,
		Args:    cli.Exactly(1, "the agent's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, offline, err := changeAgents(cmd.Context(), p, control.RemoveAgent, named(args), agentFiles.RemoveAgent)
			if err != nil {
				return err
			}
			v := p.View()
			v.Out.Printf("%s is no longer served here%s\n", term.Line(args[0]), fromNextStart(offline))
			return nil
		},
	}
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}
