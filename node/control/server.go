package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"reflect"
	"strconv"
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// maxRequest bounds the body of a request, in bytes. It is far above the largest message,
	// however its text is escaped.
	maxRequest = 8 * protocol.MaxFile
	// drainTime is how long requests under way may go on when the server ends.
	drainTime = 3 * time.Second
	// defaultPatience is how long a request may take to arrive. A request on this machine takes
	// milliseconds.
	defaultPatience = 10 * time.Second
	// idleTime is how long a connection may stay open between requests.
	idleTime = 30 * time.Second
)

// Info is what a server says about itself in every answer.
type Info struct {
	Version string      // of the program, for people
	API     int         // the API that the server speaks
	Errors  *log.Logger // where panics and failures to accept go; nil: nowhere
	// Busy says why the service answers nothing yet, for every request; nil: it answers.
	Busy func() error
	// Judge decides who sent a request, by what is known of them. An error refuses the request.
	// nil: nothing is known of anybody, and all callers are unattended.
	Judge func(Calling) (Caller, error)
	// Refused is called with requests that were refused because of their caller; nil: nobody is
	// told.
	Refused func(verb string, c Caller, why error)
	// Patience is how long a request may take to come in; 0: ten seconds.
	Patience time.Duration
}

func (i Info) withDefaults() Info {
	if i.Errors == nil {
		i.Errors = log.New(io.Discard, "", 0)
	}
	if i.Judge == nil {
		i.Judge = func(Calling) (Caller, error) { return Caller{How: "nothing"}, nil }
	}
	if i.Refused == nil {
		i.Refused = func(string, Caller, error) {}
	}
	if i.Patience <= 0 {
		i.Patience = defaultPatience
	}
	return i
}

// Serve has `s` answer the requests that come in on `listener`, until `ctx` ends or the listener
// fails. When `ctx` ends, streams and waits are told that the node stops, and short requests get a
// few seconds to finish. Then the listener is closed and Serve returns nil.
func Serve(ctx context.Context, listener net.Listener, s Answers, info Info) error {
	info = info.withDefaults()
	server := &http.Server{
		Handler: &server{
			answers: s, info: info, verbs: byName(), draining: ctx,
			version: []string{info.Version}, api: []string{strconv.Itoa(info.API)},
		},
		ErrorLog:          info.Errors,
		ReadHeaderTimeout: info.Patience,
		IdleTimeout:       idleTime,
		ConnContext:       withPeer,
	}
	drained := make(chan struct{})
	// This ends the server when ctx ends. If the listener fails first, stop releases it.
	stop := context.AfterFunc(ctx, func() {
		defer close(drained)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if server.Shutdown(grace) != nil {
			server.Close()
		}
	})
	err := server.Serve(peerListener{listener})
	if !stop() {
		<-drained
		return nil
	}
	server.Close()
	return &Error{Message: "cannot serve the control socket: " + err.Error(), Kind: KindFailed}
}

// server is the http.Handler around Answers.
type server struct {
	answers  Answers
	info     Info
	verbs    map[string]VerbSpec
	draining context.Context // ends when the server does

	version, api []string // headers of every answer
}

func byName() map[string]VerbSpec {
	table := map[string]VerbSpec{}
	for _, v := range Verbs() {
		table[v.Name] = v
	}
	return table
}

func (v *VerbSpec) decode(body []byte) (request any, err error) {
	r := reflect.New(v.Request)
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(r.Interface()); err != nil {
		return nil, Errorf(KindUsage, "", "cannot read the request: %v", err)
	}
	return r.Elem().Interface(), nil
}

// one writes the single answer to a request. It returns an error only if nothing was written.
func (h *server) one(ctx context.Context, by Caller, v VerbSpec, request any, w http.ResponseWriter) error {
	var body bytes.Buffer
	if err := h.answers.AnswerTo(ctx, by, v, request, func(answer any) error { return WriteJSON(&body, answer) }); err != nil {
		return err
	}
	w.Header().Set("Content-Type", typeJSON)
	_, _ = w.Write(body.Bytes()) // it fails only if nobody listens any more
	return nil
}

// stream writes answers as JSON lines. If the request goes on, it sends each answer at once. It
// returns an error only if nothing was written.
func (h *server) stream(ctx context.Context, by Caller, v VerbSpec, request any, w http.ResponseWriter) error {
	begun, goesOn := false, v.goesOn(request)
	err := h.answers.AnswerTo(ctx, by, v, request, func(answer any) error {
		if !begun {
			w.Header().Set("Content-Type", typeStream)
			begun = true
		}
		if err := WriteJSON(w, answer); err != nil {
			return err
		}
		if goesOn {
			return http.NewResponseController(w).Flush()
		}
		return nil
	})
	if err == nil && goesOn {
		err = ctx.Err()
	}
	switch {
	case err == nil && !begun:
		w.Header().Set("Content-Type", typeStream)
	case err != nil && begun:
		_ = WriteJSON(w, failure(ctx, err)) // it fails only if nobody listens any more
	case err != nil:
		return err
	}
	return nil
}

// ServeHTTP answers POST /v1/<verb>.
func (h *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header[headerVersion], header[headerAPI] = h.version, h.api
	header["Date"] = nil // nobody needs it
	if err := h.answer(r.Context(), w, r); err != nil {
		e := AsError(err)
		w.Header().Set("Content-Type", typeJSON)
		w.WriteHeader(e.Kind.httpStatus())
		_ = WriteJSON(w, e) // it fails only if nobody listens any more
	}
}

func (h *server) answer(ctx context.Context, w http.ResponseWriter, r *http.Request) error {
	name, ok := cutVerb(r)
	if !ok {
		return Errorf(KindUsage, "", "cannot answer %s %s: requests are POST %s<verb>", r.Method, r.URL.Path, pathPrefix)
	}
	if h.info.Busy != nil {
		return h.info.Busy()
	}
	v, known := h.verbs[name]
	api, _ := strconv.Atoi(r.Header.Get(headerAPI))
	if !known || api > h.info.API && !v.AnyAPI {
		return Errorf(KindOldNode, "parley restart", "this node is version %s and does not know how to %s", h.info.Version, name)
	}
	body, err := h.receive(w, r)
	if err != nil {
		return err
	}
	if api == lastAPI {
		body, w = fromLast(body), lastWriter{w}
	}
	caller, err := h.info.Judge(callingOf(r))
	if err != nil {
		h.info.Refused(name, caller, err)
		return err
	}
	request, err := v.decode(body)
	if err != nil {
		return err
	}
	if err = permit(caller, v, v.need(request)); err == nil {
		err = keepsOut(caller, v, Handling(headerOf(r, headerSecrets)), body)
	}
	if err != nil {
		h.info.Refused(name, caller, err)
		return err
	}
	if v.Long {
		return h.long(ctx, caller, v, request, w)
	}
	return h.soon(ctx, caller, v, request, w)
}

// long answers a request that may take as long as the server runs. It ends with the server.
func (h *server) long(ctx context.Context, by Caller, v VerbSpec, request any, w http.ResponseWriter) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(h.draining, func() { cancel(Errorf(KindUnavailable, "parley up -d", "the node is stopping")) })
	defer stop()
	if err := h.soon(ctx, by, v, request, w); err != nil {
		return failure(ctx, err)
	}
	return nil
}

// soon answers once, or with a stream.
func (h *server) soon(ctx context.Context, by Caller, v VerbSpec, request any, w http.ResponseWriter) error {
	if v.Stream {
		return h.stream(ctx, by, v, request, w)
	}
	return h.one(ctx, by, v, request, w)
}

// receive reads a request's body to its end. That also makes net/http notice when the client goes
// away. The time for this is bounded; that for an answer is not.
func (h *server) receive(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	timing := http.NewResponseController(w)
	if err := timing.SetReadDeadline(time.Now().Add(h.info.Patience)); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	switch tooLarge := new(http.MaxBytesError); {
	case errors.As(err, &tooLarge):
		return nil, Errorf(KindUsage, "", "cannot read the request: it is larger than %d MiB", maxRequest>>20)
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.Header().Set("Connection", "close")
		return nil, Errorf(KindTimeout, "", "cannot read the request: it did not come to its end within %s", span.Text(h.info.Patience))
	case err != nil:
		return nil, err
	}
	return body, timing.SetReadDeadline(time.Time{})
}

func cutVerb(r *http.Request) (string, bool) {
	if r.Method != http.MethodPost || len(r.URL.Path) <= len(pathPrefix) || r.URL.Path[:len(pathPrefix)] != pathPrefix {
		return "", false
	}
	return r.URL.Path[len(pathPrefix):], true
}

// failure is `err` for the client. If it failed because the server drains, it says so.
func failure(ctx context.Context, err error) *Error {
	if draining := new(Error); ctx.Err() != nil && errors.As(context.Cause(ctx), &draining) {
		return draining
	}
	return AsError(err)
}

// ServeBusy answers every request at a control socket by the error that `why` returns, until `end`
// is called. `end` may be called in any case.
func ServeBusy(socket, version string, errors *log.Logger, why func() error) (end func(), err error) {
	listener, err := Listen(socket)
	if err != nil {
		return func() {}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Serve(ctx, listener, nil, Info{Version: version, API: API, Errors: errors, Busy: why})
	}() // ends with ctx
	return func() {
		cancel()
		if err := <-ended; err != nil {
			errors.Printf("the control socket did not close cleanly: %v", err)
		}
	}, nil
}
