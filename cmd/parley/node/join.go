package node

import (
	"bufio"
	"errors"
	"io"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewJoinCommand is parley join.
func NewJoinCommand(p *cli.Program) *cobra.Command {
	o := homes.Options{Version: cli.Version, Join: true}
	cmd := &cobra.Command{
		Use:   "join [LINE|URL|-]",
		Short: "Make a node that joins a fleet, by a line or a shared record",
		Long: `Make a node in its home that joins a fleet.

By an invitation line, which "parley fleet invite" prints on a host of the
fleet: without an argument the line is asked for, with - it is read from
standard input. As an argument, every user of this machine can read it while the
command runs. The host dials an address of the line. It shows three words, and
waits until a person at the other end has compared them with theirs. Then it
gets the record from there: no git server is needed.

By a shared record: the same as "parley init --remote URL", but a repository
that holds no record is refused. With --from the URL may stand in the
config.yaml that is laid ready there.

The host gets a key of its own, which never leaves this machine, and tells the
others by a signed message in the record.

A node that is there already joins with its keys, settings and agents, if nobody
has said anything in its record, no other host is in it, and it is shared
nowhere. That record goes. If the host cannot join, all is as it was.`,
		Example: `  parley join
  parley join git@example.org:fleet/record.git --alias white
  parley join /srv/record.git --listen 192.0.2.8:4222`,
		Args: cli.Between(0, 1, "an invitation line, or the URL or path of the shared record"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			o.Remote = strings.Join(args, "")
			if o.Invited, err = invited(cmd, p, o); err != nil {
				return err
			}
			if o.Invited != nil {
				o.Remote = o.Invited.Remote()
			}
			if err := making(cmd, p, &o); err != nil {
				return err
			}
			if o.Remote == "" && o.From == "" {
				return cli.UsageErrorf(cmd, "%s needs an invitation line, or the URL or path of the shared record", cmd.CommandPath())
			}
			return runInit(cmd.Context(), p, o, false)
		},
	}
	makingFlags(cmd, &o)
	return cmd
}

// invited is the invitation line by which the host is to join, from the command, the terminal or
// standard input; nil if the command names a shared record.
func invited(cmd *cobra.Command, p *cli.Program, o homes.Options) (*homes.Invited, error) {
	text := o.Remote
	if text == "-" || text == "" && o.From == "" && p.Err.Terminal && term.IsTerminal(p.Stdin) {
		if text == "" {
			p.Err.Printf("The invitation line, which parley fleet invite prints on a host of the fleet:\n")
		}
		in := bufio.NewReader(p.Stdin)
		line, err := cli.Line(cmd.Context(), in)
		for text = strings.TrimSpace(line); err == nil && line != "\n"; text += strings.TrimSpace(line) {
			if _, wrong := protocol.ParseInviteLine(text); !errors.Is(wrong, protocol.ErrCutOff) {
				break
			}
			if p.Err.Terminal { // it was copied in pieces, as from a narrow window
				p.Err.Printf("That is not all of the line. Its next piece, or Enter if there is none:\n")
			}
			line, err = cli.Line(cmd.Context(), in)
		}
		if text == "" {
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, err
			}
			return nil, control.Errorf(control.KindUsage, "get one by parley fleet invite on a host of the fleet", "cannot join: no invitation line was given")
		}
		return byLine(p, text)
	}
	if !strings.HasPrefix(text, protocol.InviteScheme) {
		return nil, nil
	}
	cli.WarnOfLine(p, text)
	return byLine(p, text)
}

// byLine reads an invitation line. Who joins by it is told on the screen how far it has come.
func byLine(p *cli.Program, text string) (*homes.Invited, error) {
	v := p.View()
	line, err := protocol.ParseInviteLine(strings.Join(strings.Fields(text), "")) // a narrow window broke it
	if err != nil {
		return nil, control.Errorf(control.KindUsage, "copy the whole line, from "+protocol.InviteScheme+" on", "cannot join: %v", err)
	}
	return &homes.Invited{
		Line: line,
		Say:  func(text string) { v.Say(text) },
		Words: func(words string) {
			v.Out.Printf("\n    %s\n\n", v.Out.Bold(words))
			v.Say("Waiting for the human at " + line.Alias.String() + " to see the same three words there, and to say yes.")
		},
	}, nil
}
