package root

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

func newCompletionCommand(*cli.Program) *cobra.Command {
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
		Args:      cli.Exactly(1, "a shell: bash, zsh, fish or powershell"),
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
			return cli.UsageErrorf(cmd, "%q is no shell that parley knows: use bash, zsh, fish or powershell", args[0])
		},
	}
	return cmd
}
