package cli

import (
	"errors"
	"io"
	"os"
)

// console is the two ends of the console from which this command was started.
type console struct{ in, out *os.File }

func (c console) Read(data []byte) (int, error)  { return c.in.Read(data) }
func (c console) Write(data []byte) (int, error) { return c.out.Write(data) }
func (c console) Close() error                   { return errors.Join(c.in.Close(), c.out.Close()) }

// controllingTerminal is the console, whatever the standard files are.
func controllingTerminal() (io.ReadWriteCloser, error) {
	in, err := os.OpenFile("CONIN$", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	out, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return nil, errors.Join(err, in.Close())
	}
	return console{in, out}, nil
}
