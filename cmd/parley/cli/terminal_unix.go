//go:build unix

package cli

import (
	"io"
	"os"
)

// controllingTerminal is the terminal from which this command was started, whatever its standard
// files are. A program that began a session of its own has none.
func controllingTerminal() (io.ReadWriteCloser, error) {
	return os.OpenFile("/dev/tty", os.O_RDWR, 0)
}
