// Package fakemodel is a scripted model on loopback, which speaks Anthropic's Messages and OpenAI's
// Responses. With it tests drive the real agent programs of others without any account, and see word
// for word what a model would have been shown.
//
// The script is in what the model is shown: a prompt, what a hook adds, mail. In the newest of it the
// last directive counts. A directive ends at a semicolon or at the end of its line.
//
//	CALL <tool> <json>  call the tool whose name ends so
//	SAY <text>          answer this
//	HOLD <name>         answer only when the test calls Release
//	SLOW <ms>           answer only after so long
//
// Without CALL and SAY it answers "GOT" with what a tool returned, and else "FAKE: heard" with the
// end of what it was shown.
package fakemodel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// Model is one scripted model.
type Model struct {
	// URL is where it listens: http://127.0.0.1:PORT.
	URL string
	// Script, if set, is asked for the script of each answer, in place of what the model is shown. It is
	// given what was shown since the model last spoke.
	Script func(newest string) string

	run    string        // a part of all ids: programs drop what bears an id that they have seen
	closed chan struct{} // closed when the test is over

	mu       sync.Mutex // guards what follows
	requests []Request
	changed  chan struct{} // closed, and made anew, with each request
	held     map[string]chan struct{}
}

// Request is one request of a program.
type Request struct {
	// N counts all requests from 1.
	N int
	// Path is the request's path, "/v1/messages".
	Path string
	// Tools are the names of the tools that the model was offered.
	Tools []string
	// Newest is what the model was shown since it last spoke, with what tools returned. Shown is all
	// that it was shown, in order.
	Newest, Shown string
	// Answer is what it answered: "CALL <tool> <json>", or a text.
	Answer string
	// Body is the request itself.
	Body []byte
}

// New starts a model that ends with the test.
func New(t testing.TB) *Model {
	m := &Model{run: random.Hex(4), closed: make(chan struct{}), changed: make(chan struct{}), held: map[string]chan struct{}{}}
	server := httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(func() {
		close(m.closed)
		server.CloseClientConnections()
		server.Close()
	})
	m.URL = server.URL
	return m
}

// Requests are all requests so far that a model answers.
func (m *Model) Requests() []Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Await waits for a request that `is` accepts, and returns the first.
func (m *Model) Await(t testing.TB, what string, is func(Request) bool) Request {
	t.Helper()
	deadline := time.After(scratch.Patience())
	for {
		m.mu.Lock()
		requests, changed := slices.Clone(m.requests), m.changed
		m.mu.Unlock()
		if i := slices.IndexFunc(requests, is); i >= 0 {
			return requests[i]
		}
		select {
		case <-changed:
		case <-deadline:
			t.Fatalf("the model saw no %s, but:\n%s", what, summary(requests))
		}
	}
}

// AwaitNewest waits for a request whose newest part contains a text.
func (m *Model) AwaitNewest(t testing.TB, text string) Request {
	t.Helper()
	return m.Await(t, strconv.Quote(text), func(r Request) bool { return strings.Contains(r.Newest, text) })
}

func summary(requests []Request) string {
	var s strings.Builder
	for _, r := range requests {
		fmt.Fprintf(&s, "%d %s %q => %q\n", r.N, r.Path, last(r.Newest, 300), r.Answer)
	}
	return s.String()
}

// Release lets the model answer all that HOLD with that name holds, now and later.
func (m *Model) Release(name string) { close(m.hold(name)) }

func (m *Model) hold(name string) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held[name] == nil {
		m.held[name] = make(chan struct{})
	}
	return m.held[name]
}

// note keeps a request, and gives it its number.
func (m *Model) note(r Request) Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	r.N = len(m.requests) + 1
	m.requests = append(m.requests, r)
	close(m.changed)
	m.changed = make(chan struct{})
	return r
}

func (m *Model) serve(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	if err != nil {
		return // the program went away
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages"):
		m.answer(w, r, data, messages)
	case strings.HasSuffix(path, "/responses"):
		m.answer(w, r, data, responses)
	case strings.HasSuffix(path, "/messages/count_tokens"):
		reply(w, http.StatusOK, object{"input_tokens": 10})
	case strings.HasSuffix(path, "/models"):
		reply(w, http.StatusOK, object{"object": "list", "data": []object{{"id": "fake", "object": "model", "type": "model"}}, "models": []object{}})
	default:
		reply(w, http.StatusNotFound, object{"error": object{"type": "not_found_error", "message": "there is no " + path}})
	}
}

// form is one wire form: what a request shows and offers, and how an answer is written.
type form struct {
	read  func(request) shown
	write func(id string, asked request, a answer) (whole object, events []event)
}

// shown is what a request shows to the model.
type shown struct {
	said, returned, all string // since the model last spoke: texts, and what tools returned; and all
	tools               []tool
}

// tool is one that the model can call.
type tool struct{ name, space string } // its name, and before it that of its namespace

// answer is a text, or the call of a tool.
type answer struct {
	text string
	call *tool
	args string
}

func (a answer) String() string {
	if a.call != nil {
		return "CALL " + a.call.space + a.call.name + " " + a.args
	}
	return a.text
}

func (m *Model) answer(w http.ResponseWriter, r *http.Request, data []byte, f form) {
	var asked request
	if err := json.Unmarshal(data, &asked); err != nil {
		reply(w, http.StatusBadRequest, object{"error": object{"message": err.Error()}})
		return
	}
	s := f.read(asked)
	newest := s.said + "\n" + s.returned
	script := newest
	if m.Script != nil && len(s.tools) > 0 { // without tools, a program asks for a title
		script = m.Script(newest)
		s.said = script
	}
	a := decide(s)
	noted := Request{Path: r.URL.Path, Newest: newest, Shown: s.all, Answer: a.String(), Body: data}
	for _, t := range s.tools {
		noted.Tools = append(noted.Tools, t.space+t.name)
	}
	noted = m.note(noted)
	if !m.pause(r, script) {
		return
	}
	whole, events := f.write(fmt.Sprintf("%s%d", m.run, noted.N), asked, a)
	if !asked.Stream {
		reply(w, http.StatusOK, whole)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	for _, e := range events {
		text, _ := json.Marshal(e.data) // made of texts and numbers
		fmt.Fprintf(w, "event: %s\ndata: %s\n\n", e.name, text)
	}
}

// pause waits as long as the script says. It returns false if nobody waits for the answer any more.
func (m *Model) pause(r *http.Request, newest string) bool {
	var until <-chan struct{}
	var after <-chan time.Time
	if found := hold.FindAllStringSubmatch(newest, -1); found != nil {
		until = m.hold(found[len(found)-1][1])
	} else if found := slow.FindStringSubmatch(newest); found != nil {
		ms, _ := strconv.Atoi(found[1]) // digits
		after = time.After(time.Duration(ms) * time.Millisecond)
	} else {
		return true
	}
	select {
	case <-until:
	case <-after:
	case <-r.Context().Done():
		return false
	case <-m.closed:
		return false
	}
	return true
}

var (
	directive = regexp.MustCompile(`\b(?:CALL\s+([\w.-]+)[ \t]*(\{[^;\n]*\})?|SAY\s+([^;\n]*))`)
	hold      = regexp.MustCompile(`\bHOLD ([\w-]+)`)
	slow      = regexp.MustCompile(`\bSLOW (\d+)`)
)

// decide follows the script.
func decide(s shown) answer {
	found := directive.FindAllStringSubmatch(s.said, -1)
	switch {
	case found == nil && s.returned != "":
		return answer{text: "GOT " + last(s.returned, 400)}
	case found == nil:
		return answer{text: "FAKE: heard " + last(s.said, 200)}
	}
	name, args, text := found[len(found)-1][1], found[len(found)-1][2], found[len(found)-1][3]
	if name == "" {
		return answer{text: text}
	}
	at := slices.IndexFunc(s.tools, func(t tool) bool { return t.name == name })
	if at < 0 {
		at = slices.IndexFunc(s.tools, func(t tool) bool { return strings.HasSuffix(t.space+t.name, name) })
	}
	if at < 0 {
		return answer{text: fmt.Sprintf("NOTOOL %s among %d", name, len(s.tools))}
	}
	args = cmp.Or(args, "{}")
	if !json.Valid([]byte(args)) { // it was shown within a JSON text
		args = strings.ReplaceAll(args, `\"`, `"`)
	}
	return answer{call: &s.tools[at], args: args}
}

// last returns the end of a text.
func last(s string, most int) string { return strings.ToValidUTF8(s[max(0, len(s)-most):], "") }

func reply(w http.ResponseWriter, code int, o object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(o) // the program may have gone away
}
