package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node"
	"github.com/spf13/cobra"
)

func newRemoteSetCommand(p *program) *cobra.Command {
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
		Example: `  parley remote set git@example.org:fleet/record.git
  parley remote set /srv/record.git`,
		Args: exactly(1, "the URL or path of the repository"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := p.forOperator("set the remote"); err != nil {
				return err
			}
			home, err := p.homeDir()
			if err != nil {
				return err
			}
			url := args[0]
			if url == "-" {
				if url, err = p.text(cmd, args); err != nil {
					return err
				}
			}
			if url, err = absoluteRemote(strings.TrimSpace(url)); err != nil {
				return err
			}
			return runRemoteSet(cmd.Context(), home, url, p.view())
		},
	}
}

func runRemoteSet(ctx context.Context, home configs.Home, url string, v view) error {
	if !configured(home) {
		return errNotConfigured(home, "cannot set the remote: ")
	}
	if err := copiedHome(home, "cannot set the remote"); err != nil {
		return err
	}
	cfg, err := configs.Load(home.Config())
	if err != nil {
		return fmt.Errorf("cannot set the remote: %w", err)
	}
	file, err := openLog(home.Log())
	if err != nil {
		return err
	}
	defer file.Close()
	done := v.busy("looking at " + term.Line(redact.Remote(url)))
	reading := v.progress("reading the record")
	r, err := node.SetRemote(ctx, node.RemoteOptions{
		Home: home, Version: version, Remote: url, Log: newLogger(cfg.LogLevel, file, true, v.err), Progress: reading.show,
	})
	reading.end()
	done()
	if err != nil {
		return err
	}
	showRemoteSet(v, r)
	return nil
}

// showRemoteSet tells what has become of a remote.
func showRemoteSet(v view, r node.RemoteResult) {
	shown := v.out.Bold(term.Line(redact.Remote(r.Config.Remote)))
	holds := "which holds the record"
	if r.Empty {
		holds = "which was empty"
	}
	if r.Running {
		v.out.Printf("config.yaml names %s now, %s.\n", shown, holds)
		v.say("The node that runs goes on with what it was started with. Once it is started anew, it shares the record there.")
	} else {
		v.out.Printf("The record is shared through %s now, %s: %s there, as here.\n", shown, holds, count(r.Shared, "message"))
	}
	for _, note := range r.Notes {
		v.note("note: " + note)
	}
	if r.Before != "" && r.Before != r.Config.Remote {
		v.say("Hosts that share it through " + term.Line(redact.Remote(r.Before)) + " go on with that: run parley remote set on each of them.")
	}
	if r.Running {
		v.out.Printf("%s\n", v.command("parley stop && parley up -d"))
	} else {
		v.next("parley up -d", "start the node")
	}
}
