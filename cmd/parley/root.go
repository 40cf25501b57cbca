package main

import (
	"github.com/parleyfleet/parley/cmd/parley/agent"
	"github.com/parleyfleet/parley/cmd/parley/bench"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/demo"
	"github.com/parleyfleet/parley/cmd/parley/frame"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/cmd/parley/human"
	"github.com/parleyfleet/parley/cmd/parley/mesh"
	"github.com/parleyfleet/parley/cmd/parley/node"
	"github.com/parleyfleet/parley/cmd/parley/party"
	"github.com/parleyfleet/parley/cmd/parley/record"
	"github.com/parleyfleet/parley/cmd/parley/runs"
	"github.com/parleyfleet/parley/cmd/parley/schema"
	"github.com/parleyfleet/parley/cmd/parley/skill"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/cmd/parley/with"
	"github.com/spf13/cobra"
)

// groupBegin is the group of help that a newcomer sees first.
const groupBegin = "Begin:"

// newRootCommand makes the whole tree of commands.
func newRootCommand(p *cli.Program) *cobra.Command {
	showVersion := false
	root := cli.NewRoot(p)
	root.Short = "Agents on many machines, talking live, with every word in git"
	root.Long = `Agents on many machines, talking live over NATS, with every word in git.

Flags may stand after words too, and loose words are joined by spaces. A text
may begin with a dash: a word of it counts as a flag only if the command has
that flag, and after "--" nothing does. A text that is only "-" is read from
standard input.

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 waited and nothing came.
Environment: PARLEY_HOME (as --home), PARLEY_AGENT (the agent that calls),
PARLEY_TOKEN (the secret that proves it), PARLEY_SOCKET (a socket in place of
that of the home), NO_COLOR.`
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
	// Help lists the groups in this order. Each has the name of what a person wants to do.
	addGroup(root, groupBegin, demo.NewCommand(p), node.NewInitCommand(p), node.NewJoinCommand(p), node.NewUpCommand(p), node.NewStopCommand(p))
	addGroup(root, "Talk:", talk.NewHeyCommand(p), talk.NewWormholeCommand(p), talk.NewBroadcastCommand(p), talk.NewSendCommand(p),
		talk.NewReplyCommand(p), talk.NewWaitCommand(p), talk.NewChatCommand(p), talk.NewOpenCommand(p))
	addGroup(root, "Read and find:", talk.NewInboxCommand(p), talk.NewReadCommand(p), talk.NewShowCommand(p), talk.NewRepliesCommand(p),
		talk.NewThreadCommand(p), talk.NewLogCommand(p), talk.NewEventsCommand(p), talk.NewAttachCommand(p), talk.NewSearchCommand(p),
		talk.NewChannelCommand(p), talk.NewMemoryCommand(p))
	addGroup(root, "Agree with another agent:", with.NewCommand(p), with.NewImportCommand(p))
	addGroup(root, "Gather a party:", party.NewOrganizeCommand(p), party.NewInviteCommand(p), party.NewRecruitCommand(p), party.NewWhoCommand(p),
		party.NewTellCommand(p), party.NewLeaveCommand(p), party.NewRecapCommand(p), party.NewCommand(p), party.NewTaskCommand(p),
		party.NewLeaseCommand(p), talk.NewPresenceCommand(p), mesh.NewCommand(p), mesh.NewTeamCommand(p))
	addGroup(root, "Look into a question:", frame.NewCommand(p))
	addGroup(root, "Decide, as a human:", party.NewGatesCommand(p), party.NewAcceptCommand(p), party.NewRejectCommand(p),
		party.NewDeferCommand(p), human.NewCommand(p), host.NewPolicyCommand(p))
	addGroup(root, "Run agents:", agent.NewCommand(p), skill.NewCommand(p), runs.NewQueueCommand(p), runs.NewCancelCommand(p),
		runs.NewDLQCommand(p), runs.NewTraceCommand(p), talk.NewPromptCommand(p))
	addGroup(root, "Look after your node and the fleet:", node.NewStatusCommand(p), host.NewLsCommand(p), host.NewCommand(p),
		node.NewLogsCommand(p), node.NewConfigCommand(p), node.NewRemoteCommand(p), node.NewWakeCommand(p), node.NewNotifyCommand(p),
		node.NewUpgradeCommand(p), record.NewCommand(p))
	addGroup(root, "Other:", schema.NewCommand(p), bench.NewCommand(p), newCompletionCommand(p), newVersionCommand(p))
	help := newHelpCommand()
	help.GroupID = groupBegin
	root.SetHelpCommand(help)
	root.AddCommand(demo.NewAgentCommand(p))
	return root
}

// addGroup adds commands that help lists under one title.
func addGroup(root *cobra.Command, title string, commands ...*cobra.Command) {
	root.AddGroup(&cobra.Group{ID: title, Title: title})
	for _, cmd := range commands {
		cmd.GroupID = title
		root.AddCommand(cmd)
	}
}
