package party

import (
	"context"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewTaskCommand is parley party task and its subcommands.
func NewTaskCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "task",
		Short: "What a party has to do, and who does it",
		Long: `What a party has to do. One of its members takes a task: the first in the order
of the record has it, for two hours or --for. Who goes on takes it again; who is
gone gives it back by that.`,
		Example: `  parley party task add "Write the restart test"
  parley party task take T1 --for 3h
  parley party task done T1 "it is in the tree"`,
	}, newTaskAddCommand(p), newTaskTakeCommand(p), newTaskEndCommand(p, protocol.ActDone), newTaskEndCommand(p, protocol.ActGiveBack), newTaskListCommand(p))
}

func newTaskAddCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "add TEXT", Short: "Put something to do on the list", Example: `  parley party task add "Write the restart test"`, Args: cli.AtLeast(1, "a text")}
	return command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		return s.say(ctx, control.PartyDeedRequest{Deed: protocol.ActTask, Text: strings.Join(args, " ")}, func(done control.PartyDeed) {
			s.taskLine(done.Party.Tasks[len(done.Party.Tasks)-1])
		})
	})
}

func newTaskTakeCommand(p *cli.Program) *cobra.Command {
	var hold time.Duration
	cmd := &cobra.Command{Use: "take T1", Short: "Take a task, or go on with it", Example: `  parley party task take T1 --for 3h`, Args: cli.Exactly(1, "a task")}
	cmd = command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		if err := someTime(cmd, hold); err != nil {
			return err
		}
		return s.say(ctx, control.PartyDeedRequest{Deed: protocol.ActTake, Item: args[0], For: control.Seconds(hold)}, func(done control.PartyDeed) {
			s.task(done.Party, args[0])
		})
	})
	cli.DurationFlag(cmd.Flags(), &hold, "for", "how `LONG` it is yours (default 2h)")
	return cmd
}

// someTime returns an error if --for is zero: for the node, zero means the usual time.
func someTime(cmd *cobra.Command, hold time.Duration) error {
	if cmd.Flags().Changed("for") && hold <= 0 {
		return cli.UsageErrorf(cmd, "--for needs some time, such as 2h")
	}
	return nil
}

func newTaskEndCommand(p *cli.Program, act protocol.Act) *cobra.Command {
	use, short, example := "done T1 [OUTCOME]", "Say that a task is done", `  parley party task done T1 "it is in the tree"`
	if act == protocol.ActGiveBack {
		use, short, example = "give-back T1 [WHY]", "Give a task back, for another to take", `  parley party task give-back T1 "no time today"`
	}
	cmd := &cobra.Command{Use: use, Short: short, Example: example, Args: cli.AtLeast(1, "a task")}
	return command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		r := control.PartyDeedRequest{Deed: act, Item: args[0], Text: strings.Join(args[1:], " ")}
		return s.say(ctx, r, func(done control.PartyDeed) { s.task(done.Party, args[0]) })
	})
}

func (s *session) task(party control.Party, id string) {
	for _, task := range party.Tasks {
		if strings.EqualFold(task.Label.String(), id) {
			s.taskLine(task)
		}
	}
}

func newTaskListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List what is to be done, and what is done", Example: `  parley party task list --json`, Args: cli.Exactly(0, "nothing")}
	return command(p, cmd, "print an array of tasks as JSON", func(s *session, ctx context.Context, _ []string) error {
		party, err := s.ask(ctx)
		return s.view.Show(party.Tasks, err, func() {
			if len(party.Tasks) == 0 {
				s.view.Out.Printf("%s has nothing on its list.\n", term.Line(party.Name))
				return
			}
			for _, task := range party.Tasks {
				s.taskLine(task)
			}
		})
	})
}

// NewLeaseCommand is parley party lease.
func NewLeaseCommand(p *cli.Program) *cobra.Command {
	var hold time.Duration
	var reason string
	var release bool
	cmd := &cobra.Command{
		Use:   "lease THING…",
		Short: "Reserve files or other things in your party, for a while",
		Long: `Reserve files or other things, for two hours or --for: others see it in parley
who, and cannot reserve the same. A folder is reserved with all that is in it.
It is advice: nothing is locked. The fence is a number that rises: who was taken
for gone and comes back has the lower one.`,
		Example: `  parley party lease src/panes --for 3h
  parley party lease --release src/panes`,
		Args: cobra.ArbitraryArgs,
	}
	cmd = command(p, cmd, "print what was done as JSON", func(s *session, ctx context.Context, args []string) error {
		switch {
		case release && len(args) > 1:
			return cli.UsageErrorf(cmd, "name one thing of the reservation")
		case release:
			return s.say(ctx, control.PartyDeedRequest{Deed: protocol.ActRelease, Item: strings.Join(args, "")}, func(control.PartyDeed) { s.view.Out.Printf("Released.\n") })
		case len(args) == 0:
			return cli.UsageErrorf(cmd, "name what is to be reserved")
		}
		if err := someTime(cmd, hold); err != nil {
			return err
		}
		r := control.PartyDeedRequest{Deed: protocol.ActLease, Things: args, For: control.Seconds(hold), Reason: reason}
		return s.say(ctx, r, func(done control.PartyDeed) {
			l := done.Party.Leases[len(done.Party.Leases)-1]
			s.view.Out.Printf("🔒 %s until %s (fence %d)\n", term.Line(strings.Join(l.Things, ", ")), s.view.Stamp(l.Until), l.Fence)
		})
	})
	cli.DurationFlag(cmd.Flags(), &hold, "for", "how `LONG` (default 2h)")
	cmd.Flags().StringVar(&reason, "reason", "", "`WHY`, shown to the others")
	cmd.Flags().BoolVar(&release, "release", false, "end a reservation of yours")
	return cmd
}
