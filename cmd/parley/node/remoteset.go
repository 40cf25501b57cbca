package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/spf13/cobra"
)

func newRemoteSetCommand(p *cli.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "set URL",
		Short: "Share the record through a repository, or through another one",
		Long: `Share the record of this home through a git repository: the first one, or
another one than until now. It must be empty, or hold this record; anything else
is refused, and nothing is changed. "-" reads the URL from standard input.

Where no node runs, what either side lacks is carried over at once. A node that
runs goes on with what it was started with; start it anew then. In config.yaml
nothing but remote is changed. Nothing is taken from the old remote, and other
hosts go on with it until they are told the same.`,
		Example: `  parley fleet remote set git@example.org:fleet/record.git
  parley fleet remote set /srv/record.git`,
		Args: cli.Exactly(1, "the URL or path of the repository"),
		RunE: p.AtHome(func(cmd *cobra.Command, args []string, home configs.Home, v cli.View) error {
			err := p.ForOperator("set the remote")
			if err != nil {
				return err
			}
			url := args[0]
			if url == "-" {
				if url, err = p.Text(cmd, args); err != nil {
					return err
				}
			}
			if url, err = absoluteRemote(strings.TrimSpace(url)); err != nil {
				return err
			}
			return runRemoteSet(cmd.Context(), home, url, v)
		}),
	}
}

func runRemoteSet(ctx context.Context, home configs.Home, url string, v cli.View) error {
	if !cli.Configured(home) {
		return cli.NotConfigured(home, "cannot set the remote: ")
	}
	if err := cli.CopiedHome(home, "cannot set the remote"); err != nil {
		return err
	}
	cfg, err := homes.LoadConfig(home)
	if err != nil {
		return fmt.Errorf("cannot set the remote: %w", err)
	}
	file, err := cli.OpenLog(home)
	if err != nil {
		return err
	}
	defer file.Close()
	done := v.Busy("looking at " + term.Line(redact.Remote(url)))
	reading := v.Progress("reading the record")
	r, err := node.SetRemote(ctx, node.RemoteOptions{
		Home: home, Version: cli.Version, Remote: url, Log: cli.NewLogger(cfg.LogLevel, file, true, v.Err), Progress: reading.Show,
	})
	reading.End()
	done()
	if err != nil {
		return err
	}
	showRemoteSet(v, r)
	return nil
}

func showRemoteSet(v cli.View, r node.RemoteResult) {
	shown := v.Out.Bold(term.Line(redact.Remote(r.Config.Remote)))
	holds := "which holds the record"
	if r.Empty {
		holds = "which was empty"
	}
	if r.Running {
		v.Out.Printf("config.yaml names %s now, %s.\n", shown, holds)
		v.Say("The node that runs goes on with what it was started with. Once it is started anew, it shares the record there.")
	} else {
		v.Out.Printf("The record is shared through %s now, %s: %s there, as here.\n", shown, holds, cli.Count(r.Shared, "message"))
	}
	for _, note := range r.Notes {
		v.Note("note: " + note)
	}
	if r.Before != "" && r.Before != r.Config.Remote {
		v.Say("Hosts that share it through " + term.Line(redact.Remote(r.Before)) + " go on with that: run parley fleet remote set on each of them.")
	}
	if r.Running {
		v.Out.Printf("%s\n", v.Command("parley restart"))
	} else {
		v.Next("parley up -d", "start the node")
	}
}
