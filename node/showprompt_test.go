package node

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/promptlog"
)

func promptOf(t *testing.T, n control.Service, r control.PromptRequest) control.Prompt {
	t.Helper()
	p, err := control.ShowPrompt.Ask(t.Context(), n, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func setPaused(t *testing.T, n control.Service, agent string, paused bool) {
	t.Helper()
	if _, err := control.PauseAgent.Ask(t.Context(), n, control.PauseRequest{Name: agent, Paused: paused}); err != nil {
		t.Fatal(err)
	}
}

func noPrompt(t *testing.T, n control.Service, r control.PromptRequest, why string) {
	t.Helper()
	_, err := control.ShowPrompt.Ask(t.Context(), n, r)
	if err == nil || !strings.Contains(err.Error(), why) {
		t.Errorf("%+v: %v, want %q", r, err, why)
	}
}

// Each prompt that an attempt was given is kept, byte for byte. It prevents: a profile, a memory or
// a conversation has gone on, and nobody can tell any more what an agent had read when it gave its
// answer.
func TestWhatAnAgentWasGivenIsKept(t *testing.T) {
	home := initHome(t, nil)
	n, stop := trying(t, home)
	dir := t.TempDir()
	starts := filepath.Join(dir, "starts")
	if _, err := control.AddAgent.Ask(t.Context(), n, control.AddAgentRequest{
		Name: "sage", Exec: counting(starts, fmt.Sprintf(`cat > %s/given$n; test $n -ne 1 && echo done`, dir)), Settings: control.Given{"input": {configs.InputPrompt}},
	}); err != nil {
		t.Fatal(err)
	}
	remember := func(subject string) {
		if _, err := control.AddMemory.Ask(t.Context(), n, control.AddMemoryRequest{Subject: subject, Body: "to be remembered"}); err != nil {
			t.Fatal(err)
		}
	}
	setPaused(t, n, "sage", true)
	m := say(t, n, "sage", "do it")
	if p := promptOf(t, n, control.PromptRequest{Path: m.Path.String()}); !p.Time.IsZero() || p.Attempt != 0 || !strings.Contains(p.Text, "do it") {
		t.Errorf("before the run: %+v, want what it would be given", p)
	}
	remember("before the run")
	setPaused(t, n, "sage", false)
	answerTo(t, n, m.Path)
	remember("after the run")
	given := func(attempt string) []byte {
		data, err := os.ReadFile(filepath.Join(dir, "given"+attempt))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	check := func(n control.Service) {
		t.Helper()
		for attempt, name := range map[int]string{1: "1", 2: "2", 0: "2"} {
			p := promptOf(t, n, control.PromptRequest{Path: m.Path.String(), Attempt: attempt})
			if p.Text != string(given(name)) || p.Time.IsZero() || p.Agent != "sage" || p.Input != configs.InputPrompt || p.Hash != promptlog.Hash(p.Text) {
				t.Errorf("attempt %d: %+v, want what its command read: %q", attempt, p, given(name))
			}
			size := 0
			for _, part := range p.Parts {
				size += part.Bytes
			}
			if size != len(p.Text) || p.Parts[0].Kind != "profile" {
				t.Errorf("attempt %d: parts %+v of %d bytes", attempt, p.Parts, len(p.Text))
			}
		}
	}
	check(n)
	if !bytes.Contains(given("2"), []byte("before the run")) || bytes.Contains(given("2"), []byte("after the run")) {
		t.Errorf("given: %s", given("2"))
	}
	if p := promptOf(t, n, control.PromptRequest{Path: m.Path.String(), Now: true}); !strings.Contains(p.Text, "after the run") || !p.Time.IsZero() {
		t.Errorf("what it would be given now: %+v", p)
	}
	noPrompt(t, n, control.PromptRequest{Path: m.Path.String(), Attempt: 3}, "what was given in attempt 3")
	stop()
	n, stop = trying(t, home)
	check(n) // another start, which would write another text

	// The prompts of an agent that is gone stay the same.
	if _, err := control.RemoveAgent.Ask(t.Context(), n, control.AgentRequest{Name: "sage"}); err != nil {
		t.Fatal(err)
	}
	check(n)
	stop()

	// A prompt that was let go is not made up.
	if err := os.RemoveAll(home.Prompts()); err != nil {
		t.Fatal(err)
	}
	n, _ = trying(t, home)
	addExec(t, n, "sage", "cat")
	noPrompt(t, n, control.PromptRequest{Path: m.Path.String()}, "is not kept")
}
