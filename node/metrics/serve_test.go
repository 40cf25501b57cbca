package metrics

import (
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	for name, c := range map[string]struct {
		health Health
		code   int
		body   string
	}{
		"well":     {Health{}, 200, "ok\n"},
		"degraded": {Health{Degraded: []string{"no link", "the remote fails"}}, 200, "degraded: no link; the remote fails\n"},
		"down":     {Health{Down: []string{"the disk", "the name"}, Degraded: []string{"no link"}}, 503, "down: the disk\ndown: the name\n"},
	} {
		t.Run(name, func(t *testing.T) {
			answer := httptest.NewRecorder()
			New("test", &still{health: c.health}).Handler(quiet()).ServeHTTP(answer, httptest.NewRequest("GET", "/healthz", nil))
			if answer.Code != c.code || answer.Body.String() != c.body {
				t.Errorf("%d %q, want %d %q", answer.Code, answer.Body, c.code, c.body)
			}
		})
	}
}

func TestOnlyReading(t *testing.T) {
	h := whole(t).Handler(quiet())
	for request, code := range map[string]int{
		"GET /metrics": 200, "HEAD /metrics": 200, "POST /metrics": 405, "GET /healthz": 200, "DELETE /healthz": 405, "GET /": 200, "GET /debug/pprof/": 404,
	} {
		method, path, _ := strings.Cut(request, " ")
		answer := httptest.NewRecorder()
		h.ServeHTTP(answer, httptest.NewRequest(method, path, nil))
		if answer.Code != code {
			t.Errorf("%s: %d, want %d", request, answer.Code, code)
		}
	}
}

func TestServeEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := whole(t).Serve(l, quiet())
	answer, err := http.Get("http://" + l.Addr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if answer.Body.Close(); err != nil || !strings.Contains(string(body), `parley_agent_queued_messages{agent="mawjs"} 3`) {
		t.Errorf("%v: %s", err, body)
	}
	stop()
	if conn, err := net.Dial("tcp", l.Addr().String()); err == nil {
		conn.Close()
		t.Error("the port is open still")
	}
}

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
