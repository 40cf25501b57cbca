// Package frame holds the commands with which people and agents have a question looked at from
// several perspectives: to begin an inquiry, follow it, and decide at its gates.
package frame

import (
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/spf13/cobra"
)

// NewCommand is parley frame.
func NewCommand(p *cli.Program) *cobra.Command {
	var o opening
	cmd := &cobra.Command{
		Use:   "frame [QUESTION]",
		Short: "Have a question looked at from several perspectives",
		Long: `Have a question looked at from several perspectives. A brief is drafted and
you confirm it; perspectives are proposed and you choose; agents of any hosts
investigate each one by itself; where they are in tension they talk, three
messages at most; and what they found is joined, with a basis for each claim.
You hold every gate.

Without a QUESTION it is the message named by --re, or your last message. The
calls are made by the agent that --coordinator names, or the fleet's policy
(frame-coordinator); perspectives that no agent fits are given to members made
from the policy's frame-member, or after those that --agent names.`,
		Example: `  parley frame "which of the two stores should we keep?"
  parley frame "is this safe to ship?" --in . --mode inquire --agent sage,echo
  parley frame list
  parley frame answer`,
		Args: cobra.ArbitraryArgs,
		RunE: running(p, func(s *session, cmd *cobra.Command, args []string) error { return s.open(cmd.Context(), o, args) }),
	}
	openFlags(p, cmd, &o)
	cmd.AddCommand(newListCommand(p), newShowCommand(p), newAnswerCommand(p), newEscCommand(p), newResumeCommand(p), newVerifyCommand(p), newExportCommand(p))
	return cmd
}
