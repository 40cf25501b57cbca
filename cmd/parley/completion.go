package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// completeWithin bounds what a shell waits for while someone presses Tab.
const completeWithin = 500 * time.Millisecond

func newCompletionCommand(*program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the script that completes parley's commands in your shell",
		Long: `Print the script with which a shell completes commands, flags, and the names of
agents, humans and channels, which it asks the node for.

  bash        echo 'source <(parley completion bash)' >> ~/.bashrc
  zsh         echo 'source <(parley completion zsh)' >> ~/.zshrc
  fish        parley completion fish > ~/.config/fish/completions/parley.fish
  powershell  parley completion powershell >> $PROFILE`,
		Example:   `  source <(parley completion bash)`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      exactly(1, "a shell: bash, zsh, fish or powershell"),
		RunE: func(cmd *cobra.Command, args []string) error {
			root, out := cmd.Root(), cmd.OutOrStdout()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(out, true)
			case "zsh":
				return root.GenZshCompletion(out)
			case "fish":
				return root.GenFishCompletion(out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(out)
			}
			return usageErrorf(cmd, "%q is no shell that parley knows: use bash, zsh, fish or powershell", args[0])
		},
	}
	return cmd
}

// complete asks the node for words, and is silent where it does not answer.
func (p *program) complete(words func(ctx context.Context, client control.Service) []string) ([]string, cobra.ShellCompDirective) {
	client, err := p.client()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(context.Background(), completeWithin)
	defer cancel()
	return words(ctx, client), cobra.ShellCompDirectiveNoFileComp
}

// completeNames completes the first word with who can be reached.
func (p *program) completeNames(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.complete(participants)
}

func participants(ctx context.Context, client control.Service) []string {
	all, _ := control.List.Ask(ctx, client, control.HostsRequest{})
	var words []string
	for _, one := range all {
		words = append(words, fmt.Sprintf("%s\t%s on %s", one.Name, one.Kind, one.Host))
	}
	return words
}

// completeAddresses completes the first word with agents as wormhole names them.
func (p *program) completeAddresses(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.complete(func(ctx context.Context, client control.Service) []string {
		all, _ := control.List.Ask(ctx, client, control.HostsRequest{})
		var words []string
		for _, one := range all {
			words = append(words, one.Host.String()+":"+one.Name.String())
		}
		return words
	})
}

// completeAgents completes the first word with the agents served here.
func (p *program) completeAgents(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.complete(func(ctx context.Context, client control.Service) []string {
		all, _ := control.Agents.Ask(ctx, client)
		var words []string
		for _, a := range all {
			words = append(words, a.Name.String())
		}
		return words
	})
}

// completeChannels completes the first word with the channels that have a name.
func (p *program) completeChannels(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return p.complete(channelWords)
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

// completeFlags completes the values of flags: channels for those that take one,
// participants for the others.
func (p *program) completeFlags(cmd *cobra.Command, flags ...string) {
	for _, flag := range flags {
		words := participants
		switch flag {
		case "channel", "parent", "scope":
			words = channelWords
		}
		// It fails only for a flag that the command does not have.
		_ = cmd.RegisterFlagCompletionFunc(flag, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return p.complete(words)
		})
	}
}
