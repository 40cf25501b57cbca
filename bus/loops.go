package bus

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
)

// loopMarks begins the subjects by which NATS servers find cycles of links. Each server has one
// of its own. A server that hears of its own by a link ends that link, and makes none for half a
// minute. Whoever is linked may say that it has the mark of another's server, because NATS
// excepts such subjects from permissions.
const loopMarks = "$LDS."

// maxLine bounds a line of a linked server.
const maxLine = 32 << 10

// unmarked is a link of which one end takes no other links, so that no cycle goes through
// it (see tree): nothing that feigns one passes. Neither does what a server calls an
// error, which may have ours wait as long: it ends the link anyway.
type unmarked struct {
	*tls.Conn
	in   *bufio.Reader
	line []byte // the rest of a line that passes
	left int    // bytes of a message that pass as they are
}

// newUnmarked reads what comes by conn from in, which is conn or something before it.
func newUnmarked(conn *tls.Conn, in io.Reader) *unmarked {
	return &unmarked{Conn: conn, in: bufio.NewReaderSize(in, maxLine)}
}

// Read hands out what has come already, and waits only where that is nothing.
func (u *unmarked) Read(p []byte) (n int, err error) {
	for n < len(p) && (n == 0 || u.ready()) {
		switch {
		case len(u.line) > 0:
			m := copy(p[n:], u.line)
			u.line, n = u.line[m:], n+m
		case u.left > 0:
			m, err := u.in.Read(p[n:min(len(p), n+u.left)])
			if u.left, n = u.left-m, n+m; err != nil {
				return n, err
			}
		default:
			if err := u.next(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

// ready reports whether there is more to hand out without waiting.
func (u *unmarked) ready() bool {
	if len(u.line) > 0 {
		return true
	}
	came, _ := u.in.Peek(u.in.Buffered())
	return len(came) > 0 && (u.left > 0 || bytes.IndexByte(came, '\n') >= 0)
}

// next reads a line. What is none of a linked server ends the link, so that the server
// behind it sees the same lines.
func (u *unmarked) next() error {
	line, err := u.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return fmt.Errorf("a line is longer than %d bytes", maxLine)
	} else if err != nil {
		return err
	}
	if at := bytes.IndexByte(line, '\r'); at >= 0 && at < len(line)-2 {
		return errors.New("a line has a line end within")
	}
	words := bytes.Fields(line)
	if len(words) == 0 {
		return errors.New("a line is empty")
	}
	u.line = line
	switch op := string(bytes.ToUpper(words[0])); {
	case op == "LMSG" || op == "HMSG":
		size, err := strconv.ParseUint(string(words[len(words)-1]), 10, 30)
		if err != nil {
			return errors.New("a message has no size")
		}
		u.left = int(size) + len("\r\n")
	case op == "-ERR":
		u.line = nil
	case slices.Contains([]string{"PING", "PONG", "+OK"}, op):
	case !slices.Contains([]string{"LS+", "LS-", "CONNECT", "INFO"}, op):
		return errors.New("a line is none of a linked server")
	case len(words) == 1: // the server would take the next line for the rest of this one
		return errors.New("a line says nothing of what it is about")
	case op[0] == 'L' && bytes.HasPrefix(words[1], []byte(loopMarks)):
		u.line = nil
	}
	return nil
}
