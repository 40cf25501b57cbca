package door

import "strings"

// verdict is what the end of a command that Run let end by itself amounts to.
func (e ending) verdict(output string) (Failure, string) {
	switch {
	case e.signal != "":
		return Signal, e.signal
	case e.exitCode != 0:
		return ExitStatus, ""
	case strings.TrimSpace(output) == "":
		return Empty, ""
	}
	return None, ""
}
