package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/parleyfleet/parley/internal/wait"
)

const (
	// maxLine is how long a line of a client may be, in bytes. No message needs more: escapes in JSON
	// make a text six times as long at most.
	maxLine = 8 << 20
	// lastAnswers is how long calls may still be answered when the client has said all that it wants.
	lastAnswers = 5 * time.Second
)

// lines is the connection with a client: one JSON-RPC message on each line (MCP, "stdio"). A line
// that is none is answered with an error, and the next one is read: the connection of the SDK would
// end there. When the client says nothing more, or `ctx` ends, what waits is given up, other calls
// are answered, and then the connection ends.
type lines struct {
	came     chan jsonrpc.Message
	over     chan struct{} // closed when nothing more comes
	closed   chan struct{} // closed by Close
	answered chan struct{} // holds a token after an answer
	end      func()        // closes over
	close    func()

	mu    sync.Mutex // guards what follows, and keeps lines whole
	out   io.Writer
	calls int // calls without an answer
}

// newLines begins to read. The goroutine that reads ends with the input, or with the connection if
// it is not within a read then.
func newLines(ctx context.Context, in io.Reader, out io.Writer) *lines {
	l := &lines{
		came: make(chan jsonrpc.Message), over: make(chan struct{}), closed: make(chan struct{}), answered: make(chan struct{}, 1), out: out,
	}
	l.end = sync.OnceFunc(func() { close(l.over) })
	l.close = sync.OnceFunc(func() { close(l.closed) })
	context.AfterFunc(ctx, l.end)
	go l.read(bufio.NewReaderSize(in, 1<<16))
	return l
}

// Connect implements mcp.Transport.
func (l *lines) Connect(context.Context) (mcp.Connection, error) { return l, nil }

// SessionID implements mcp.Connection: there is one client.
func (l *lines) SessionID() string { return "" }

// Close implements mcp.Connection.
func (l *lines) Close() error {
	l.close()
	return nil
}

// read hands on what comes, until there is no more.
func (l *lines) read(in *bufio.Reader) {
	defer l.end()
	for {
		line, long, err := readLine(in)
		line = bytes.TrimSpace(line)
		var m jsonrpc.Message
		var wrong error
		switch {
		case long:
			wrong = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("a line has more than %d bytes", maxLine)}
		case len(line) == 0:
		case !utf8.Valid(line) || !json.Valid(line):
			wrong = &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "a line is not JSON in UTF-8"}
		case line[0] == '[':
			wrong = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "several messages on one line: send each on a line of its own"}
		default:
			if m, wrong = jsonrpc.DecodeMessage(line); wrong != nil {
				wrong = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a line is no JSON-RPC message: " + wrong.Error()}
			}
		}
		if wrong != nil && l.write(&jsonrpc.Response{Error: wrong}) != nil {
			return
		}
		if wrong == nil && m != nil {
			select {
			case l.came <- m:
			case <-l.closed:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// readLine reads a line. What is too long is read and dropped.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if err != bufio.ErrBufferFull {
			return line, long, err
		}
	}
}

// Read implements mcp.Connection. The end comes when the calls are answered.
func (l *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-l.came:
		if r, is := m.(*jsonrpc.Request); is && r.IsCall() {
			l.mu.Lock()
			l.calls++
			l.mu.Unlock()
		}
		return m, nil
	case <-l.closed:
		return nil, io.EOF
	case <-l.over:
	}
	ctx, cancel := context.WithTimeout(ctx, lastAnswers)
	defer cancel()
	for l.waiting() {
		select {
		case <-l.answered:
		case <-l.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, io.EOF
		}
	}
	return nil, io.EOF
}

func (l *lines) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.calls > 0
}

// Write implements mcp.Connection.
func (l *lines) Write(_ context.Context, m jsonrpc.Message) error {
	if _, is := m.(*jsonrpc.Response); is {
		defer wait.Nudge(l.answered)
		defer func() {
			l.mu.Lock()
			l.calls--
			l.mu.Unlock()
		}()
	}
	return l.write(m)
}

func (l *lines) write(m jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return fmt.Errorf("cannot write a message: %w", err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, err = l.out.Write(append(data, '\n'))
	return err
}
