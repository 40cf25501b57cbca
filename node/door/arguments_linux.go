package door

import "os/exec"

// maxArgument is how long one argument may be, with the NUL at its end: 32 pages
// of the smallest size (MAX_ARG_STRLEN). A system of larger pages takes more.
const maxArgument = 32 * 4096

// checkArguments reports arguments that the system would refuse. What all may
// take together depends on the limits of the process; the system's own error
// tells that.
func checkArguments(cmd *exec.Cmd) error {
	for _, word := range cmd.Args {
		if len(word) >= maxArgument {
			return tooLong("at most 128 KiB each")
		}
	}
	return nil
}
