package control_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/controltest"
	"github.com/parleyfleet/parley/node/control"
)

// The whole table of what each caller may ask, asked by hand, as a program without the client
// would.
func TestWhoMayAskWhat(t *testing.T) {
	const operator, agent, nameless, unattended = 'o', 'a', 'n', 'u'
	callers := map[rune]control.Caller{
		operator:   {Kind: control.Operator, Name: memoryHuman},
		agent:      {Kind: control.ByAgent, Name: "mawjs"},
		nameless:   {Kind: control.ByAgent},
		unattended: {Name: memoryHuman},
	}
	tests := []struct {
		verb, body string
		may        string
	}{
		{"status", `{}`, "oanu"},
		{"agents", `{}`, "oanu"},
		{"show-agent", `{"name":"mawjs"}`, "oanu"},
		{"log", `{}`, "oanu"},
		{"trace", `{"path":"b2c3d4e5"}`, "oanu"},
		{"why", `{"of":"b2c3d4e5"}`, "oanu"},
		{"events", `{}`, "oanu"},
		{"channels", `{}`, "oanu"},
		{"profile", `{"name":"sage"}`, "oanu"},
		{"upgrade", `{"check":true}`, "oanu"},
		{"send", `{"to":["all"],"body":"x"}`, "oau"},
		{"send", `{"as":"mawjs","to":["all"],"body":"x"}`, "oa"},
		{"send", `{"as":"nat","to":["all"],"body":"x"}`, "ou"},
		{"send", `{"as":"volt","to":["all"],"body":"x"}`, "o"},
		{"sync", `{}`, "oau"},
		{"sync", `{"as":"mawjs"}`, "oa"},
		{"sync", `{"as":"volt"}`, "o"},
		{"inbox", `{}`, "oau"},
		{"inbox", `{"as":"nat"}`, "ou"},
		{"inbox", `{"as":"mawjs"}`, "oa"},
		{"new-channel", `{"name":"x"}`, "oa"},
		{"new-channel", `{"as":"volt","name":"x"}`, "o"},
		{"add-memory", `{"subject":"x","body":"x"}`, "oa"},
		{"add-memory", `{"as":"nat","subject":"x","body":"x"}`, "o"},
		{"prompt", `{"path":"b2c3d4e5"}`, "oa"},
		{"prompt", `{"path":"b2c3d4e5","as":"volt"}`, "o"},
		{"profile", `{"name":"sage","file":"x"}`, "o"},
		{"upgrade", `{}`, "o"},
		{"mesh", `{}`, "oanu"},
		{"topics", `{}`, "oanu"},
		{"topic", `{"with":"volt"}`, "oanu"},
		{"relation", `{"with":"volt"}`, "oanu"},
		{"open-topic", `{"with":"volt","topic":"x"}`, "oau"},
		{"open-topic", `{"as":"mawjs","with":"volt","topic":"x"}`, "oa"},
		{"open-topic", `{"as":"volt","with":"mawjs","topic":"x"}`, "o"},
		{"topic-deed", `{"with":"volt","deed":"agree","text":"x"}`, "oau"},
		{"topic-deed", `{"as":"volt","with":"mawjs","deed":"accept","item":"A1"}`, "o"},
		{"topic-page", `{"with":"volt"}`, "oanu"},
		{"issues", `{}`, "oau"},
		{"issues", `{"as":"volt"}`, "o"},
		{"persist-topic", `{"with":"volt"}`, "oau"},
		{"persist-topic", `{"as":"volt","with":"mawjs"}`, "o"},
		{"sweep-topics", `{}`, "oau"},
		{"sweep-topics", `{"as":"volt"}`, "o"},
		{"parties", `{}`, "oanu"},
		{"party", `{}`, "oanu"},
		{"organize", `{"topic":"x"}`, "oau"},
		{"organize", `{"as":"volt","topic":"x"}`, "o"},
		{"party-deed", `{"deed":"leave"}`, "oau"},
		{"party-deed", `{"as":"volt","deed":"leave"}`, "o"},
		{"use-party", `{"as":"volt","party":"x"}`, "o"},
		{"gates", `{}`, "oanu"},
		{"tell-party", `{"text":"x"}`, "oau"},
		{"tell-party", `{"as":"volt","text":"x"}`, "o"},
		{"party-presence", `{"state":"busy"}`, "oau"},
		{"party-presence", `{"as":"volt","state":"busy"}`, "o"},
		{"recruits", `{}`, "oanu"},
		{"broadcast-stats", `{}`, "oanu"},
		{"broadcast-topic", `{"with":"volt"}`, "oau"},
		{"broadcast-topic", `{"as":"volt","with":"mawjs"}`, "o"},
		{"answer-gate", `{"path":"x","act":"party-accept","hsig":"x"}`, "o"},
		{"frame", `{"question":"x"}`, "oau"},
		{"frame", `{"as":"volt","question":"x"}`, "o"},
		{"frames", `{}`, "oanu"},
		{"show-frame", `{}`, "oanu"},
		{"describe-frame", `{}`, "o"},
		{"answer-frame", `{"id":"x","gate":"x","hsig":"x"}`, "o"},
		{"esc-frame", `{"id":"x"}`, "o"},
		{"resume-frame", `{"id":"x"}`, "o"},
		{"policy", `{}`, "oanu"},
		{"set-policy", `{"key":"reprompt","value":"yes"}`, "o"},
		{"humans", `{}`, "oanu"},
		{"try-notifications", `{}`, "o"},
		{"change-notifications", `{"add":"bell"}`, "o"},
		{"give-human-key", `{"key":"U","proof":"x"}`, "o"},
		{"end-human-key", `{"try":true}`, "o"},
		{"end-human-key", `{"human":"nat"}`, "o"},
		{"add-agent", `{"name":"x","exec":"true"}`, "o"},
		{"remove-agent", `{"name":"x"}`, "o"},
		{"pause-agent", `{"name":"x","paused":true}`, "o"},
		{"test-agent", `{"name":"x","text":"x"}`, "o"},
		{"make-token", `{"name":"x"}`, "o"},
		{"session-name", `{"name":"neo"}`, "oau"},
		{"session-name", `{"as":"volt","name":"neo"}`, "o"},
		{"session-mute", `{"for":1}`, "oau"},
		{"session-mute", `{"as":"volt","for":1}`, "o"},
		{"presence", `{"state":"idle"}`, "oau"},
		{"presence", `{"as":"volt","state":"idle"}`, "o"},
		{"open", `{"agent":"x"}`, "o"},
		{"export", `{}`, "o"},
		{"admit", `{"commit":"b2c3d4e5"}`, "o"},
		{"withhold", `{"files":["b2c3d4e5"]}`, "o"},
		{"redact", `{"id":"b2c3d4e5","reason":"a token"}`, "o"},
		{"rotate-key", `{"overlap":0}`, "o"},
		{"rotate-key", `{"overlap":0,"try":true}`, "o"},
		{"revoke-key", `{"host":"white"}`, "o"},
		{"revoke-key", `{"host":"white","try":true}`, "o"},
		{"remove-host", `{"host":"white","try":true}`, "o"},
		{"open-links", `{"address":"127.0.0.1:0"}`, "o"},
		{"make-invitation", `{}`, "o"},
		{"invitations", `{}`, "o"},
		{"answer-knock", `{"id":"0a1b2c3d","yes":true}`, "o"},
		{"revoke-invitation", `{"id":"0a1b2c3d"}`, "o"},
		{"set-agent", `{"name":"x"}`, "o"},
		{"talk", `{"to":"volt"}`, "oau"},
		{"wait", `{"re":"b2c3d4e5"}`, "oau"},
		{"wait", `{"as":"volt","re":"b2c3d4e5"}`, "o"},
		{"read", `{"path":"b2c3d4e5"}`, "oau"},
		{"read", `{"as":"volt","path":"b2c3d4e5"}`, "o"},
		{"read-all", `{}`, "oau"},
		{"read-all", `{"as":"volt"}`, "o"},
		{"shown", `{"as":"nat","paths":[]}`, "ou"},
		{"channel-members", `{"channel":"x"}`, "oa"},
		{"channel-members", `{"as":"nat","channel":"x"}`, "o"},
		{"queue", `{}`, "oanu"},
		{"cancel", `{"message":"b2c3d4e5"}`, "o"},
		{"dead-letters", `{}`, "oanu"},
		{"retry-dead", `{"message":"b2c3d4e5"}`, "o"},
		{"drop-dead", `{"message":"b2c3d4e5"}`, "o"},
		{"stop", `{}`, "o"},
	}
	asked := map[string]bool{}
	for _, test := range tests {
		asked[test.verb] = true
	}
	for _, v := range control.Verbs() {
		if v.Access != control.Reads && !asked[v.Name] {
			t.Errorf("nothing says who may %s", v.Name)
		}
	}
	for _, test := range tests {
		for kind, caller := range callers {
			var logged []string
			_, path, end := serve(t, control.AnswerNothing(), control.Info{Version: "0.1.0", API: control.API,
				Judge:   func(control.Calling) (control.Caller, error) { return caller, nil },
				Refused: func(verb string, _ control.Caller, why error) { logged = append(logged, verb+": "+why.Error()) }})
			answer := post(t, path, "/v1/"+test.verb, test.body)
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			end()
			may := strings.ContainsRune(test.may, kind)
			if (answer.StatusCode == http.StatusOK) != may || !may && answer.StatusCode != http.StatusForbidden {
				t.Errorf("%s %s by %c: status %d, %s", test.verb, test.body, kind, answer.StatusCode, body)
			}
			if want := map[bool]int{true: 0, false: 1}[may]; len(logged) != want {
				t.Errorf("%s %s by %c: logged %q", test.verb, test.body, kind, logged)
			}
		}
	}
}

// Nothing in a request says who calls. The token and the name in the header go to the judge, and
// what the judge says goes to the service.
func TestTheDoorSaysWhoCalls(t *testing.T) {
	var asked []control.Calling
	heard := make(chan control.Caller, 1)
	s := control.Bind(control.Show.For(func(_ context.Context, by control.Caller, _ control.ShowRequest) (control.Message, error) {
		heard <- by
		return control.Message{}, nil
	}))
	client, path, _ := serve(t, s, control.Info{Version: "0.1.0", API: control.API, Judge: func(c control.Calling) (control.Caller, error) {
		asked = append(asked, c)
		return control.Caller{Kind: control.ByAgent, Name: "mawjs"}, nil
	}})
	if _, err := control.Show.Ask(t.Context(), client.Bearing("volt", "a token\nwith\x00anything"), control.ShowRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := <-heard; got.Name != "mawjs" || got.Kind != control.ByAgent {
		t.Errorf("the service was told of %+v", got)
	}
	if c := asked[0]; c.Agent != "volt" || c.Token != "a token\nwith\x00anything" || c.Peer == nil {
		t.Errorf("the judge was told %+v", c)
	}
	answer := post(t, path, "/v1/send", `{"to":["all"],"body":"x","caller":{"kind":2}}`)
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a request that names its caller: status %d", answer.StatusCode)
	}
}

// Without a judge nobody is taken for the operator.
func TestNoJudge(t *testing.T) {
	client, _, _ := serve(t, newMemory().answers(), control.Info{Version: "0.1.0", API: control.API})
	if _, err := control.ShowStatus.Ask(t.Context(), client); err != nil {
		t.Error(err)
	}
	_, err := control.Stop.Ask(t.Context(), client)
	wantKind(t, err, control.KindRefused)
}

// It prevents: a request whose body never comes to its end keeps its connection for ever. A long
// answer is not cut by the same limit.
func TestHalfSentBody(t *testing.T) {
	const patience = 50 * time.Millisecond
	begun := make(chan struct{})
	s := logger(func(ctx context.Context, _ func(control.Message) error) error {
		close(begun)
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(4 * patience):
			return nil
		}
	})
	path := filepath.Join(shortDir(t), "control.sock")
	serveAt(t, path, s, control.Info{Version: "0.1.0", API: control.API, Patience: patience, Judge: controltest.Operator})
	for _, half := range []string{
		"POST /v1/send HTTP/1.1\r\nHost: node\r\nContent-Length: 100\r\n\r\n{\"to\":",
		"POST /v1/send HTTP/1.1\r\nHost: node\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"to",
		"POST /v1/send HTTP/1.1\r\nHost:",
	} {
		conn, err := control.Dial(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := fmt.Fprint(conn, half); err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(conn); err != nil { // to its end, because the node has hung up
			t.Errorf("after %q the connection stays open: %v", half, err)
		}
	}
	for {
		err := control.Log.Ask(t.Context(), control.NewClient(path, "test"), control.LogRequest{}, nil)
		select {
		case <-begun:
			if err != nil {
				t.Errorf("an answer that takes longer than a request may: %v", err)
			}
			return
		default: // on a busy machine the request itself may have taken too long
			t.Log(err)
		}
	}
}
