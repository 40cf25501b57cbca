// Package root makes one tree of the commands of parley. The groups of commands have folders of their
// own, and this one what belongs to no group.
package root

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/parleyfleet/parley/cmd/parley/agent"
	"github.com/parleyfleet/parley/cmd/parley/bench"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/console"
	"github.com/parleyfleet/parley/cmd/parley/demo"
	"github.com/parleyfleet/parley/cmd/parley/doctor"
	"github.com/parleyfleet/parley/cmd/parley/frame"
	"github.com/parleyfleet/parley/cmd/parley/host"
	"github.com/parleyfleet/parley/cmd/parley/human"
	"github.com/parleyfleet/parley/cmd/parley/install"
	"github.com/parleyfleet/parley/cmd/parley/mcp"
	"github.com/parleyfleet/parley/cmd/parley/mesh"
	"github.com/parleyfleet/parley/cmd/parley/node"
	"github.com/parleyfleet/parley/cmd/parley/party"
	"github.com/parleyfleet/parley/cmd/parley/record"
	"github.com/parleyfleet/parley/cmd/parley/runs"
	"github.com/parleyfleet/parley/cmd/parley/schema"
	"github.com/parleyfleet/parley/cmd/parley/session"
	"github.com/parleyfleet/parley/cmd/parley/skill"
	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/cmd/parley/with"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// New makes the whole tree of commands. Help shows those in `shown`, in
// this order; with --all it names the others too.
func New(p *cli.Program) *cobra.Command {
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
that of the home), PARLEY_UNWATCHED (as up --unwatched, also for commands that
ask no node), PARLEY_NO_HINTS (if set, no "next:" lines), NO_COLOR (if set, no
colours).`
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
	agents, parties, gates, fleet, records := agent.NewCommand(p), party.NewCommand(p), party.NewGatesCommand(p), host.NewCommand(p), record.NewCommand(p)
	agents.AddCommand(talk.NewOpenCommand(p), runs.NewQueueCommand(p), runs.NewRetryCommand(p), runs.NewCancelCommand(p), runs.NewDLQCommand(p), skill.NewCommand(p))
	parties.AddCommand(party.NewOrganizeCommand(p), party.NewInviteCommand(p), party.NewRecruitCommand(p), party.NewTellCommand(p), party.NewLeaveCommand(p),
		party.NewRecapCommand(p), party.NewTaskCommand(p), party.NewLeaseCommand(p), mesh.NewCommand(p), mesh.NewTeamCommand(p))
	gates.AddCommand(party.NewAcceptCommand(p), party.NewRejectCommand(p), party.NewDeferCommand(p), named("key", human.NewCommand(p)))
	fleet.AddCommand(named("people", human.NewListCommand(p)), host.NewPolicyCommand(p), node.NewRemoteCommand(p), node.NewListenCommand(p), named("sync", node.NewWakeCommand(p)))
	records.AddCommand(schema.NewCommand(p), node.NewUpgradeCommand(p))
	shown := []*cobra.Command{
		node.NewInitCommand(p), node.NewJoinCommand(p), node.NewUpCommand(p), node.NewStopCommand(p), install.NewCommand(p, node.Begin, node.End, node.Answers),
		talk.NewHeyCommand(p), talk.NewInboxCommand(p), talk.NewReplyCommand(p), talk.NewLogCommand(p),
		party.NewEverybodyCommand(p), node.NewStatusCommand(p), runs.NewWhyCommand(p), doctor.NewCommand(p), agents, with.NewCommand(p), parties, gates, frame.NewCommand(p), fleet, records, console.NewCommand(p, New),
	}
	root.AddCommand(shown...)
	addHidden(root, host.NewLsCommand(p), demo.NewCommand(p, New), talk.NewWormholeCommand(p), talk.NewBroadcastCommand(p), talk.NewSendCommand(p), talk.NewWaitCommand(p), talk.NewChatCommand(p),
		talk.NewSearchCommand(p), talk.NewReadCommand(p), talk.NewShowCommand(p), talk.NewRepliesCommand(p), talk.NewThreadCommand(p), talk.NewEventsCommand(p), talk.NewAttachCommand(p),
		talk.NewChannelCommand(p), talk.NewMemoryCommand(p), talk.NewPresenceCommand(p), with.NewImportCommand(p),
		talk.NewPromptCommand(p), runs.NewTraceCommand(p), node.NewLogsCommand(p), node.NewConfigCommand(p), node.NewNotifyCommand(p),
		session.NewCommand(p), mcp.NewCommand(p), bench.NewCommand(p), newCompletionCommand(p), newVersionCommand(p), newWhoamiCommand(p),
		node.NewRestartCommand(p), newUpgradeCommand(p), newUninstallCommand(p))
	for _, name := range []string{"hey", "reply", "wormhole", "broadcast", "send", "chat", "memory", "channel", "work-with", "party", "gates", "frame"} {
		if cmd, _, err := root.Find([]string{name}); err == nil {
			p.SecretFlags(cmd)
		}
	}
	root.Annotations = OlderNames()
	setHelp(root, shown)
	root.AddCommand(demo.NewAgentCommand(p), session.NewHookCommand(p))
	return root
}

func named(name string, cmd *cobra.Command) *cobra.Command {
	_, rest, _ := strings.Cut(cmd.Use, " ")
	cmd.Use = strings.TrimSpace(name + " " + rest)
	return cmd
}

// OlderNames are the names that commands had before they stood below a noun. They go on working.
func OlderNames() map[string]string {
	return map[string]string{
		"organize": "party organize", "invite": "party invite", "recruit": "party recruit", "tell": "party tell", "leave": "party leave", "recap": "party recap",
		"task": "party task", "lease": "party lease", "mesh": "party mesh", "team": "party team",
		"accept": "gates accept", "reject": "gates reject", "defer": "gates defer", "human": "gates key",
		"host": "fleet", "policy": "fleet policy", "remote": "fleet remote", "wake": "fleet sync",
		"open": "agent open", "queue": "agent queue", "cancel": "agent cancel", "dlq": "agent dlq", "skill": "agent skill",
		"schema": "record schema",
	}
}

func addHidden(root *cobra.Command, commands ...*cobra.Command) {
	for _, cmd := range commands {
		cmd.Hidden = true
	}
	root.AddCommand(commands...)
}

// Play is a run of parley as this process. It returns the exit code.
func Play(p *cli.Program) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The first signal asks the program to end. After it, a second one ends the program at once.
	context.AfterFunc(ctx, stop)
	return p.Run(untilHangup(ctx), New(p), os.Args[1:])
}

// untilHangup returns a context that also ends when the terminal is closed. The shell and the
// system both send that signal. So it is listened to until the end, unlike a second Ctrl-C. nohup
// silences it.
func untilHangup(ctx context.Context) context.Context {
	if !signal.Ignored(syscall.SIGHUP) {
		ctx, _ = signal.NotifyContext(ctx, syscall.SIGHUP)
	}
	return ctx
}

// runFirst says what to do first: make a home, start the node, or talk.
func runFirst(ctx context.Context, home configs.Home, client control.Service, v cli.View) error {
	if !cli.Configured(home) {
		if why := cli.NotConfigured(home, ""); why.Hint != cli.BeginHint {
			return why
		}
		v.Out.Printf("%s\n\nThere is no node of yours at %s yet. First:\n\n", tagline, home.Dir)
		v.Steps("parley install claude", "make it, and each session of claude an agent", "parley init", "make it alone: keys, a record in git, your name",
			"parley join", "on a further machine: by a line of parley fleet invite, or a URL",
			"parley demo", "or watch two of them talk for a moment")
		return nil
	}
	s, err := control.ShowStatus.Ask(ctx, client)
	if down := new(control.Error); errors.As(err, &down) && down.Kind == control.KindUnavailable {
		v.Out.Printf("%s\n\nYour node at %s is not running. Next:\n\n", tagline, home.Dir)
		v.Steps("parley up -d", "start it in the background; without -d it stays here", "parley logs", "what it logged before")
		return nil
	}
	if err != nil {
		return err
	}
	node.ShowStatusLine(v, s)
	v.Out.Printf("\n")
	v.Steps("parley who", "who can be reached", "parley hey AGENT hello", "say something", "parley inbox", "what is waiting for you",
		"parley log --follow", "listen", "parley --help", "everything else")
	return nil
}

const tagline = "parley: agents on many machines, talking live, with every word in git."
