package node

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/agent"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// NewWakeCommand is parley fleet sync.
func NewWakeCommand(p *cli.Program) *cobra.Command {
	return p.JSONFlag(&cobra.Command{
		Use:   "wake [AGENT]",
		Short: "Have the node look at the remote and at what waits, at once",
		Long: `Have the node look at the remote now instead of at its next turn, and at the
mail that waits for an agent (for all of them where none is named).`,
		Example: `  parley fleet sync
  git push && parley fleet sync mawjs`,
		Args: cli.Between(0, 1, "one agent"),
		RunE: p.Asking(func(cmd *cobra.Command, args []string, client control.Service, v cli.View) error {
			return runWake(cmd.Context(), control.WakeRequest{Agent: strings.Join(args, "")}, client, v)
		}),
		ValidArgsFunction: p.CompleteAgents,
	}, "print what was found as JSON")
}

func runWake(ctx context.Context, r control.WakeRequest, client control.Service, v cli.View) error {
	done := v.Busy("looking at the remote")
	woken, err := control.Wake.Ask(ctx, client, r)
	done()
	err = v.Show(woken, err, func() {
		v.Out.Printf("%s\n", foundAtRemote(v, woken))
		if len(woken.Agents) > 0 {
			agent.Table(v, woken.Agents)
		}
	})
	if err == nil && woken.RemoteError != "" {
		return control.Errorf(control.KindFailed, "parley status", "cannot look at the remote: %s", woken.RemoteError)
	}
	return err
}

func foundAtRemote(v cli.View, w control.Woken) string {
	switch {
	case w.Remote == "":
		return "looked at what waits; the record has no remote"
	case w.RemoteError != "":
		return "looked at what waits; the remote " + term.Line(w.Remote) + " could not be looked at"
	}
	found := "nothing new"
	if w.Arrived > 0 {
		found = cli.Count(w.Arrived, "message") + " came"
	}
	text := "looked at " + term.Line(w.Remote) + ": " + found
	if w.Unpushed > 0 {
		text += fmt.Sprintf("; %s not pushed yet, see: %s", cli.Count(w.Unpushed, "message"), v.Command("parley status"))
	}
	return text
}
