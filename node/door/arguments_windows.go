package door

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"unicode/utf16"
)

// maxCommandLine is how many UTF-16 units a command line may have, with the NUL
// at its end.
const maxCommandLine = 32767

// checkArguments returns an error for arguments that the system would refuse or, worse, take for
// commands. cmd.exe, which runs batch files, reads their arguments by rules of its own. So a
// message in one could run anything.
func checkArguments(cmd *exec.Cmd) error {
	switch strings.ToLower(filepath.Ext(strings.TrimRight(cmd.Path, ". "))) {
	case ".bat", ".cmd":
		return errors.New("it is a batch file, which cannot be given text of others as an argument safely: use a command that reads standard input, or the program that the batch file runs")
	}
	line := make([]string, len(cmd.Args))
	for i, word := range cmd.Args {
		line[i] = syscall.EscapeArg(word)
	}
	if len(utf16.Encode([]rune(strings.Join(line, " "))))+1 > maxCommandLine {
		return tooLong("at most 32 KiB for the whole command line")
	}
	return nil
}
