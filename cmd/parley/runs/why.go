package runs

import (
	"context"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// NewWhyCommand is parley why.
func NewWhyCommand(p *cli.Program) *cobra.Command {
	var r control.WhyRequest
	cmd := &cobra.Command{
		Use:   "why [ID|AGENT]",
		Short: "Say why there is no answer, and what helps",
		Long: `Say why a message has no answer: what is the matter, the reason, and one command
that helps, which is named with the host where it is to be typed if that is
another one. Below it stands the trace: every step of the message, on all hosts.

Without a word it is your last message that has no answer; with the name of an
agent, your last one to it. If nothing of yours waits for it, what is known of
the agent and its host is said.

Other hosts are asked for 2 seconds. What a host that is away did with the
message cannot be known until it is back.`,
		Example: `  parley why
  parley why mawjs
  parley why b2c3d4e5 --json`,
		Args: cli.Between(0, 1, "the id of a message, or an agent"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			r.Of = strings.Join(args, "")
			return runWhy(cmd.Context(), r, client, v)
		}),
	}
	cmd.Flags().BoolVar(&r.Here, "here", false, "only what this node knows: ask no other host")
	return p.JSONFlag(cmd, "print the causes and the steps as JSON")
}

func runWhy(ctx context.Context, r control.WhyRequest, client control.Service, v cli.View) error {
	done := v.Busy("asking the hosts")
	why, err := control.Why.Ask(ctx, client, r)
	done()
	return v.Show(why, err, func() {
		for i, cause := range why.Causes {
			if i == 1 {
				v.Out.Printf("\n%s\n", v.Out.Dim("also:"))
			}
			ShowCause(v, cause, "", i > 0)
		}
		if len(why.Steps) > 0 {
			v.Out.Printf("\n")
			showTrace(v, why.Steps, shownSent)
		}
	})
}

// ShowCause shows what is the matter, why, and the command that helps. `left` stands before the first
// line. With `short`, it is left at the matter and the command.
func ShowCause(v cli.View, f causes.Found, left string, short bool) {
	wrapped := func(text string, indent int) {
		for i, line := range cli.WrapWords(term.Line(text), v.Out.Width-indent) {
			pad := strings.Repeat(" ", indent)
			if i == 0 && indent == len(left) {
				pad = ""
			}
			v.Out.Printf("%s%s\n", pad, line)
		}
	}
	paint := map[causes.Level]func(string) string{causes.Red: v.Out.Bad, causes.Yellow: v.Out.Warn}[f.Level]
	if left != "" && paint != nil {
		v.Out.Printf("%s", paint(left))
	} else {
		v.Out.Printf("%s", left)
	}
	wrapped(f.Verdict, len(left))
	if f.Reason != "" && !short {
		wrapped(f.Reason, len(left)+2)
	}
	do, command := "do:", v.Command(f.Command)
	if f.On != "" { // with the home that is usual there
		do, command = "do on "+term.Line(f.On.String())+":", f.Command
	}
	if f.Command != "" {
		v.Out.Printf("%s%s %s\n", strings.Repeat(" ", len(left)+2), v.Out.Dim(do), term.Line(command))
	}
}

// hindersText is what a host says is in the way of a message.
func hindersText(s control.TraceStep) string {
	return causes.Of(causes.ID(s.By), causes.Facts{Here: s.Host, Host: s.Host, Agent: s.Agent, ID: protocol.Path.Short(s.Path), Text: s.Text, At: s.Next}).Verdict
}
