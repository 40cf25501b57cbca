package agent

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newShowCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show NAME",
		Short: "Show how an agent is served, with all that is set",
		Long: `Show how an agent of this host is served, with all that is set, called as the
flags of "parley agent set", and what holds where nothing is said. Of variables
of the environment the names are shown.`,
		Example: `  parley agent show mawjs
  parley agent show mawjs --json`,
		Args: cli.Exactly(1, "the agent's name"),
		RunE: cli.Asks(p, control.ShowAgent, named, showAgent),
	}
	p.JSONFlag(cmd, "print the agent and its settings as JSON")
	cmd.ValidArgsFunction = p.CompleteAgents
	return cmd
}

func named(args []string) control.AgentRequest { return control.AgentRequest{Name: args[0]} }

func showAgent(v cli.View, a control.AgentSettings) {
	width := len("agent:")
	for _, s := range a.Settings {
		width = max(width, len(s.Name)+1)
	}
	v.Labelled(width, "agent", a.Name.String())
	v.Labelled(width, "state", stateAndWork(a.Agent))
	for _, s := range a.Settings {
		v.Labelled(width, s.Name, s.Value)
	}
	NoteMissing(v, a.Agent)
}

// NoteMissing says, on standard error, why an agent cannot start, and the command that helps.
func NoteMissing(v cli.View, a control.Agent) {
	if a.Missing == "" {
		return
	}
	for _, line := range cli.WrapWords(term.Line("note: "+MissingText(v, a)), v.Err.Width) {
		v.Err.Printf("%s\n", v.Err.Warn(line))
	}
}

// MissingText says why an agent cannot start, and the command that helps: with the whole path of its
// program, if the shell finds that.
func MissingText(v cli.View, a control.Agent) string {
	given := control.Given{"exec": {a.Command}}
	switch {
	case a.Wake != "":
		given = control.Given{"wake": {a.Wake}}
	case len(a.Tiers) > 0:
		given = control.Given{"tier": nil}
		for _, t := range a.Tiers {
			given["tier"] = append(given["tier"], fmt.Sprintf("%s*%d=%s", t.Name, t.Count, t.Exec))
		}
	}
	was := fmt.Sprint(given)
	locate(given, v)
	text, set := a.Name.String()+" "+a.Missing, "parley agent set "+a.Name.String()
	if fmt.Sprint(given) == was {
		return text + "; to change what it runs: " + v.Command(set+" --exec 'PROGRAM …'")
	}
	for name, values := range given {
		for _, value := range values {
			set += " --" + name + " " + cli.ShellWord(value)
		}
	}
	return text + "; your shell finds it, so: " + v.Command(set)
}

func stateAndWork(a control.Agent) string {
	words := []string{fmt.Sprintf("%d running", a.Running), fmt.Sprintf("%d waiting", a.Queued)}
	if a.Unread > 0 {
		words = []string{fmt.Sprintf("%d unread", a.Unread)}
	}
	if state := stateOf(a); state != "" {
		words = append(words, state)
	}
	return strings.Join(words, ", ")
}
