package node

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/spf13/cobra"
)

// NewNotifyCommand is parley notify.
func NewNotifyCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "notify",
		Short: "By what you are told what happens",
		Long: `By what you are told what happens: something waits for your decision, mail came,
an agent failed. They stand under notify in config.yaml, commands of your own
too. A gate is told at once, and once more after 30 minutes if it still waits.`,
		Example: `  parley notify
  parley notify add desktop
  parley notify test`,
		Args: cli.UnknownCommand,
		RunE: p.AtHome(func(_ *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			return runNotify(home, v)
		}),
	}
	p.JSONFlag(cmd, "print an array of them as JSON")
	cmd.AddCommand(newNotifyAddCommand(p), newNotifyRemoveCommand(p), newNotifyTestCommand(p))
	return cmd
}

func runNotify(home configs.Home, v cli.View) error {
	if !cli.Configured(home) {
		return cli.NotConfigured(home, "")
	}
	cfg, err := configs.Load(home.Config())
	list := shownNotify(cfg.Notify)
	return v.Show(list, err, func() {
		if len(list) == 0 {
			v.Out.Printf("Nothing tells you what happens.\n")
			v.Next("parley notify add desktop", "or bell, ntfy URL, webhook URL, mail ADDRESS")
			return
		}
		t := term.Table{Heading: []string{"NR", "BY", "FOR", "QUIET"}, Flexible: 1}
		for i, n := range list {
			kinds := strings.Join(n.For, ", ")
			if kinds == "" {
				kinds = "all"
			}
			t.Rows = append(t.Rows, []string{strconv.Itoa(i + 1), n.String(), kinds, strings.Join(n.Quiet.Texts(), ", ")})
		}
		v.Table(t)
	})
}

// shownNotify is a list of notifications without passwords in their URLs.
func shownNotify(list []configs.Notification) []configs.Notification {
	list = append([]configs.Notification{}, list...)
	for i, n := range list {
		if n.Way != "" {
			list[i].Way = n.Shown()
		}
	}
	return list
}

func newNotifyAddCommand(p *cli.Program) *cobra.Command {
	var r control.ChangeNotificationsRequest
	cmd := &cobra.Command{
		Use:   "add desktop|bell|ntfy URL|webhook URL|mail ADDRESS",
		Short: "Be told by one more, and try it",
		Long: `Be told by one more: it is written into config.yaml, counts at once, and is
tried with a text that says it is a test; 1 if that does not work.

desktop: notify-send (Linux) or osascript (macOS), in the session of the node.
bell: the bell of each terminal of yours on this machine.
ntfy: the text to a topic, such as https://ntfy.sh/TOPIC.
webhook: JSON with kind and text, by POST.
mail: by sendmail of this machine.

Each tells one line of who and what, and no words of a message.`,
		Example: `  parley notify add desktop
  parley notify add ntfy https://ntfy.sh/my-secret-topic --for gate
  parley notify add mail nat@example.org --quiet 22:00-07:00`,
		Args: cli.Between(1, 2, "desktop, bell, ntfy URL, webhook URL or mail ADDRESS"),
		RunE: p.AtHome(func(cmd *cobra.Command, args []string, home configs.Home, v cli.View) error {
			r.Add = strings.Join(args, " ")
			return addNotification(cmd.Context(), p, home, r, v)
		}),
	}
	cmd.Flags().StringSliceVar(&r.For, "for", nil, "the `KINDS` of what it tells: "+strings.Join(configs.NotifiedOf(), ", ")+" (default: all)")
	cmd.Flags().StringSliceVar(&r.Quiet, "quiet", nil, "the `HOURS` in which it is silent, as 22:00-07:00")
	return p.JSONFlag(cmd, "print what came of it as JSON")
}

func addNotification(ctx context.Context, p *cli.Program, home configs.Home, r control.ChangeNotificationsRequest, v cli.View) error {
	tried, err := changeNotifications(ctx, p, home, r)
	if err != nil || v.JSON {
		return v.Show(tried, err, nil)
	}
	if err = showTried(v, tried); err != nil {
		v.Say("It is written into config.yaml all the same.")
		v.Steps("parley notify test", "try it again", "parley notify remove "+term.Shell(r.Add), "take it out")
	}
	return err
}

// offerNotifications asks a person who makes a node by what they want to be told that something waits
// for them. What does not work is said: it keeps no node from being made.
func offerNotifications(ctx context.Context, p *cli.Program, home configs.Home, v cli.View) {
	for _, offer := range [][2]string{{"desktop", "Tell you on the desktop when something waits for you? [y/N] "}, {"bell", "Ring the bell of your terminals when something waits? [y/N] "}} {
		if offer[0] == "desktop" && !hasDesktop(p) || !p.Confirm(ctx, offer[1]) {
			continue
		}
		err := addNotification(ctx, p, home, control.ChangeNotificationsRequest{Add: offer[0]}, v)
		if err != nil && !errors.As(err, new(cli.ExitCode)) { // else it was said
			v.Note(err.Error())
		}
	}
}

// hasDesktop reports whether a desktop is there on which a node that is started here could tell things.
func hasDesktop(p *cli.Program) bool {
	return runtime.GOOS != "linux" || p.Getenv("DISPLAY")+p.Getenv("WAYLAND_DISPLAY") != ""
}

func newNotifyRemoveCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "remove NUMBER|WORDS",
		Short:   "Be told by one less",
		Long:    "Be told by one less: that with the number of parley notify, or with the words\nof parley notify add.",
		Example: "  parley notify remove desktop\n  parley notify remove 2",
		Args:    cli.Between(1, 2, "a number, or the words that were added"),
		RunE: p.AtHome(func(cmd *cobra.Command, args []string, home configs.Home, v cli.View) error {
			gone, err := changeNotifications(cmd.Context(), p, home, control.ChangeNotificationsRequest{Remove: strings.Join(args, " ")})
			return v.Show(gone, err, func() { v.Out.Printf("%s tells you nothing any more.\n", term.Line(gone.Command)) })
		}),
	}, "print which one it was as JSON")
}

// changeNotifications has the node change by what the human is told what happens. If none runs, it
// does so itself.
func changeNotifications(ctx context.Context, p *cli.Program, home configs.Home, r control.ChangeNotificationsRequest) (control.TriedNotification, error) {
	done, err := control.ChangeNotifications.Ask(ctx, p.Connect(home.Socket()), r)
	if err == nil || !cli.NoNodeRuns(err) || !cli.Configured(home) {
		return done, err
	}
	if err := p.ForOperator("change the notifications"); err != nil {
		return done, err
	}
	done, here := node.ChangeNotifications(ctx, home, r)
	if errors.Is(here, homes.ErrLocked) { // the node is just starting, or stopping
		return done, err
	}
	return done, here
}

func newNotifyTestCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:     "test",
		Short:   "Try each of them with a text that says it is a test",
		Example: `  parley notify test`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			return runNotifyTest(cmd.Context(), client, v)
		}),
	}, "print an array of what came of each as JSON")
}

func runNotifyTest(ctx context.Context, client control.Service, v cli.View) error {
	list, err := control.TryNotifications.Ask(ctx, client, control.TryNotificationsRequest{})
	switch {
	case err != nil:
		return err
	case v.JSON:
		return v.WriteJSON(list)
	case len(list) == 0:
		v.Out.Printf("Nothing tells you what happens: %s\n", v.Command("parley notify add desktop"))
		return cli.ExitCode(1)
	}
	for _, one := range list {
		if wrong := showTried(v, one); wrong != nil {
			err = wrong
		}
	}
	return err
}

// showTried says what came of a test; the error is that it did not work.
func showTried(v cli.View, one control.TriedNotification) error {
	if one.Problem == "" {
		v.Out.Printf("✓ %s\n", term.Line(one.Command))
		return nil
	}
	v.Out.Printf("✗ %s: %s\n", term.Line(one.Command), term.Line(one.Problem))
	return cli.ExitCode(1)
}
