// Package session holds the commands about sessions of agent programs, such as Claude Code.
package session

import (
	"cmp"
	"strconv"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/standing"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewCommand is parley session.
func NewCommand(p *cli.Program) *cobra.Command {
	return cli.Noun(&cobra.Command{
		Use:   "session",
		Short: "List, name or mute the sessions of agent programs",
		Long: `A session of an agent program, such as Claude Code, is an agent while it is
open: others write to it, it hears its mail while it works, and is woken where
it is idle. "parley install" makes it so.`,
		Example: "  parley session list\n  parley session mute 30m",
	}, newListCommand(p), newNameCommand(p), newMuteCommand(p))
}

func newListCommand(p *cli.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the sessions on this host, and the names that they had",
		Example: "  parley session list --json",
		Args:    cli.Exactly(0, "nothing"),
		RunE: p.Asking(func(cmd *cobra.Command, _ []string, client control.Service, v cli.View) error {
			all, err := control.Sessions.Ask(cmd.Context(), client)
			return v.Show(all, err, func() { list(v, all) })
		}),
	}
	return p.JSONFlag(cmd, "print an array of sessions as JSON")
}

func list(v cli.View, all []control.Session) {
	if len(all) == 0 {
		v.None("No session of an agent program is known here.")
		v.Next("parley install", "which programs are set up; a session that is open already takes it up when it is opened anew")
		return
	}
	t := term.Table{Heading: []string{"NAME", "PROGRAM", "AT", "WAITING", "HEARS", "FOLDER"}, Flexible: 5}
	for _, s := range all {
		t.Rows = append(t.Rows, []string{s.Agent.String(), s.Program, standing.Session(v, s), strconv.Itoa(s.Waiting), standing.Hears(v, s), term.Line(s.Folder)})
	}
	v.Table(t, cli.Squeeze{Column: 1}, cli.Squeeze{Column: 5, Least: 12, Cut: cli.ToEnd})
}

func newNameCommand(p *cli.Program) *cobra.Command {
	var r control.NameSessionRequest
	cmd := &cobra.Command{
		Use: "name NEW", Short: "Give a session another name",
		Long:    "Give a session another name. A name that the fleet knows stays the old\nsession's own, with the mail that was written to it.",
		Example: "  parley session name neo",
		Args:    cli.Exactly(1, "the new name"),
		RunE: cli.Asks(p, control.NameSession, func(args []string) control.NameSessionRequest {
			r.Name = args[0]
			return r
		}, func(v cli.View, s control.Session) {
			v.Out.Printf("%s is %s now\n", term.Line(cmp.Or(r.As, "this session")), s.Agent)
		}),
	}
	cli.AsFlag(cmd, &r.As, "which session")
	return p.JSONFlag(cmd, "print the session as JSON")
}

// muteFor is for how long a session is muted if nothing else is said.
const muteFor = 2 * time.Hour

func newMuteCommand(p *cli.Program) *cobra.Command {
	var r control.MuteSessionRequest
	off := false
	cmd := &cobra.Command{
		Use: "mute [DURATION]", Short: "Have a session not woken for a while (2h)",
		Long:    "Have a session not woken for a while. Its mail waits for its next turn.",
		Example: "  parley session mute\n  parley session mute 30m --as neo\n  parley session mute --off",
		Args:    cobra.MaximumNArgs(1),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) (err error) {
			r.For = muteFor
			if len(args) == 1 {
				if r.For, err = span.Parse(args[0]); err != nil {
					return cli.UsageErrorf(cmd, "%v; a session is named with --as", err)
				}
			}
			if off {
				r.For = 0
			}
			s, err := control.MuteSession.Ask(cmd.Context(), client, r)
			return v.Show(s, err, func() {
				if s.Muted.IsZero() {
					v.Out.Printf("%s is woken by new mail again\n", s.Agent)
					return
				}
				v.Out.Printf("%s is not woken until %s\n", s.Agent, v.Stamp(s.Muted))
			})
		}),
	}
	cli.AsFlag(cmd, &r.As, "which session")
	cmd.Flags().BoolVar(&off, "off", false, "have it woken again")
	return p.JSONFlag(cmd, "print the session as JSON")
}
