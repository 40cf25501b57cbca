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

// loopMarks begins the subjects by which NATS servers find cycles of links. Each server has one of
// its own. If a server gets its own one over a link, it ends that link and makes none for half a
// minute. NATS excepts such subjects from permissions. So any linked server could claim to have the
// mark of another server.
const loopMarks = "$LDS."

// maxLine bounds a line of a linked server, in bytes.
const maxLine = 32 << 10

// unmarked is a link of which one end takes no other links. So no cycle goes through it (see tree),
// and it lets nothing pass that feigns one. It does not let pass either what a server calls an
// error, which could make our server wait as long: it ends the link in any case.
type unmarked struct {
	*tls.Conn
	in   *bufio.Reader
	line []byte // the rest of a line that may pass
	left int    // bytes of a message that pass unchanged
}

// newUnmarked reads what comes by `conn` from `in`, which is `conn` or a reader in front of it.
func newUnmarked(conn *tls.Conn, in io.Reader) *unmarked {
	return &unmarked{Conn: conn, in: bufio.NewReaderSize(in, maxLine)}
}

// Read returns what has come already. It waits only if that is nothing.
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

// ready reports whether there is more to return without waiting.
func (u *unmarked) ready() bool {
	if len(u.line) > 0 {
		return true
	}
	came, _ := u.in.Peek(u.in.Buffered())
	return len(came) > 0 && (u.left > 0 || bytes.IndexByte(came, '\n') >= 0)
}

// next reads a line. A line that is none of a linked server ends the link. So the server behind it
// sees the same lines.
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
