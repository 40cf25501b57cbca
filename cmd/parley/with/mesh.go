package with

import (
	"context"

	"github.com/parleyfleet/parley/cmd/parley/mesh"
)

// runMesh prints all parties as one graph (seed, "--mesh-json").
func runMesh(ctx context.Context, c *call) error { return mesh.WriteJSON(ctx, c.client, c.view) }

// runTeam shows the parties with one tag (seed, "--team").
func runTeam(ctx context.Context, c *call) error {
	return mesh.ShowTeam(ctx, c.flags["team"], c.client, c.view)
}
