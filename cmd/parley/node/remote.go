package node

import (
	"cmp"
	"context"
	"fmt"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

func newRemoteShowCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:   "show",
		Short: "Show the repository through which the record is shared",
		Long: `Show the repository through which the record is shared, without what gets one
in: what config.yaml says of it and, where a node runs, how it gets on with it.`,
		Example: `  parley fleet remote show --json`,
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.AtHome(func(cmd *cobra.Command, _ []string, home configs.Home, v cli.View) error {
			return runRemoteShow(cmd.Context(), home, p.Connect(home.Socket()), v)
		}),
	}, "print the remote as JSON")
}

// RemoteInfo is the remote as "remote show --json" prints it.
type RemoteInfo struct {
	Remote string                `json:"remote"`           // as in config.yaml; empty: none
	Record *control.RecordStatus `json:"record,omitempty"` // of the running node; absent if none runs
}

func runRemoteShow(ctx context.Context, home configs.Home, client control.Service, v cli.View) error {
	if !cli.Configured(home) {
		return cli.NotConfigured(home, "")
	}
	c, err := configs.Load(home.Config())
	if err != nil {
		return err
	}
	info := RemoteInfo{Remote: redact.Remote(c.Remote)}
	if s, err := control.ShowStatus.Ask(ctx, client); err == nil {
		info.Record = &s.Record
	}
	if v.JSON {
		return v.WriteJSON(info)
	}
	const label = len("remote:")
	if c.Remote == "" {
		v.Labelled(label, "remote", "none: the record is on this host alone; share it with: "+v.Command("parley fleet remote set URL"))
	} else {
		v.Labelled(label, "remote", info.Remote)
	}
	switch r := info.Record; {
	case r == nil:
		v.Labelled(label, "node", "none runs here")
	case r.Remote != info.Remote:
		v.Alarm(label, "node", fmt.Sprintf("was started with %s: %s", cmp.Or(term.Line(r.Remote), "no remote"), v.Command("parley restart")))
	case r.Remote != "":
		v.Labelled(label, "node", fmt.Sprintf("%d not pushed yet, %s", r.Unpushed, standing.RemoteUse(v, *r)))
		if r.Trouble != nil {
			v.Alarm(label, "", standing.Trouble(v, *r.Trouble))
		}
	}
	return nil
}

// NewRemoteCommand is parley fleet remote.
func NewRemoteCommand(p *cli.Program) *cobra.Command {
	show := newRemoteShowCommand(p)
	cmd := cli.Noun(&cobra.Command{
		Use:   "remote",
		Short: "Show and set the repository through which the record is shared",
		Example: `  parley fleet remote show
  parley fleet remote set git@example.org:fleet/record.git`,
	}, show, newRemoteSetCommand(p))
	cmd.RunE = show.RunE
	return cmd
}
