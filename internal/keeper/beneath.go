package keeper

import (
	"os"
	"slices"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/walls"
)

// Beneath reports whether this process runs beneath a keeper, as far as the system tells. Such a
// process was started by an agent's command.
func Beneath() bool {
	chain, err := process.Ancestry(os.Getpid())
	return err == nil && slices.ContainsFunc(chain[1:], func(above process.ID) bool {
		args := process.Arguments(above.PID)
		return Asked(args) || walls.Inside(args) // behind walls the keeper is not seen
	})
}
