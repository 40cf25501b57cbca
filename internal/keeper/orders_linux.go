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
	Dir   string      // "": where this process was when it began
	Env   []string    // each name once
	Files [3]*os.File // standard input, output and error
	User  *User       // nil: as this process
	Group *Group      // the control group that it runs in; nil: none
	// Limits are what it may use; those that Group sets too.
	Limits Limits
	Walls  walls.Walls // what it does not see; the zero value hides nothing
}

// The orders of a keeper.
const (
	orderBegin     = 'b' // a command follows; its files come with this
	orderTerminate = 't' // ask what runs to end
	orderKill      = 'k' // end what runs, and report that it is gone
)

// The reports of a keeper, a line each.
const (
	reportBegan  = "began"
	reportFailed = "failed" // and the error's number
	reportExit   = "exit"   // and the exit code, and what usage says
	reportSignal = "signal" // and its number, and what usage says
	reportClean  = "clean"  // nothing of the command is left
)

// maxOrder bounds the words of a command, whose bounds the system sets.
const maxOrder = 16 << 20

// errOrder says that what came is no order.
var errOrder = errors.New("not an order")

// send orders a keeper to begin. No word of a command has a zero byte in it.
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

// order is one as a keeper gets it.
type order struct {
	kind byte
	c    Command
	user *User
	fds  []int // the files and, where it runs in one, its control group
}

// receive reads an order. The error is io.EOF where the starter is gone.
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
