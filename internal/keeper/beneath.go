package keeper

import (
	"os"

	"github.com/parleyfleet/parley/internal/process"
)

// Beneath reports whether this process runs beneath a keeper, as far as the system tells. Such a
// process was started by an agent's command.
func Beneath() bool {
	chain, err := process.Ancestry(os.Getpid())
	if err != nil {
		return false
	}
	for _, above := range chain[1:] {
		if Asked(process.Arguments(above.PID)) {
			return true
		}
	}
	return false
}
