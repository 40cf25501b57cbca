package talk

import (
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/spf13/cobra"
)

// newRun prepares a run of the commands of this package.
func newRun(t *testing.T) *clitest.Run {
	t.Helper()
	return clitest.New(t, func(p *cli.Program) *cobra.Command {
		return cli.NewRoot(p, NewHeyCommand(p), NewWormholeCommand(p), NewBroadcastCommand(p), NewSendCommand(p), NewReplyCommand(p), NewWaitCommand(p), NewChatCommand(p), NewOpenCommand(p), NewInboxCommand(p), NewReadCommand(p), NewShowCommand(p), NewPromptCommand(p), NewRepliesCommand(p), NewThreadCommand(p), NewLogCommand(p), NewEventsCommand(p), NewAttachCommand(p), NewSearchCommand(p), NewChannelCommand(p), NewMemoryCommand(p))
	})
}
