package door

import "strings"

// verdict is the result of a command that ended without Run having ended it.
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
