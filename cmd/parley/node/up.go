package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/service"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/rs/zerolog"
	"github.com/spf13/cobra"
)

// NewUpCommand is parley up.
func NewUpCommand(p *cli.Program) *cobra.Command {
	var detach, background, moved, unwatched bool
	cmd := &cobra.Command{
		Use:     "up",
		Aliases: []string{"start"},
		Short:   "Start the node, in the foreground or with -d in the background",
		Long: `Start the node. It stays in the foreground until Ctrl-C, SIGTERM, "parley stop"
or the end of its terminal; then it finishes what it has begun, commits
everything and tries one last push.

Warnings go to standard error, everything else to node.log in the home; "parley
logs" shows it. With -d the node runs in the background: the command returns
once the node answers, or says why it could not start. One that runs already is
left alone. Where the system has a service of the node (parley install service),
the service starts it. "parley start" does that too.

What an agent program such as Claude Code starts may read, and decide nothing,
unless the program is a session that the node knows (parley install). With
--unwatched it acts as you, as what you type does, until the node is stopped.

A home knows its machine and its folder. A copy of it, by hand or from a backup,
does not start: beside the first one it would do everything twice. With --moved
you say that the first one is gone for good; the home belongs here from then on.
Renaming the folder needs nothing.`,
		Example: `  parley up
  parley up -d
  parley up --moved
  parley --home /srv/white up`,
		Args: cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			if err := p.ForOperator("start a node"); err != nil {
				return err
			}
			if detach || cmd.CalledAs() == "start" {
				ctx, client := cmd.Context(), p.Connect(home.Socket())
				return runDetached(ctx, p, home, moved, unwatched, v, func() { showStarted(ctx, client, v) })
			}
			o := node.Options{Home: home, Version: cli.Version, Moved: moved, Keeper: true, Words: words(cmd.Root()), Unwatched: unwatched || p.Unwatched}
			return runUp(cmd.Context(), o, background, v)
		}),
	}
	cmd.Flags().BoolVarP(&detach, "detach", "d", false, "run in the background, and return when the node answers")
	cmd.Flags().BoolVar(&moved, "moved", false, "this home was moved or restored, and runs nowhere else any more")
	cmd.Flags().BoolVar(&background, "background", false, "this process is the one in the background")
	_ = cmd.Flags().MarkHidden("background") // it fails only if there is no such flag
	cmd.Flags().BoolVar(&unwatched, "unwatched", false, "what an agent program starts acts as you, as what you type does")
	return cmd
}

func words(root *cobra.Command) (all []string) {
	for _, cmd := range root.Commands() {
		all = append(append(all, cmd.Name()), cmd.Aliases...)
	}
	return all
}

func runUp(ctx context.Context, o node.Options, background bool, v cli.View) (err error) {
	home, moved := o.Home, o.Moved
	cfg, err := upConfig(home, moved)
	if unknown := new(homes.NoHostError); errors.As(err, &unknown) {
		cfg, err = idle(ctx, home, moved, unknown, v)
	}
	if err != nil {
		return err
	}
	file, err := cli.OpenLog(home)
	if err != nil {
		return err
	}
	defer file.Close()
	begunIn, _ := os.Getwd()                   // "" if that is gone already
	if err := os.Chdir(home.Dir); err != nil { // a node depends on no other folder
		return fmt.Errorf("cannot start: %w", err)
	}
	bar := v.Progress("reading the record")
	o.Dir, o.Log, o.Progress = begunIn, cli.NewLogger(cfg.LogLevel, file, background, v.Err), bar.Show
	go tellPath(ctx, o.Log) // ends with the login shell, which has some seconds, or with ctx
	n, err := node.Open(ctx, o)
	bar.End()
	if errors.Is(err, homes.ErrLocked) {
		return alreadyRuns(home)
	}
	if err != nil {
		return fmt.Errorf("cannot start: %w", err)
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	err = n.Run(ctx, func() {
		showReady(ctx, n, v, false)
		v.Next("parley who", "from another terminal: who can be reached")
		go showCatchUp(ctx, n, v) // ends when the node has caught up, or with ctx
	})
	if err == nil {
		v.Out.Printf("%s has stopped: everything stored is in its record\n", cfg.Alias)
	}
	return err
}

// tellPath warns of folders that a new terminal of the person looks into for programs, and a node
// that the system has started does not.
func tellPath(ctx context.Context, log zerolog.Logger) {
	if !service.Supervised(os.Getenv) {
		return
	}
	person, err := os.UserHomeDir()
	if err != nil {
		return
	}
	name := whereabouts.User()
	login := service.Login{Shell: cmp.Or(os.Getenv("SHELL"), "/bin/sh"), Home: person, User: name, UID: -1}
	if lacks := service.Missing(login.Path(ctx), os.Getenv("PATH")); len(lacks) > 0 {
		log.Warn().Strs("folders", lacks).Msg("your login finds programs in folders that are not in the PATH of this node: parley install service writes it anew")
	}
}

const (
	idles    = "the node is idle: "
	idlePoll = 5 * time.Second
)

// idle waits until the configuration or the record says which host this is (R11). Everybody who
// asks meanwhile is told why nothing else happens.
func idle(ctx context.Context, home configs.Home, moved bool, unknown *homes.NoHostError, v cli.View) (configs.Config, error) {
	lock, err := homes.TakeLock(home)
	if errors.Is(err, homes.ErrLocked) {
		return configs.Config{}, alreadyRuns(home)
	}
	if err != nil {
		return configs.Config{}, err
	}
	defer lock.Unlock()
	why := control.Errorf(control.KindUnavailable, fmt.Sprintf("write alias: NAME into %s; or end process %d", home.Config(), os.Getpid()), "%s%v", idles, unknown)
	end, err := control.ServeBusy(home.Socket(), cli.Version, log.New(io.Discard, "", 0), func() error { return why })
	if err != nil {
		return configs.Config{}, fmt.Errorf("cannot start: %w", err)
	}
	defer end()
	v.Err.Printf("parley: %s\nhint: %s\n", term.Line(why.Message), term.Line(why.Hint))
	for wait.Sleep(ctx, idlePoll) {
		if cfg, err := upConfig(home, moved); !isUnknown(err) {
			return cfg, err
		}
	}
	return configs.Config{}, cli.ExitCode(0)
}

// isUnknown reports whether nothing says which host this is.
func isUnknown(err error) bool { return errors.As(err, new(*homes.NoHostError)) }

// foundConfig is the configuration of a home as its node uses it. If nothing says which host this
// is, the alias is "".
func foundConfig(home configs.Home) (configs.Config, error) {
	cfg, err := homes.LoadConfig(home)
	if isUnknown(err) {
		err = nil
	}
	return cfg, err
}

func upConfig(home configs.Home, moved bool) (configs.Config, error) {
	if !cli.Configured(home) {
		return configs.Config{}, cli.NotConfigured(home, "cannot start: ")
	}
	cfg, err := homes.LoadConfig(home)
	if err != nil {
		return cfg, fmt.Errorf("cannot start: %w", err)
	}
	if !moved { // before anything is written to the log of the copy
		if err := cli.CopiedHome(home, "cannot start"); err != nil {
			return cfg, err
		}
	}
	return cfg, nil
}

func alreadyRuns(home configs.Home) error {
	who := ""
	if holder, err := os.ReadFile(home.Lock()); err == nil && len(holder) > 0 {
		who = ", process " + strings.TrimSpace(string(holder))
	}
	return control.Errorf(control.KindConflict, "parley status", "cannot start: another node runs on %s already%s", home.Dir, who)
}

// showReady says that the node runs, and where. With `warn`, it also shows what the node has warned
// of, if that is not on the screen already.
func showReady(ctx context.Context, n control.Service, v cli.View, warn bool) {
	s, err := control.ShowStatus.Ask(ctx, n)
	if err != nil {
		return // the node is stopping already
	}
	ShowStatusLine(v, s)
	showStatusFields(v, s)
	if warn {
		showWarnings(v, s)
	}
}
