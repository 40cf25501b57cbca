package control

import (
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
	"strconv"
)

var _ Service = (*Client)(nil)

// Client is the Service of the node behind a control socket. It holds no
// connection between calls, so that it needs no closing and a node may be
// restarted under it. It is safe for concurrent use.
type Client struct {
	path    string
	version string
	agent   string // whom the environment names as the caller, "" for nobody
	token   string // what it bears to be known by
	http    *http.Client
}

// NewClient makes a client of the node whose control socket is at path. The
// version is that of the program, for the error when the node is an older one.
func NewClient(path, version string) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) { return Dial(ctx, path) }
	transport := &http.Transport{DialContext: dial, DisableKeepAlives: true, DisableCompression: true}
	return &Client{path: path, version: version, http: &http.Client{Transport: transport}}
}

// Bearing is the client with what its environment says of who calls: an agent's
// name (PARLEY_AGENT) and a token (PARLEY_TOKEN), "" for none.
func (c *Client) Bearing(agent, token string) *Client {
	bearing := *c
	bearing.agent, bearing.token = agent, token
	return &bearing
}

// Log calls yield with the record's messages. With Follow it returns nil when
// ctx ends, because that is how following ends.
func (c *Client) Log(ctx context.Context, r LogRequest, yield func(Message) error) error {
	ended := func(err error) error {
		if r.Follow && ctx.Err() != nil {
			return nil
		}
		return err
	}
	// Returning early ends the node's side too: closing the body closes the
	// connection.
	body, err := c.post(ctx, verbLog, r)
	if err != nil {
		return ended(err)
	}
	defer body.Close()
	dec := json.NewDecoder(body)
	for {
		var line logLine
		switch err := dec.Decode(&line); {
		case err == io.EOF:
			return nil
		case err != nil:
			return ended(c.broken(ctx, verbLog, err))
		case line.Failure != "":
			return &Error{Message: line.Failure, Kind: line.Kind, Hint: line.Hint}
		}
		if err := yield(line.Message); err != nil {
			return err
		}
	}
}

// logLine is a message, or as the last line of a stream the reason why it ends
// early.
type logLine struct {
	Message
	Failure string `json:"error"`
	Kind    Kind   `json:"kind"`
	Hint    string `json:"hint"`
}

// call asks the node for one answer.
func call[A any](ctx context.Context, c *Client, verb string, request any) (A, error) {
	var answer A
	body, err := c.post(ctx, verb, request)
	if err != nil {
		return answer, err
	}
	defer body.Close()
	if err := json.NewDecoder(body).Decode(&answer); err != nil {
		return answer, c.broken(ctx, verb, err)
	}
	return answer, nil
}

// post sends the request and returns the body of a good answer, which the
// caller closes.
func (c *Client) post(ctx context.Context, verb string, request any) (io.ReadCloser, error) {
	data, err := json.Marshal(request)
	if err != nil {
		return nil, AsError(fmt.Errorf("cannot write the request %s: %w", verb, err))
	}
	// The host of the URL goes unused: the transport dials the socket.
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://parley"+pathPrefix+verb, bytes.NewReader(data))
	if err != nil {
		return nil, AsError(err)
	}
	r.Header.Set("Content-Type", typeJSON)
	r.Header.Set(headerAPI, strconv.Itoa(API))
	for name, value := range map[string]string{headerAgent: c.agent, headerToken: c.token} {
		if value != "" {
			r.Header.Set(name, url.QueryEscape(value)) // it may hold anything
		}
	}
	answer, err := c.http.Do(r)
	if err != nil {
		return nil, c.unreachable(ctx, verb, err)
	}
	if err := c.check(ctx, verb, answer); err != nil {
		answer.Body.Close()
		return nil, err
	}
	return answer.Body, nil
}

// check returns the error that an answer carries.
func (c *Client) check(ctx context.Context, verb string, answer *http.Response) error {
	api, err := strconv.Atoi(answer.Header.Get(headerAPI))
	if err != nil {
		return Errorf(KindFailed, "", "cannot %s: what answers at %s is no parley node", verb, c.path)
	}
	var failed *Error
	if answer.StatusCode != http.StatusOK {
		failed = new(Error)
		if err := json.NewDecoder(answer.Body).Decode(failed); err != nil {
			return c.broken(ctx, verb, err)
		}
	}
	if api < API && !anyAPI(verb) || failed != nil && failed.Kind == KindOldNode {
		return Errorf(KindOldNode, "parley stop && parley up", "the running node is version %s, this command is version %s",
			answer.Header.Get(headerVersion), c.version)
	}
	if failed != nil {
		return failed
	}
	return nil
}

// unreachable says why no answer came.
func (c *Client) unreachable(ctx context.Context, verb string, err error) error {
	dial := new(net.OpError)
	if ctx.Err() == nil && (notThere(err) || errors.As(err, &dial) && dial.Op == "dial") {
		if !notThere(err) {
			return Errorf(KindUnavailable, "", "cannot reach the node of %s: %v", filepath.Dir(c.path), dial.Err)
		}
		return Errorf(KindUnavailable, "parley up", "no node is running for %s", filepath.Dir(c.path))
	}
	return c.broken(ctx, verb, err)
}

// broken says why an answer did not come to its end.
func (c *Client) broken(ctx context.Context, verb string, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return Errorf(KindTimeout, "", "cannot %s: the node did not answer in time", verb)
	case ctx.Err() != nil:
		return Errorf(KindFailed, "", "cannot %s: interrupted", verb)
	}
	if asked := new(url.Error); errors.As(err, &asked) {
		err = asked.Err // the URL is nothing that a person has asked for
	}
	return Errorf(KindUnavailable, "parley status", "cannot %s: the node went away before its answer was complete: %v", verb, err)
}
