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
	"strconv"
	"time"
)

const (
	// maxRequest bounds the body of a request, in bytes: far above the largest
	// message_limit that a configuration may set.
	maxRequest = 8 << 20
	// drainTime is how long requests under way may go on once the server ends.
	drainTime = 3 * time.Second
)

// Info is what a server says about itself in every answer.
type Info struct {
	Version string      // of the program, for people
	API     int         // the API that the server speaks
	Errors  *log.Logger // where panics and failures to accept go; nil: nowhere
	// Busy is why the service answers nothing yet, for every request; nil: it
	// answers.
	Busy func() error
}

// Serve answers requests to s that come in on listener, until ctx ends or the
// listener fails. When ctx ends, streams and waits are told that the node stops
// and short requests get a few seconds to finish; then the listener is closed
// and Serve returns nil.
func Serve(ctx context.Context, listener net.Listener, s Service, info Info) error {
	if info.Errors == nil {
		info.Errors = log.New(io.Discard, "", 0)
	}
	server := &http.Server{
		Handler:           &server{service: s, info: info, routes: routes(), draining: ctx},
		ErrorLog:          info.Errors,
		ReadHeaderTimeout: 10 * time.Second,
	}
	drained := make(chan struct{})
	// Ends the server when ctx ends; when the listener failed first, stop
	// releases it.
	stop := context.AfterFunc(ctx, func() {
		defer close(drained)
		grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
		defer cancel()
		if server.Shutdown(grace) != nil {
			server.Close()
		}
	})
	err := server.Serve(listener)
	if !stop() {
		<-drained
		return nil
	}
	server.Close()
	return &Error{Message: "cannot serve the control socket: " + err.Error(), Kind: KindFailed}
}

// server is the http.Handler around a Service.
type server struct {
	service  Service
	info     Info
	routes   map[string]route
	draining context.Context // ends when the server does
}

// route is how one verb is answered.
type route struct {
	handle handler
	// long verbs may take any time; they end when the server begins to drain.
	long bool
}

// handler decodes the request, calls the service and writes the answer. An
// error is returned only where nothing was written.
type handler func(ctx context.Context, s Service, request []byte, w http.ResponseWriter) error

// routes is the table of verbs.
func routes() map[string]route {
	return map[string]route{
		verbStatus:      {handle: unary(asking(Service.Status))},
		verbSend:        {handle: unary(Service.Send)},
		verbWait:        {handle: unary(Service.Wait), long: true},
		verbInbox:       {handle: unary(Service.Inbox)},
		verbRead:        {handle: unary(Service.Read)},
		verbShow:        {handle: unary(Service.Show)},
		verbLog:         {handle: streamLog, long: true},
		verbAgents:      {handle: unary(asking(Service.Agents))},
		verbAddAgent:    {handle: unary(Service.AddAgent)},
		verbRemoveAgent: {handle: unary(telling(Service.RemoveAgent))},
		verbPauseAgent:  {handle: unary(Service.PauseAgent)},
		verbTestAgent:   {handle: unary(Service.TestAgent), long: true},
		verbProfile:     {handle: unary(Service.Profile)},
		verbPrompt:      {handle: unary(Service.Prompt)},
		verbOpen:        {handle: unary(Service.Open)},
		verbWake:        {handle: unary(Service.Wake), long: true},
		verbReplies:     {handle: unary(Service.Replies)},
		verbThread:      {handle: unary(Service.Thread)},
		verbSearch:      {handle: unary(Service.Search)},
		verbChannels:    {handle: unary(asking(Service.Channels))},
		verbChannel:     {handle: unary(Service.Channel)},
		verbNewChannel:  {handle: unary(Service.NewChannel)},
		verbMemories:    {handle: unary(Service.Memories)},
		verbMemory:      {handle: unary(Service.Memory)},
		verbAddMemory:   {handle: unary(Service.AddMemory)},
		verbUpgrade:     {handle: unary(Service.Upgrade)},
		verbVerify:      {handle: unary(asking(Service.Verify)), long: true},
		verbRecordStats: {handle: unary(asking(Service.RecordStats))},
		verbExport:      {handle: unary(Service.Export), long: true},
		verbList:        {handle: unary(asking(Service.List))},
		verbHosts:       {handle: unary(asking(Service.Hosts))},
		verbHost:        {handle: unary(Service.Host)},
		verbPingHost:    {handle: unary(Service.PingHost), long: true},
		verbProbeHost:   {handle: unary(Service.ProbeHost), long: true},
		verbHostCert:    {handle: unary(Service.HostCertificate), long: true},
		verbFleet:       {handle: unary(asking(Service.FleetStatus)), long: true},
		verbRotateKey:   {handle: unary(Service.RotateKey)},
		verbRevokeKey:   {handle: unary(Service.RevokeKey)},
		verbStop: {handle: unary(func(s Service, ctx context.Context, _ none) (none, error) {
			return none{}, s.Stop(ctx)
		})},
	}
}

// unary makes the handler of a verb with one request and one answer.
func unary[Q, A any](call func(Service, context.Context, Q) (A, error)) handler {
	return func(ctx context.Context, s Service, request []byte, w http.ResponseWriter) error {
		q, err := decodeRequest[Q](request)
		if err != nil {
			return err
		}
		answer, err := call(s, ctx, q)
		if err != nil {
			return err
		}
		w.Header().Set("Content-Type", typeJSON)
		var body bytes.Buffer
		if err := WriteJSON(&body, answer); err != nil {
			return err
		}
		_, _ = w.Write(body.Bytes()) // it fails only where nobody listens any more
		return nil
	}
}

// asking adapts a method without a request.
func asking[A any](call func(Service, context.Context) (A, error)) func(Service, context.Context, none) (A, error) {
	return func(s Service, ctx context.Context, _ none) (A, error) { return call(s, ctx) }
}

// telling adapts a method without an answer.
func telling[Q any](call func(Service, context.Context, Q) error) func(Service, context.Context, Q) (none, error) {
	return func(s Service, ctx context.Context, q Q) (none, error) { return none{}, call(s, ctx, q) }
}

func decodeRequest[Q any](request []byte) (Q, error) {
	var q Q
	dec := json.NewDecoder(bytes.NewReader(request))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		return q, Errorf(KindUsage, "", "cannot read the request: %v", err)
	}
	return q, nil
}

// streamLog sends messages as JSON lines. With Follow each line is sent as soon
// as it is there.
func streamLog(ctx context.Context, s Service, request []byte, w http.ResponseWriter) error {
	q, err := decodeRequest[LogRequest](request)
	if err != nil {
		return err
	}
	begun := false
	err = s.Log(ctx, q, func(m Message) error {
		if !begun {
			w.Header().Set("Content-Type", typeStream)
			begun = true
		}
		if err := WriteJSON(w, m); err != nil {
			return err
		}
		if q.Follow {
			return http.NewResponseController(w).Flush()
		}
		return nil
	})
	if err == nil && q.Follow {
		err = ctx.Err()
	}
	switch {
	case err == nil && !begun:
		w.Header().Set("Content-Type", typeStream)
	case err != nil && begun:
		_ = WriteJSON(w, failure(ctx, err)) // likewise
	case err != nil:
		return err
	}
	return nil
}

// ServeHTTP answers POST /v1/<verb>.
func (h *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set(headerVersion, h.info.Version)
	w.Header().Set(headerAPI, strconv.Itoa(h.info.API))
	ctx, cancel := context.WithCancelCause(r.Context())
	defer cancel(nil)
	if err := h.answer(ctx, cancel, w, r); err != nil {
		e := failure(ctx, err)
		w.Header().Set("Content-Type", typeJSON)
		w.WriteHeader(e.Kind.httpStatus())
		_ = WriteJSON(w, e) // it fails only where nobody listens any more
	}
}

func (h *server) answer(ctx context.Context, cancel context.CancelCauseFunc, w http.ResponseWriter, r *http.Request) error {
	verb, ok := cutVerb(r)
	if !ok {
		return Errorf(KindUsage, "", "cannot answer %s %s: requests are POST %s<verb>", r.Method, r.URL.Path, pathPrefix)
	}
	if h.info.Busy != nil {
		return h.info.Busy()
	}
	route, known := h.routes[verb]
	api, _ := strconv.Atoi(r.Header.Get(headerAPI))
	if !known || api > h.info.API && !anyAPI(verb) {
		return Errorf(KindOldNode, "parley stop && parley up", "this node is version %s and does not know how to %s", h.info.Version, verb)
	}
	// Reading to the end also makes net/http notice when the client goes away.
	request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if tooLarge := new(http.MaxBytesError); errors.As(err, &tooLarge) {
		return Errorf(KindUsage, "", "cannot read the request: it is larger than %d MiB", maxRequest>>20)
	}
	if err != nil {
		return err
	}
	if route.long {
		stop := context.AfterFunc(h.draining, func() { cancel(errDraining()) })
		defer stop()
	}
	return route.handle(ctx, h.service, request, w)
}

func cutVerb(r *http.Request) (string, bool) {
	if r.Method != http.MethodPost || len(r.URL.Path) <= len(pathPrefix) || r.URL.Path[:len(pathPrefix)] != pathPrefix {
		return "", false
	}
	return r.URL.Path[len(pathPrefix):], true
}

func errDraining() *Error {
	return Errorf(KindUnavailable, "parley up", "the node is stopping")
}

// failure is err for the client; what failed because the server drains says so.
func failure(ctx context.Context, err error) *Error {
	if draining := new(Error); ctx.Err() != nil && errors.As(context.Cause(ctx), &draining) {
		return draining
	}
	return AsError(err)
}
