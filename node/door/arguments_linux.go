package door

import "os/exec"

// maxArgument is how long one argument may be, in bytes, with the NUL at its end: 32 pages of the
// smallest size (MAX_ARG_STRLEN). A system with larger pages allows more.
const maxArgument = 32 * 4096

// checkArguments returns an error for arguments that the system would refuse. How much all of them
// may take together depends on the limits of the process; the system's own error says that.
func checkArguments(cmd *exec.Cmd) error {
	for _, word := range cmd.Args {
		if len(word) >= maxArgument {
			return tooLong("at most 128 KiB each")
		}
	}
	return nil
}
