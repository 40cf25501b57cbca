package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newAgentCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "agent",
		Short:   "Say which agents this host serves",
		Example: `  parley agent add calc --exec 'bc -l'`,
		Args:    unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usageErrorf(cmd, "%s needs add, list or remove", cmd.CommandPath())
		},
	}
	cmd.AddCommand(newAgentAddCommand(p), newAgentListCommand(p), newAgentRemoveCommand(p))
	return cmd
}

func newAgentAddCommand(p *program) *cobra.Command {
	var r control.AddAgentRequest
	cmd := &cobra.Command{
		Use:   "add NAME --exec 'CMD …' | --inbox",
		Short: "Serve an agent on this host",
		Long: `Serve an agent on this host, behind one of two doors.

--exec runs a command for each message: standard input is the message's text,
standard output the reply. The command line is split as a shell would and run
without one. --inbox runs nothing: the agent asks with "parley inbox".`,
		Example: `  parley agent add calc --exec 'bc -l'
  parley agent add mawjs --inbox`,
		Args: exactly(1, "the agent's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (r.Exec != "") == r.Inbox {
				return usageErrorf(cmd, "%s needs either --exec 'CMD …' or --inbox", cmd.CommandPath())
			}
			dir, err := filepath.Abs(r.Dir)
			if err != nil {
				return fmt.Errorf("cannot find the folder %s: %w", r.Dir, err)
			}
			client, err := p.client()
			if err != nil {
				return err
			}
			r.Name, r.Dir = args[0], dir
			return runAgentAdd(cmd.Context(), r, client, p.view())
		},
	}
	cmd.Flags().StringVar(&r.Exec, "exec", "", "the command that answers each message")
	cmd.Flags().BoolVar(&r.Inbox, "inbox", false, "the agent asks for its mail")
	cmd.Flags().StringVar(&r.Dir, "dir", "", "the folder it works in (default: this one)")
	p.jsonFlag(cmd, "print the agent as JSON")
	return cmd
}

func runAgentAdd(ctx context.Context, r control.AddAgentRequest, client control.Service, v view) error {
	a, err := client.AddAgent(ctx, r)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(a)
	}
	v.out.Printf("%s is served here, door %s\n", a.Name, a.Door)
	if r.Inbox {
		v.next(fmt.Sprintf("parley inbox --as %s", a.Name), "its mail")
	} else {
		v.next(fmt.Sprintf("parley hey %s --wait 30s TEXT", a.Name), "ask it something")
	}
	return nil
}

func newAgentListCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the agents that this host serves",
		Example: `  parley agent list`,
		Args:    exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			return runAgentList(cmd.Context(), client, p.view())
		},
	}
	p.jsonFlag(cmd, "print an array of agents as JSON")
	return cmd
}

func runAgentList(ctx context.Context, client control.Service, v view) error {
	agents, err := client.Agents(ctx)
	if err != nil {
		return err
	}
	if v.json {
		return v.writeJSON(agents)
	}
	if len(agents) == 0 {
		v.next("parley agent add calc --exec 'bc -l'", "no agent is served here yet")
		return nil
	}
	v.agents(agents)
	return nil
}

// agents shows the agents served here as a table.
func (v view) agents(agents []control.Agent) {
	t := term.Table{Heading: []string{"AGENT", "DOOR", "WAITING", "RUNNING", "COMMAND", "FOLDER"}, Flexible: 4}
	for _, a := range agents {
		t.Rows = append(t.Rows, []string{
			a.Name.String(), a.Door, strconv.Itoa(max(a.Queued, a.Unread)), strconv.Itoa(a.Running), term.Line(a.Command), term.Line(a.Dir),
		})
	}
	v.out.Table(t)
}

func newAgentRemoveCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Stop serving an agent; what it wrote and was sent stays",
		Example: `  parley agent remove calc`,
		Args:    exactly(1, "the agent's name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := p.client()
			if err != nil {
				return err
			}
			return runAgentRemove(cmd.Context(), control.RemoveAgentRequest{Name: args[0]}, client, p.view())
		},
	}
}

func runAgentRemove(ctx context.Context, r control.RemoveAgentRequest, client control.Service, v view) error {
	if err := client.RemoveAgent(ctx, r); err != nil {
		return err
	}
	v.out.Printf("%s is no longer served here\n", term.Line(r.Name))
	v.next("parley agent list", "who still is")
	return nil
}
