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
	"strconv"
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// maxRequest bounds the body of a request, in bytes: far above the largest
	// message, however its text is escaped.
	maxRequest = 8 * protocol.MaxFile
	// drainTime is how long requests under way may go on once the server ends.
	drainTime = 3 * time.Second
	// defaultPatience is how long a request may take to come in. What is on this
	// machine takes milliseconds.
	defaultPatience = 10 * time.Second
	// idleTime is how long a connection may stay open between requests.
	idleTime = 30 * time.Second
)

// Info is what a server says about itself in every answer.
type Info struct {
	Version string      // of the program, for people
	API     int         // the API that the server speaks
	Errors  *log.Logger // where panics and failures to accept go; nil: nowhere
	// Busy is why the service answers nothing yet, for every request; nil: it
	// answers.
	Busy func() error
	// Judge decides who sent a request, from what is known of them; an error refuses
	// it. nil: nothing is known of anybody, and all are unattended.
	Judge func(Calling) (Caller, error)
	// Refused is told what was refused because of who called; nil: nobody is told.
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

// Serve answers requests to s that come in on listener, until ctx ends or the
// listener fails. When ctx ends, streams and waits are told that the node stops
// and short requests get a few seconds to finish; then the listener is closed
// and Serve returns nil.
func Serve(ctx context.Context, listener net.Listener, s Service, info Info) error {
	info = info.withDefaults()
	server := &http.Server{
		Handler:           &server{service: s, info: info, routes: routes(), draining: ctx},
		ErrorLog:          info.Errors,
		ReadHeaderTimeout: info.Patience,
		IdleTimeout:       idleTime,
		ConnContext:       withPeer,
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
	err := server.Serve(peerListener{listener})
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

// handler decodes the request, has its caller permitted, calls the service and
// writes the answer. An error is returned only where nothing was written.
type handler func(ctx context.Context, s Service, r request, w http.ResponseWriter) error

// request is a request as it came in.
type request struct {
	body   []byte
	permit func(need) error // says why its caller may not make it
}

// routes is the table of verbs. What a verb needs stands beside it.
func routes() map[string]route {
	return map[string]route{
		verbStatus:      {handle: unary(reads, asking(Service.Status))},
		verbSend:        {handle: unary(sends, Service.Send)},
		verbWait:        {handle: unary(waits, Service.Wait), long: true},
		verbTalk:        {handle: unary(talks, Service.Talk)},
		verbInbox:       {handle: unary(looksInto, Service.Inbox)},
		verbRead:        {handle: unary(receipts, Service.Read)},
		verbReadAll:     {handle: unary(receiptsForAll, Service.ReadAll), long: true},
		verbShown:       {handle: unary(receiptsShown, Service.Shown)},
		verbShow:        {handle: unary(reads, Service.Show)},
		verbLog:         {handle: streamLog, long: true},
		verbAgents:      {handle: unary(reads, asking(Service.Agents))},
		verbAddAgent:    {handle: unary(operates, Service.AddAgent)},
		verbRemoveAgent: {handle: unary(operates, telling(Service.RemoveAgent))},
		verbSetAgent:    {handle: unary(operates, Service.SetAgent)},
		verbPauseAgent:  {handle: unary(operates, Service.PauseAgent)},
		verbTestAgent:   {handle: unary(operates, Service.TestAgent), long: true},
		verbAgentToken:  {handle: unary(operates, Service.AgentToken)},
		verbProfile:     {handle: unary(showsProfile, Service.Profile)},
		verbPrompt:      {handle: unary(asksForPrompt, Service.Prompt)},
		verbOpen:        {handle: unary(operates, Service.Open)},
		verbWake:        {handle: unary(reads, Service.Wake), long: true},
		verbReplies:     {handle: unary(reads, Service.Replies)},
		verbThread:      {handle: unary(reads, Service.Thread)},
		verbSearch:      {handle: unary(reads, Service.Search)},
		verbChannels:    {handle: unary(reads, asking(Service.Channels))},
		verbChannel:     {handle: unary(reads, Service.Channel)},
		verbNewChannel:  {handle: unary(founds, Service.NewChannel)},
		verbMembers:     {handle: unary(changesMembers, Service.ChangeMembers)},
		verbMemories:    {handle: unary(reads, Service.Memories)},
		verbMemory:      {handle: unary(reads, Service.Memory)},
		verbAddMemory:   {handle: unary(remembers, Service.AddMemory)},
		verbUpgrade:     {handle: unary(upgrades, Service.Upgrade)},
		verbVerify:      {handle: unary(reads, asking(Service.Verify)), long: true},
		verbVerifying:   {handle: unary(reads, asking(Service.VerifyProgress))},
		verbRecordStats: {handle: unary(reads, asking(Service.RecordStats))},
		verbExport:      {handle: unary(operates, Service.Export), long: true},
		verbList:        {handle: unary(reads, Service.List)},
		verbHosts:       {handle: unary(reads, Service.Hosts)},
		verbHost:        {handle: unary(reads, Service.Host)},
		verbPingHost:    {handle: unary(reads, Service.PingHost), long: true},
		verbProbeHost:   {handle: unary(reads, Service.ProbeHost), long: true},
		verbHostCert:    {handle: unary(reads, Service.HostCertificate), long: true},
		verbFleet:       {handle: unary(reads, Service.FleetStatus), long: true},
		verbRotateKey:   {handle: unary(operates, Service.RotateKey)},
		verbRevokeKey:   {handle: unary(operates, Service.RevokeKey)},
		verbRemoveHost:  {handle: unary(operates, Service.RemoveHost)},
		verbStop:        {handle: unary(operates, stopping)},
	}
}

func stopping(s Service, ctx context.Context, _ none) (none, error) { return none{}, s.Stop(ctx) }

// unary makes the handler of a verb with one request and one answer.
func unary[Q, A any](needs func(Q) need, call func(Service, context.Context, Q) (A, error)) handler {
	return func(ctx context.Context, s Service, r request, w http.ResponseWriter) error {
		q, err := decodeRequest[Q](r.body)
		if err != nil {
			return err
		}
		if err := r.permit(needs(q)); err != nil {
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
func streamLog(ctx context.Context, s Service, r request, w http.ResponseWriter) error {
	q, err := decodeRequest[LogRequest](r.body)
	if err != nil {
		return err
	}
	if err := r.permit(reads(q)); err != nil {
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
	body, err := h.receive(w, r)
	if err != nil {
		return err
	}
	caller, err := h.info.Judge(callingOf(r))
	if err != nil {
		h.info.Refused(verb, caller, err)
		return err
	}
	permitted := func(n need) error {
		err := permit(caller, verb, n)
		if err != nil {
			h.info.Refused(verb, caller, err)
		}
		return err
	}
	if route.long {
		stop := context.AfterFunc(h.draining, func() { cancel(errDraining()) })
		defer stop()
	}
	return route.handle(WithCaller(ctx, caller), h.service, request{body, permitted}, w)
}

// receive reads a request's body to its end, which also makes net/http notice when
// the client goes away. The time that this may take is bounded; that of an answer
// is not.
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
