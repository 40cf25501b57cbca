package main

import (
	"github.com/parleyfleet/parley/cmd/parley/agent"
	"github.com/parleyfleet/parley/cmd/parley/bench"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/demo"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/cmd/parley/human"
	"github.com/parleyfleet/parley/cmd/parley/node"
	"github.com/parleyfleet/parley/cmd/parley/record"
	"github.com/parleyfleet/parley/cmd/parley/runs"
	"github.com/parleyfleet/parley/cmd/parley/schema"
	"github.com/parleyfleet/parley/cmd/parley/skill"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/cmd/parley/with"
	"github.com/spf13/cobra"
)

// The groups in which help lists the commands.
const (
	groupNode  = "node"
	groupTalk  = "talk"
	groupLook  = "look"
	groupFleet = "fleet"
)

// newRootCommand is the whole tree of commands.
func newRootCommand(p *cli.Program) *cobra.Command {
	showVersion := false
	root := cli.NewRoot(p)
	root.Short = "Agents on many machines, talking live, with every word in git"
	root.Long = `Agents on many machines, talking live over NATS, with every word in git.

Flags may stand after words too, and loose words are joined by spaces. A text
may begin with a dash: only flags that the command has are flags there, and "--"
ends them. A text that is only "-" is read from standard input.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 waited and nothing came.
Environment: PARLEY_HOME (as --home), PARLEY_AGENT (the agent that calls),
PARLEY_TOKEN (what it is known by), PARLEY_SOCKET (a socket in place of that of
the home), NO_COLOR.`
	root.Example = `  parley                      what to do first
  parley hey mawjs hello there
  parley log --follow`
	root.RunE = func(cmd *cobra.Command, _ []string) error {
		if showVersion {
			return runVersion(thisVersion(), p.View())
		}
		home, err := p.HomeDir()
		if err != nil {
			return err
		}
		return runFirst(cmd.Context(), home, p.Connect(home.Socket()), p.View())
	}
	root.Flags().BoolVar(&showVersion, "version", false, "print the version of this program, as parley version does")
	addGroup(root, groupNode, "Your node:", node.NewInitCommand(p), node.NewJoinCommand(p), node.NewUpCommand(p), node.NewStopCommand(p),
		node.NewStatusCommand(p), node.NewLogsCommand(p), node.NewConfigCommand(p), node.NewRemoteCommand(p),
		agent.NewCommand(p), runs.NewQueueCommand(p), runs.NewCancelCommand(p), runs.NewDLQCommand(p),
		node.NewWakeCommand(p), node.NewUpgradeCommand(p))
	addGroup(root, groupTalk, "Talk:", talk.NewHeyCommand(p), talk.NewWormholeCommand(p), talk.NewBroadcastCommand(p), talk.NewSendCommand(p),
		talk.NewReplyCommand(p), talk.NewWaitCommand(p), talk.NewChatCommand(p), talk.NewOpenCommand(p), with.NewCommand(p), with.NewImportCommand(p), talk.NewPresenceCommand(p))
	addGroup(root, groupLook, "Read:", talk.NewInboxCommand(p), talk.NewReadCommand(p), talk.NewShowCommand(p), talk.NewPromptCommand(p),
		talk.NewRepliesCommand(p), talk.NewThreadCommand(p), runs.NewTraceCommand(p), talk.NewLogCommand(p), talk.NewEventsCommand(p), talk.NewAttachCommand(p), talk.NewSearchCommand(p))
	root.SetHelpCommandGroupID(groupFleet)
	root.SetHelpCommand(newHelpCommand())
	addGroup(root, groupFleet, "The fleet:", host.NewLsCommand(p), host.NewCommand(p), talk.NewChannelCommand(p), talk.NewMemoryCommand(p), host.NewPolicyCommand(p), human.NewCommand(p),
		record.NewCommand(p), skill.NewCommand(p), schema.NewCommand(p), bench.NewCommand(p), demo.NewCommand(p), newCompletionCommand(p), newVersionCommand(p))
	root.AddCommand(demo.NewAgentCommand(p))
	return root
}

func addGroup(root *cobra.Command, id, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: id, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = id
		root.AddCommand(cmd)
	}
}
