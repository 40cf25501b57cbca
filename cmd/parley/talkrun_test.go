package main

import (
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/cli/clitest"
	"github.com/spf13/cobra"
)

// talkRun prepares a run of the commands of this package.
func talkRun(t *testing.T) *clitest.Run {
	t.Helper()
	return clitest.New(t, func(p *cli.Program) *cobra.Command {
		return cli.NewRoot(p, newHeyCommand(p), newWormholeCommand(p), newBroadcastCommand(p), newSendCommand(p), newReplyCommand(p), newWaitCommand(p), newChatCommand(p), newOpenCommand(p), newInboxCommand(p), newReadCommand(p), newShowCommand(p), newPromptCommand(p), newRepliesCommand(p), newThreadCommand(p), newLogCommand(p), newAttachCommand(p), newSearchCommand(p), newChannelCommand(p), newMemoryCommand(p))
	})
}
