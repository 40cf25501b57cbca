package door

import (
	"os"
	"strings"
)

// verdict is what the end of a command that Run let end by itself amounts to.
func verdict(state *os.ProcessState, output string) (Failure, string) {
	if signal := endedBy(state); signal != "" {
		return Signal, signal
	}
	switch {
	case state.ExitCode() != 0:
		return ExitStatus, ""
	case strings.TrimSpace(output) == "":
		return Empty, ""
	}
	return None, ""
}
