package control

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxIdleConns is how many connections of a client may wait for its next call.
	maxIdleConns = 8
	// reuseTime is how long a connection may have waited and still be used again. The server closes
	// it after idleTime, so it is not closed while a call begins.
	reuseTime = idleTime / 2
)

// conns are connections to a control socket. A connection whose answer was read to its end waits
// for the next call: opening another one for each call costs more than most calls do.
//
// It is not an http.Transport. That either repeats a call of which the node may have heard, or lets
// a call fail because the node was started anew since the last one. Here a call is repeated if
// nothing of it was sent.
type conns struct {
	path string

	mu   sync.Mutex // guards idle
	idle []*conn    // the one that was used last is at the end
}

type conn struct {
	net.Conn
	in    *bufio.Reader
	since time.Time // when it began to wait; zero: it was not used before
}

// ask sends a request and returns the answer. The caller closes its body. Until then, the call ends
// if `ctx` ends.
func (cs *conns) ask(ctx context.Context, request []byte) (*http.Response, error) {
	for {
		c, err := cs.take(ctx)
		if err != nil {
			return nil, err
		}
		leave := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) }) // a closed connection needs none
		sent, err := c.Write(request)
		var answer *http.Response
		if err == nil || sent > 0 { // a node that refuses a request does not read all of it
			answer, err = http.ReadResponse(c.in, nil)
		}
		if err == nil {
			answer.Body = &connBody{ReadCloser: answer.Body, conn: c, of: cs, leave: leave, last: answer.Close}
			return answer, nil
		}
		leave()
		c.Close()
		if c.since.IsZero() || sent > 0 || ctx.Err() != nil {
			return nil, err
		}
	}
}

// take is a connection that has waited, which the node may have closed in the meantime, or else a
// new one.
func (cs *conns) take(ctx context.Context) (*conn, error) {
	if c := cs.waiting(); c != nil {
		return c, nil
	}
	opened, err := Dial(ctx, cs.path)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: opened, in: bufio.NewReader(opened)}, nil
}

// waiting is the connection that was used last; nil for none.
func (cs *conns) waiting() *conn {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for last := len(cs.idle) - 1; last >= 0; last-- {
		c := cs.idle[last]
		cs.idle = cs.idle[:last]
		if time.Since(c.since) < reuseTime {
			return c
		}
		c.Close()
	}
	return nil
}

// give takes back a connection on which no call is under way.
func (cs *conns) give(c *conn) {
	c.since = time.Now()
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if len(cs.idle) == maxIdleConns {
		c.Close()
		return
	}
	cs.idle = append(cs.idle, c)
}

type connBody struct {
	io.ReadCloser
	conn  *conn
	of    *conns
	leave func() bool // leaves the request's context; false: that context has ended
	last  bool        // the server closes the connection after this answer
	whole bool        // it was read to its end
}

// Read reads on, and notes when the answer has ended.
func (b *connBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.whole = b.whole || err == io.EOF
	return n, err
}

// Close keeps the connection for the next call if the answer was read to its end. Otherwise it
// closes it, and that ends the node's side of the call too.
func (b *connBody) Close() error {
	if b.leave() && b.whole && !b.last {
		b.of.give(b.conn)
		return nil
	}
	return b.conn.Close()
}
