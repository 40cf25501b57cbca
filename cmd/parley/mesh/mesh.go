// Package mesh shows how parties are connected: as a graph for programs and people, and by the tag
// that several parties share.
package mesh

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/spf13/cobra"
)

// The words of a mesh.
const (
	typeAgent = "agent"
	forwards  = "forward"
)

// NewCommand is parley party mesh.
func NewCommand(p *cli.Program) *cobra.Command {
	var watch, svg bool
	cmd := &cobra.Command{
		Use:   "mesh [--svg [FILE]]",
		Short: "Who is in parties with whom, and how far they are in sync",
		Long: `Who is in parties with whom, of all hosts, and how far they are in sync: for
each party and member a line from the agent through which the party is led, with
the member's last score, and what it is worth now. If that agent has left, the
line is from the human who leads the party. Where the member has asked too, what
it was answered is a line of its own: two may see each other differently.

--json prints the graph as {nodes, edges, ts}, for programs that draw it, and
--watch goes on with what changes, a line each time: nodes and edges that are
new or other than before, and the ids of those that are gone. Time alone is no
change, though scores fade: who draws them computes that from syncRaw, lastSync
and lambda.

--svg draws it, with a lane for each host. At each line stand the party and what
its score is worth now: green from 90%, amber from 70%, cyan from 50%, gray
below, the paler the less, and dashed where it is older than three half-lives.`,
		Example: `  parley party mesh
  parley party mesh --svg mesh.svg
  parley party mesh --watch | jq -c '.edges[].id'`,
		Args: cli.Between(0, 1, "at most one file, with --svg"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) > 0 && !svg:
				return cli.UsageErrorf(cmd, "%q: a file goes with --svg", args[0])
			case svg && (watch || p.View().JSON):
				return cli.UsageErrorf(cmd, "--svg draws what is now: it goes without --watch and --json")
			}
			client, err := p.Client()
			switch {
			case err != nil:
				return err
			case svg:
				return runSVG(cmd.Context(), strings.Join(args, ""), client, p.View())
			case watch:
				return runWatch(cmd.Context(), client, p.View())
			}
			return runMesh(cmd.Context(), client, p.View())
		},
	}
	cmd.Flags().BoolVar(&svg, "svg", false, "draw it, into FILE or to standard output")
	cmd.Flags().BoolVar(&watch, "watch", false, "print it as JSON and go on with what changes, one a line")
	return p.JSONFlag(cmd, "print the graph as JSON")
}

func now(ctx context.Context, client control.Service) (m control.Mesh, err error) {
	err = control.ShowMesh.Ask(ctx, client, control.MeshRequest{}, func(is control.Mesh) error {
		m = is
		return nil
	})
	return m, err
}

// WriteJSON prints the mesh as JSON (seed, "--mesh-json").
func WriteJSON(ctx context.Context, client control.Service, v cli.View) error {
	v.JSON = true
	return runMesh(ctx, client, v)
}

func runWatch(ctx context.Context, client control.Service, v cli.View) error {
	buffered := bufio.NewWriter(v.Out.Writer)
	v.Out.Writer = buffered
	err := control.ShowMesh.Ask(ctx, client, control.MeshRequest{Follow: true}, func(m control.Mesh) error {
		if err := v.WriteJSON(m); err != nil {
			return err
		}
		return buffered.Flush()
	})
	if ctx.Err() != nil {
		return nil // this is how following ends
	}
	return err
}

func runSVG(ctx context.Context, file string, client control.Service, v cli.View) error {
	m, err := now(ctx, client)
	if err != nil {
		return err
	}
	if file == "" || file == "-" {
		v.Out.Printf("%s", drawing(m))
		return nil
	}
	if err := os.WriteFile(file, []byte(drawing(m)), 0o644); err != nil {
		return fmt.Errorf("cannot write the drawing: %w", err)
	}
	v.Err.Printf("Drawn: %s, in %s\n", Summary(m), term.Line(file))
	return nil
}

// Summary says how much there is in a mesh.
func Summary(m control.Mesh) string {
	agents, hosts, parties := 0, map[string]bool{}, map[string]bool{}
	for _, n := range m.Nodes {
		hosts[n.Data.Node.String()] = true
		if n.Type == typeAgent {
			agents++
		}
	}
	for _, e := range m.Edges {
		parties[e.Data.Channel.String()] = true
	}
	if len(parties) == 0 {
		return "No party is on"
	}
	return fmt.Sprintf("%s: %s and %s of %s", cli.Count(len(parties), "party"), cli.Count(agents, "agent"), cli.Count(len(m.Nodes)-agents, "human"), cli.Count(len(hosts), "host"))
}

func runMesh(ctx context.Context, client control.Service, v cli.View) error {
	m, err := now(ctx, client)
	switch {
	case err != nil:
		return err
	case v.JSON:
		return v.WriteJSON(m)
	case len(m.Edges) == 0:
		v.Out.Printf("%s.\n", Summary(m))
		v.Next("parley party organize \"topic\" --with mawjs", "begin one")
		return nil
	}
	v.Out.Printf("🕸 %s\n\n", Summary(m))
	var shown []control.MeshEdge
	t := term.Table{Heading: []string{"From", "To", "Party", "Raw", "Decay", "λ", "Last Sync", "Trust", "Team", "Colour"}, Flexible: 2}
	t.Style = func(row int, cell string) string { return v.Out.Colour(string(shown[row].Data.Colour), cell) }
	for _, e := range m.Edges {
		if e.Source == e.Target {
			continue // an agent is always in sync with itself
		}
		shown = append(shown, e)
		age, colour := "—", "—"
		if e.Data.Synced {
			age, colour = v.Age(e.Data.LastSync), string(e.Data.Colour)
			if e.Data.Dashed {
				colour += ", old"
			}
		}
		t.Rows = append(t.Rows, []string{
			term.Line(e.Source), term.Line(e.Target), term.Line(e.Data.Topic), raw(e), decayed(e), fmt.Sprintf("%.2f", e.Data.Lambda), age, string(e.Data.Trust), term.Line(e.Data.Team), colour})
	}
	if len(t.Rows) == 0 {
		v.Out.Printf("Nobody is in a party with another one yet.\n")
		return nil
	}
	v.Table(t)
	return nil
}
