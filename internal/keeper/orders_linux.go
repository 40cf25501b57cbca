package keeper

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/internal/walls"
	"golang.org/x/sys/unix"
)

// Command is what a keeper runs.
type Command struct {
	Path  string      // the program
	Args  []string    // its words, its name first
	Dir   string      // "": the folder in which this process began
	Env   []string    // each name only once
	Files [3]*os.File // standard input, output and error
	User  *User       // nil: the user of this process
	Group *Group      // the control group in which it runs; nil: none
	// Limits are what it may use, including the limits that Group sets.
	Limits Limits
	Walls  walls.Walls // what it does not see; the zero value hides nothing
}

// The orders of a keeper.
const (
	orderBegin     = 'b' // a command follows, and its files are sent along
	orderTerminate = 't' // ask everything that runs to end
	orderKill      = 'k' // end everything that runs, and report when it is gone
)

// The reports of a keeper, a line each.
const (
	reportBegan  = "began"
	reportFailed = "failed" // followed by the error's number
	reportExit   = "exit"   // followed by the exit code and by what usage says
	reportSignal = "signal" // followed by its number and by what usage says
	reportClean  = "clean"  // nothing of the command is left
)

// maxOrder bounds the words of a command, in bytes. The system itself allows fewer.
const maxOrder = 16 << 20

// errOrder says that what came is no order.
var errOrder = errors.New("not an order")

// send orders a keeper to begin a command. No word of a command contains a zero byte.
func (c Command) send(line *net.UnixConn) error {
	words := append([]string{c.User.String(), c.Group.rest(c.Limits).String(), c.Walls.String(), c.Path, c.Dir, strconv.Itoa(len(c.Args))}, c.Args...)
	text := strings.Join(append(words, c.Env...), "\x00")
	var fds []int
	for _, f := range c.Files {
		fds = append(fds, int(f.Fd()))
	}
	if c.Group != nil {
		fds = append(fds, int(c.Group.folder.Fd()))
	}
	head := binary.LittleEndian.AppendUint32([]byte{orderBegin}, uint32(len(text)))
	if _, _, err := line.WriteMsgUnix(head, unix.UnixRights(fds...), nil); err != nil {
		return err
	}
	_, err := io.WriteString(line, text)
	return err
}

// order is an order as a keeper gets it.
type order struct {
	kind byte
	c    Command
	user *User
	fds  []int // the files, and then the command's control group if it has one
}

// receive reads an order. The error is io.EOF if the starter is gone.
func receive(line *net.UnixConn) (order, error) {
	var o order
	head, rights := make([]byte, 1), make([]byte, unix.CmsgSpace(4*4))
	n, got, _, _, err := line.ReadMsgUnix(head, rights)
	if err != nil || n == 0 {
		return o, errors.Join(err, io.EOF)
	}
	if o.kind = head[0]; o.kind != orderBegin {
		return o, nil
	}
	messages, err := unix.ParseSocketControlMessage(rights[:got])
	if err != nil || len(messages) != 1 {
		return o, errors.Join(err, errOrder)
	}
	if o.fds, err = unix.ParseUnixRights(&messages[0]); err != nil || len(o.fds) < len(o.c.Files) {
		return o, errors.Join(err, errOrder)
	}
	var size [4]byte
	if _, err := io.ReadFull(line, size[:]); err != nil {
		return o, err
	}
	length := binary.LittleEndian.Uint32(size[:])
	if length > maxOrder {
		return o, errOrder
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(line, text); err != nil {
		return o, err
	}
	return o, o.parse(strings.Split(string(text), "\x00"))
}

// parse reads the words that send wrote.
func (o *order) parse(words []string) error {
	const before = 6 // the user, the limits, the walls, the program, its folder and how many words it has
	if len(words) < before {
		return errOrder
	}
	user, ok := parseUser(words[0])
	limits, limited := parseLimits(words[1])
	hidden, walled := walls.Parse(words[2])
	n, err := strconv.Atoi(words[5])
	if !ok || !limited || !walled || err != nil || n < 0 || n > len(words)-before {
		return errOrder
	}
	o.user, o.c.Limits, o.c.Walls, o.c.Path, o.c.Dir = user, limits, hidden, words[3], words[4]
	o.c.Args, o.c.Env = words[before:before+n], words[before+n:]
	return nil
}
