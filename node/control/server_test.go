package control_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/internal/testkit/controltest"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// logger is a memory whose Log belongs to the test.
func logger(log func(ctx context.Context, yield func(control.Message) error) error) control.Answers {
	return control.Bind(append(newMemory().bindings(), control.Log.By(func(ctx context.Context, _ control.LogRequest, yield func(control.Message) error) error {
		return log(ctx, yield)
	}))...)
}

func serve(t *testing.T, s control.Answers, info control.Info) (*control.Client, string, func()) {
	t.Helper()
	path := filepath.Join(shortDir(t), "control.sock")
	end := serveAt(t, path, s, info)
	return control.NewClient(path, "0.2.0"), path, end
}

func TestOlderNodeIsNamedBeforeAnythingHappens(t *testing.T) {
	old := newMemory()
	client, _, _ := serve(t, old.answers(), control.Info{Version: "0.0.9", API: control.API - 1, Judge: controltest.Operator})
	_, err := control.Send.Ask(t.Context(), client, control.SendRequest{To: []string{protocol.All}, Body: "hello"})
	want := &control.Error{
		Message: "the running node is version 0.0.9, this command is version 0.2.0",
		Kind:    control.KindOldNode, Hint: "parley restart",
	}
	if diff := cmp.Diff(want, control.AsError(err)); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	if len(old.messages) != 0 {
		t.Error("the older node sent the message all the same")
	}
	if _, err := control.ShowStatus.Ask(t.Context(), client); err != nil {
		t.Errorf("status of an older node: %v", err)
	}
	if _, err := control.Stop.Ask(t.Context(), client); err != nil || !old.stopped {
		t.Errorf("stop of an older node: %v", err)
	}
}

// A command of the last API finds what it asks for under the names that it knows, and what it says
// is understood. It prevents: during an upgrade a script reads nothing where something is.
func TestTheLastAPIIsAnswered(t *testing.T) {
	var asked control.AnswerGateRequest
	_, path, _ := serve(t, control.Bind(
		control.AnswerGate.By(func(_ context.Context, r control.AnswerGateRequest) (control.Gate, error) {
			asked = r
			return control.Gate{NoKey: true, DecidedBy: "<nat>", Asker: protocol.Asker{HumanKey: "SHA256:d081"}}, nil
		}),
	), thisVersion())
	for api, want := range map[int]string{control.API - 1: `"noKey":true`, control.API: `"no_key":true`} {
		body := map[int]string{control.API - 1: `{"path":"p","takesBack":"c0ffee"}`, control.API: `{"path":"p","takes_back":"c0ffee"}`}[api]
		asked = control.AnswerGateRequest{}
		answer := postAs(t, strconv.Itoa(api), path, "/v1/answer-gate", body)
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if asked.TakesBack != "c0ffee" || !strings.Contains(string(text), want) || strings.Contains(string(text), "noKey") != (api != control.API) ||
			strings.Contains(string(text), `"humanKey":"SHA256:d081"`) != (api != control.API) || !strings.Contains(string(text), `"<nat>"`) {
			t.Errorf("API %d: asked %+v, answered %s", api, asked, text)
		}
	}
}

func TestUnknownVerb(t *testing.T) {
	_, path, _ := serve(t, newMemory().answers(), thisVersion())
	answer := post(t, path, "/v1/dance", "{}")
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"error":"this node is version 0.1.0 and does not know how to dance","kind":"old-node","hint":"parley restart"}` + "\n"
	if diff := cmp.Diff(want, string(body)); diff != "" || answer.StatusCode != http.StatusNotImplemented {
		t.Errorf("status %d, answer (-want +got):\n%s", answer.StatusCode, diff)
	}
}

// post makes a request as a program without this package would.
func post(t *testing.T, socket, path, body string) *http.Response {
	t.Helper()
	return postAs(t, "", socket, path, body)
}

// postAs makes the request of a command that speaks an API.
func postAs(t *testing.T, api, socket, path, body string) *http.Response {
	t.Helper()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return control.Dial(ctx, socket)
	}, DisableKeepAlives: true}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://node"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Parley-Api", api)
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func TestAnswersOnTheWire(t *testing.T) {
	s := newMemory()
	_, path, _ := serve(t, s.answers(), thisVersion())
	for _, test := range []struct {
		name, path, body string
		status           int
		want             string // a part of the answer
	}{
		{"lists are arrays", "/v1/agents", "{}", 200, "[]"},
		{"lists in structs are arrays", "/v1/status", "{}", 200, `"peers":[]`},
		{"no JSON", "/v1/send", "hello", 400, `"kind":"usage"`},
		{"a field that the node would ignore", "/v1/send", `{"too":["nat"]}`, 400, `unknown field`},
		{"not found", "/v1/show", `{"path":"adfe0356-0f71-49a9-80a0-fb76883cd974/2026/05/23/190100000Z-b2c3d4e5.md"}`, 404, `"kind":"not-found"`},
		{"no verb", "/", "{}", 400, "POST /v1/"},
		{"too large", "/v1/send", `{"body":"` + strings.Repeat("x", 8<<20) + `"}`, 400, "larger than 8 MiB"},
		{"an empty log", "/v1/log", "{}", 200, ""},
	} {
		answer := post(t, path, test.path, test.body)
		body, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != test.status || !strings.Contains(string(body), test.want) {
			t.Errorf("%s: status %d, answer %s; want %d with %s", test.name, answer.StatusCode, body, test.status, test.want)
		}
		if answer.Header.Get("Parley-Version") != "0.1.0" || answer.Header.Get("Parley-Api") != strconv.Itoa(control.API) {
			t.Errorf("%s: headers %v lack version or API", test.name, answer.Header)
		}
	}
}

func TestLargeBodies(t *testing.T) {
	client, _, _ := serve(t, newMemory().answers(), thisVersion())
	body := strings.Repeat("\x01", 1<<20) // six bytes each in JSON
	sent, err := control.Send.Ask(t.Context(), client, control.SendRequest{To: []string{protocol.All}, Body: body})
	if err != nil || sent.Body != body {
		t.Errorf("sent %d bytes, got %d back, error %v", len(body), len(sent.Body), err)
	}
}

func TestStreamEndsWhenTheClientGoes(t *testing.T) {
	began, ended := make(chan struct{}), make(chan error, 1)
	client, _, _ := serve(t, logger(func(ctx context.Context, _ func(control.Message) error) error {
		close(began)
		<-ctx.Done()
		ended <- ctx.Err()
		return ctx.Err()
	}), thisVersion())
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // ends once the stream has begun
		<-began
		cancel()
	}()
	err := control.Log.Ask(ctx, client, control.LogRequest{Follow: true}, func(control.Message) error { return nil })
	if err != nil {
		t.Errorf("following ended with %v, want nil", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the node's side ended with %v", err)
	}
}

func TestStreamThatFailsMidway(t *testing.T) {
	broken := control.Errorf(control.KindRefused, "look again", "cannot read on")
	client, path, _ := serve(t, logger(func(_ context.Context, yield func(control.Message) error) error {
		return errors.Join(yield(control.Message{From: "nat", Body: "one"}), broken)
	}), thisVersion())
	var got []string
	err := control.Log.Ask(t.Context(), client, control.LogRequest{}, func(m control.Message) error {
		got = append(got, m.Body)
		return nil
	})
	if diff := cmp.Diff(broken, control.AsError(err)); diff != "" || !cmp.Equal(got, []string{"one"}) {
		t.Errorf("after %v, error (-want +got):\n%s", got, diff)
	}
	body, err := io.ReadAll(post(t, path, "/v1/log", "{}").Body)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	if want := `{"error":"cannot read on","kind":"refused","hint":"look again"}`; lines[len(lines)-1] != want {
		t.Errorf("last line %s, want %s", lines[len(lines)-1], want)
	}
}

func TestStreamThatBreaksOffIsAnError(t *testing.T) {
	client, _, _ := serve(t, logger(func(_ context.Context, yield func(control.Message) error) error {
		if err := yield(control.Message{Body: "one"}); err != nil {
			return err
		}
		panic("as if the node were killed")
	}), thisVersion())
	err := control.Log.Ask(t.Context(), client, control.LogRequest{Follow: true}, func(control.Message) error { return nil })
	wantKind(t, err, control.KindUnavailable)
}

func TestDrainingEndsStreams(t *testing.T) {
	s := newMemory()
	client, _, end := serve(t, s.answers(), thisVersion())
	if _, err := control.Send.Ask(t.Context(), client, control.SendRequest{To: []string{protocol.All}, Body: "hello"}); err != nil {
		t.Fatal(err)
	}
	following := make(chan struct{})
	logged := make(chan error, 1)
	go func() { // ends when the server drains
		logged <- control.Log.Ask(t.Context(), client, control.LogRequest{Follow: true}, func(control.Message) error {
			close(following)
			return nil
		})
	}()
	<-following
	end()
	err := <-logged
	wantKind(t, err, control.KindUnavailable)
	if msg := control.AsError(err).Message; msg != "the node is stopping" {
		t.Errorf("message %q", msg)
	}
}

func TestFailedListenerEndsServe(t *testing.T) {
	listener, err := control.Listen(filepath.Join(shortDir(t), "control.sock"))
	if err != nil {
		t.Fatal(err)
	}
	listener.Close()
	wantKind(t, control.Serve(t.Context(), listener, newMemory().answers(), thisVersion()), control.KindFailed)
}

func TestWriteJSONLeavesItsArgumentAlone(t *testing.T) {
	status := control.Status{Hosts: []control.HostStatus{{Alias: "white"}}}
	var out strings.Builder
	if err := control.WriteJSON(&out, status); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `"alias":"white"`) || strings.Contains(out.String(), "null") {
		t.Errorf("wrote %s", out.String())
	}
	if status.Hosts[0].Agents != nil || status.Agents != nil {
		t.Errorf("the caller's value was changed: %+v", status)
	}
}
