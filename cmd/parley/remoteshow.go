package main

import (
	"context"
	"fmt"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newRemoteShowCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show",
		Short: "Show the repository through which the record is shared",
		Long: `Show the repository through which the record is shared, without what gets one
in: what config.yaml says of it and, where a node runs, how it gets on with it.`,
		Example: `  parley remote show --json`,
		Args:    exactly(0, "nothing"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			home, err := p.homeDir()
			if err != nil {
				return err
			}
			return runRemoteShow(cmd.Context(), home, p.connect(home.Socket()), p.view())
		},
	}
	p.jsonFlag(cmd, "print the remote as JSON")
	return cmd
}

// remoteInfo is the remote as "remote show --json" prints it.
type remoteInfo struct {
	Remote string                `json:"remote"`           // of config.yaml; empty: none
	Record *control.RecordStatus `json:"record,omitempty"` // of the running node; absent: none runs
}

func runRemoteShow(ctx context.Context, home configs.Home, client control.Service, v view) error {
	if !configured(home) {
		return errNotConfigured(home, "")
	}
	c, err := configs.Load(home.Config())
	if err != nil {
		return err
	}
	info := remoteInfo{Remote: redact.Remote(c.Remote)}
	if s, err := control.ShowStatus.Ask(ctx, client); err == nil {
		info.Record = &s.Record
	}
	if v.json {
		return v.writeJSON(info)
	}
	const label = len("remote:")
	if c.Remote == "" {
		v.labelled(label, "remote", "none: the record is on this host alone; share it with: "+v.command("parley remote set URL"))
	} else {
		v.labelled(label, "remote", info.Remote)
	}
	switch r := info.Record; {
	case r == nil:
		v.labelled(label, "node", "none runs here")
	case r.Remote != info.Remote:
		v.alarm(label, "node", fmt.Sprintf("was started with %s: %s", remoteOrNone(r.Remote), v.command("parley stop && parley up -d")))
	case r.Remote != "":
		v.labelled(label, "node", fmt.Sprintf("%d not pushed yet, %s", r.Unpushed, remoteUse(v, *r)))
		if r.Trouble != nil {
			v.alarm(label, "", troubleText(v, *r.Trouble))
		}
	}
	return nil
}

// remoteOrNone is a remote as a sentence names it.
func remoteOrNone(remote string) string {
	if remote == "" {
		return "no remote"
	}
	return term.Line(remote)
}
