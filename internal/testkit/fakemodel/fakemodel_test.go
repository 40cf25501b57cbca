package fakemodel

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// ask posts a request and returns the body of the answer.
func ask(t *testing.T, m *Model, path, body string) string {
	t.Helper()
	response, err := http.Post(m.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %v\n%s", path, response.Status, err, data)
	}
	return string(data)
}

// The same script means the same in both forms. What is beside a tool's result counts before it.
func TestScript(t *testing.T) {
	prompt := func(text string) [2]string {
		quoted, _ := json.Marshal(text)
		return [2]string{
			`{"messages":[{"role":"user","content":[{"type":"text","text":` + string(quoted) + `}]}],"tools":[{"name":"mcp__parley__reply"},{"name":"Bash"}]}`,
			`{"input":[{"type":"message","role":"user","content":[{"type":"input_text","text":` + string(quoted) + `}]}],` +
				`"tools":[{"type":"namespace","name":"mcp__parley__","tools":[{"name":"reply"}]},{"type":"function","name":"Bash"}]}`,
		}
	}
	result := func(beside string) [2]string {
		return [2]string{
			`{"system":"be good","messages":[{"role":"user","content":"CALL Bash {}"},{"role":"assistant","content":[{"type":"tool_use","name":"Bash"}]},` +
				`{"role":"user","content":[{"type":"tool_result","content":[{"type":"text","text":"done: SAY no"}]},{"type":"text","text":"` + beside + `"}]}]}`,
			`{"instructions":"be good","input":[{"role":"user","content":"CALL Bash {}"},{"type":"function_call","name":"Bash"},` +
				`{"type":"function_call_output","output":"done: SAY no"},{"role":"developer","content":[{"type":"input_text","text":"` + beside + `"}]}]}`,
		}
	}
	for name, c := range map[string]struct {
		asked [2]string
		want  string
	}{
		"nothing said":           {prompt("good day"), "FAKE: heard good day\n"},
		"a text":                 {prompt("first SAY one; then SAY two; and more"), "two"},
		"a call":                 {prompt(`now CALL reply {"to":"a","text":"b"}`), `CALL mcp__parley__reply {"to":"a","text":"b"}`},
		"a call without any":     {prompt("CALL Bash"), "CALL Bash {}"},
		"a call shown in JSON":   {prompt(`CALL Bash {\"a\":1}`), `CALL Bash {"a":1}`},
		"a call of no tool":      {prompt("CALL fly {}"), "NOTOOL fly among 2"},
		"a result":               {result("nothing here"), "GOT done: SAY no"},
		"a result and a message": {result("mail: SAY yes"), "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			m := New(t)
			for i, path := range []string{"/v1/messages?beta=true", "/v1/responses"} {
				ask(t, m, path, c.asked[i])
				if got := m.Requests()[i].Answer; got != c.want {
					t.Errorf("%s: it answers %q, want %q", path, got, c.want)
				}
			}
		})
	}
}

// A request is noted with all that it showed, and its newest part alone.
func TestRequests(t *testing.T) {
	m := New(t)
	ask(t, m, "/v1/messages", `{"system":[{"type":"text","text":"be good"}],"messages":[{"role":"user","content":"old"},{"role":"assistant","content":"FAKE"},{"role":"user","content":"new"}],"tools":[{"name":"Bash"}]}`)
	ask(t, m, "/v1/responses", `{"instructions":"be good","input":"new"}`)
	ask(t, m, "/v1/messages/count_tokens", `{}`)
	got := m.Requests()
	if len(got) != 2 {
		t.Fatalf("%d requests", len(got))
	}
	for i, r := range got {
		if r.N != i+1 || !strings.Contains(r.Shown, "be good") || strings.TrimSpace(r.Newest) != "new" {
			t.Errorf("%+v", r)
		}
	}
	if !strings.Contains(got[0].Shown, "old\nFAKE\nnew") || !slices.Equal(got[0].Tools, []string{"Bash"}) || len(got[0].Body) == 0 {
		t.Errorf("%+v", got[0])
	}
}

// A stream ends with the event that programs wait for, and its events bear what the whole answer says.
func TestStream(t *testing.T) {
	m := New(t)
	for path, c := range map[string]struct{ body, end, call string }{
		"/v1/messages":  {`{"stream":true,"messages":[{"role":"user","content":"CALL Bash {\"a\":1}"}],"tools":[{"name":"Bash"}]}`, "message_stop", `"partial_json":"{\"a\":1}"`},
		"/v1/responses": {`{"stream":true,"input":"CALL Bash {\"a\":1}","tools":[{"type":"function","name":"Bash"}]}`, "response.completed", `"arguments":"{\"a\":1}"`},
	} {
		text := ask(t, m, path, c.body)
		var names []string
		for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
			if name, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				names = append(names, name)
			}
		}
		if len(names) < 4 || names[len(names)-1] != c.end || !strings.Contains(text, c.call) {
			t.Errorf("%s: %q\n%s", path, names, text)
		}
	}
}

// What is held is seen before it is answered, and what nobody releases ends with the test.
func TestHold(t *testing.T) {
	m := New(t)
	answered := make(chan string)
	go func() {
		response, err := http.Post(m.URL+"/v1/responses", "application/json", strings.NewReader(`{"input":"HOLD first; SAY hello"}`))
		if err != nil {
			answered <- err.Error()
			return
		}
		defer response.Body.Close()
		data, _ := io.ReadAll(response.Body)
		answered <- string(data)
	}()
	m.AwaitNewest(t, "HOLD first")
	select {
	case got := <-answered:
		t.Fatalf("it was not held: %s", got)
	default:
	}
	m.Release("first")
	if got := <-answered; !strings.Contains(got, "hello") {
		t.Error(got)
	}
	ask(t, m, "/v1/responses", `{"input":"HOLD first; SAY again"}`)
	left := make(chan error)
	t.Cleanup(func() { <-left }) // runs before the model ends
	go func() {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, m.URL+"/v1/responses", strings.NewReader(`{"input":"HOLD second"}`))
		_, err := http.DefaultClient.Do(request)
		left <- err
	}()
	m.AwaitNewest(t, "HOLD second")
}
