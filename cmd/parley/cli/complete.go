package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// completeWithin is how long a shell waits at most when somebody presses Tab.
const completeWithin = 500 * time.Millisecond

// complete asks the node for words, unless `args` holds one. If the node does not answer, it says
// nothing.
func (p *Program) complete(args []string, words func(ctx context.Context, client control.Service) []string) ([]string, cobra.ShellCompDirective) {
	client, err := p.Client()
	if len(args) > 0 || err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(context.Background(), completeWithin)
	defer cancel()
	return words(ctx, client), cobra.ShellCompDirectiveNoFileComp
}

// CompleteNames completes the first word with the names of all who can be reached.
func (p *Program) CompleteNames(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(args, participants(false))
}

// CompletePartners completes the first word with the agents of the fleet, where a human is refused.
func (p *Program) CompletePartners(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(args, participants(true))
}

func participants(agents bool) func(context.Context, control.Service) []string {
	return func(ctx context.Context, client control.Service) (words []string) {
		all, _ := control.List.Ask(ctx, client, control.HostsRequest{})
		for _, one := range all {
			if one.Kind == "agent" || !agents {
				words = append(words, fmt.Sprintf("%s\t%s on %s", one.Name, one.Kind, one.Host))
			}
		}
		return words
	}
}

// CompleteAddresses completes the first word with agents in the form that wormhole uses.
func (p *Program) CompleteAddresses(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(args, func(ctx context.Context, client control.Service) []string {
		all, _ := control.List.Ask(ctx, client, control.HostsRequest{})
		return each.Of(all, func(one control.Participant) string { return one.Host.String() + ":" + one.Name.String() })
	})
}

// CompleteAgents completes the first word with the agents served here.
func (p *Program) CompleteAgents(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(args, func(ctx context.Context, client control.Service) []string {
		all, _ := control.Agents.Ask(ctx, client)
		return each.Of(all, func(a control.Agent) string { return a.Name.String() })
	})
}

// CompleteChannels completes the first word with the channels that have a name.
func (p *Program) CompleteChannels(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(args, channelWords)
}

func channelWords(ctx context.Context, client control.Service) []string {
	all, _ := control.Channels.Ask(ctx, client)
	var words []string
	for _, c := range all {
		if c.Name != "" && !strings.ContainsAny(c.Name, "\t\n") {
			words = append(words, c.Name)
		}
	}
	return words
}

// CompleteFlags completes the values of flags: with channels or parties if a flag takes one, else
// with participants or, where a human is refused, with agents.
func (p *Program) CompleteFlags(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		words := participants(false)
		switch flag {
		case "agent", "coordinator", "via", "with":
			words = participants(true)
		case "channel", "parent", "scope":
			words = channelWords
		case "party":
			words = partyWords
		}
		// It fails only if the command does not have the flag.
		_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return p.complete(nil, words)
		})
	}
}

// CompleteParties completes the first word with the parties that are on.
func (p *Program) CompleteParties(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(args, partyWords)
}

func partyWords(ctx context.Context, client control.Service) []string {
	list, _ := control.Parties.Ask(ctx, client, control.PartiesRequest{Fleet: true})
	return each.Of(list.Parties, func(party control.Party) string { return party.Short + "\t" + term.Line(party.Name) })
}

// CompleteGates completes the first word with the gates that wait for this host's human.
func (p *Program) CompleteGates(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(args, func(ctx context.Context, client control.Service) []string {
		list, _ := control.Gates.Ask(ctx, client, control.GatesRequest{})
		return each.Of(list.Gates, func(g control.Gate) string { return g.ID + "\t" + term.Line(g.Title) })
	})
}

// CompleteHosts completes the first word with the hosts of the fleet.
func (p *Program) CompleteHosts(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	return p.complete(args, func(ctx context.Context, client control.Service) []string {
		all, _ := control.Hosts.Ask(ctx, client, control.HostsRequest{All: true})
		return each.Of(all, func(h control.Host) string { return h.Alias.String() + "\t" + string(h.State) })
	})
}
