package control

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"reflect"
	"strconv"
)

var _ Service = (*Client)(nil)

// Client is a Service: the node behind a control socket. It need not be closed. The node may be
// restarted during its life, because a connection that it keeps open between calls is only tried.
// It is safe for concurrent use.
type Client struct {
	path    string
	version string
	agent   string // the caller that the environment names; "" for nobody
	token   string // the token by which the node knows it
	thread  string // the session of an agent program for which it asks
	secrets Handling
	conns   *conns
}

// NewClient makes a client of the node whose control socket is at `path`. `version` is that of the
// program, for the error if the node is an older one.
func NewClient(path, version string) *Client {
	return &Client{path: path, version: version, conns: &conns{path: path}}
}

// Bearing is the client with what its environment says about the caller: an agent's name
// (PARLEY_AGENT) and a token (PARLEY_TOKEN); "" for none.
func (c *Client) Bearing(agent, token string) *Client {
	bearing := *c
	bearing.agent, bearing.token = agent, token
	return &bearing
}

// Within is the client that asks for a session of an agent program, by the program's id of it.
func (c *Client) Within(thread string) *Client {
	within := *c
	within.thread = thread
	return &within
}

// Answer asks the node. If the answers of a verb go on, it returns nil when `ctx` ends, because
// that is how they end.
func (c *Client) Answer(ctx context.Context, v VerbSpec, request any, yield func(answer any) error) error {
	ended := func(err error) error {
		if v.Stream && v.goesOn(request) && ctx.Err() != nil {
			return nil
		}
		return err
	}
	// If this returns early, the node's side ends too: closing the body closes the connection.
	body, err := c.post(ctx, v, request)
	if err != nil {
		return ended(err)
	}
	defer body.Close()
	if v.Stream {
		return lines(v, body, yield, func(err error) error { return ended(c.broken(ctx, v.Name, err)) })
	}
	answer := reflect.New(v.Answer)
	if err := readJSON(body, answer.Interface()); err != nil {
		return c.broken(ctx, v.Name, err)
	}
	return yield(answer.Elem().Interface())
}

// failureLine begins the last line of a stream that ends early; that line is an Error. No answer of
// a stream begins like this.
const failureLine = `{"error":`

// lines calls `yield` with the answers of a stream. If the stream breaks off, the error is what
// `cut` makes of the reason.
func lines(v VerbSpec, body io.Reader, yield func(answer any) error, cut func(error) error) error {
	for in := bufio.NewReader(body); ; {
		line, err := in.ReadBytes('\n')
		switch {
		case err == io.EOF && len(line) == 0:
			return nil
		case err == io.EOF:
			return cut(io.ErrUnexpectedEOF)
		case err != nil:
			return cut(err)
		}
		if bytes.HasPrefix(line, []byte(failureLine)) {
			failed := new(Error)
			if err := json.Unmarshal(line, failed); err != nil {
				return cut(err)
			}
			return failed
		}
		answer := reflect.New(v.Answer)
		if err := json.Unmarshal(line, answer.Interface()); err != nil {
			return cut(err)
		}
		if err := yield(answer.Elem().Interface()); err != nil {
			return err
		}
	}
}

func (c *Client) post(ctx context.Context, v VerbSpec, request any) (io.ReadCloser, error) {
	data, err := json.Marshal(request)
	if err == nil && c.secrets == MaskSecrets && v.Access != Reads && !v.Local {
		data, err = masked(data)
	}
	if err != nil {
		return nil, AsError(fmt.Errorf("cannot write the request %s: %w", v.Name, err))
	}
	answer, err := c.conns.ask(ctx, c.written(v.Name, data))
	if err != nil {
		return nil, c.unreachable(ctx, v.Name, err)
	}
	if err := c.check(ctx, v, answer); err != nil {
		answer.Body.Close()
		return nil, err
	}
	return answer.Body, nil
}

// written is the request as bytes on the wire. It is one write of a few lines, because what
// net/http does with a request takes longer than the node needs for most requests.
func (c *Client) written(verb string, body []byte) []byte {
	const usualHead = 256 // bytes
	out := make([]byte, 0, usualHead+len(body))
	out = fmt.Appendf(out, "POST %s%s HTTP/1.1\r\nHost: parley\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s: %d\r\n",
		pathPrefix, verb, typeJSON, len(body), headerAPI, API)
	for _, known := range [...]struct{ header, by string }{{headerAgent, c.agent}, {headerToken, c.token}, {headerThread, c.thread}, {headerSecrets, string(c.secrets)}} {
		if known.by != "" {
			out = fmt.Appendf(out, "%s: %s\r\n", known.header, url.QueryEscape(known.by)) // its value may contain anything
		}
	}
	return append(append(out, "\r\n"...), body...)
}

// readJSON reads a body to its end, so that its connection can be used again.
func readJSON(body io.Reader, into any) error {
	data, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}

func (c *Client) check(ctx context.Context, v VerbSpec, answer *http.Response) error {
	api, err := strconv.Atoi(answer.Header.Get(headerAPI))
	if err != nil {
		return Errorf(KindFailed, "", "cannot %s: what answers at %s is no parley node", v.Name, c.path)
	}
	var failed *Error
	if answer.StatusCode != http.StatusOK {
		failed = new(Error)
		if err := readJSON(answer.Body, failed); err != nil {
			return c.broken(ctx, v.Name, err)
		}
	}
	if api < API && !v.AnyAPI || failed != nil && failed.Kind == KindOldNode {
		return Errorf(KindOldNode, "parley restart", "the running node is version %s, this command is version %s",
			answer.Header.Get(headerVersion), c.version)
	}
	if failed != nil {
		return failed
	}
	return nil
}

// unreachable says why no answer came.
func (c *Client) unreachable(ctx context.Context, verb string, err error) error {
	if dial, is := errors.AsType[*net.OpError](err); ctx.Err() == nil && (notThere(err) || is && dial.Op == "dial") {
		if !notThere(err) {
			return Errorf(KindUnavailable, "", "cannot reach the node of %s: %v", filepath.Dir(c.path), dial.Err)
		}
		return Errorf(KindUnavailable, "parley up -d", "no node is running for %s", filepath.Dir(c.path))
	}
	return c.broken(ctx, verb, err)
}

// broken says why an answer has no end.
func (c *Client) broken(ctx context.Context, verb string, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Errorf(KindTimeout, "", "cannot %s: the node did not answer in time", verb)
	case ctx.Err() != nil:
		return Errorf(KindFailed, "", "cannot %s: interrupted", verb)
	}
	return Errorf(KindUnavailable, "parley status", "cannot %s: the node went away before its answer was complete: %v", verb, err)
}
