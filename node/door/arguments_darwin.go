package door

import "os/exec"

// maxArguments is how many bytes arguments and environment may take together (ARG_MAX), minus what
// the system adds itself.
const maxArguments = 1<<20 - 8<<10

// checkArguments returns an error for arguments that the system would refuse.
func checkArguments(cmd *exec.Cmd) error {
	const terminatorAndPointer = 1 + 8
	total := 0
	for _, words := range [][]string{cmd.Args, cmd.Env} {
		for _, word := range words {
			total += len(word) + terminatorAndPointer
		}
	}
	if total > maxArguments {
		return tooLong("at most 1 MiB together with the environment")
	}
	return nil
}
