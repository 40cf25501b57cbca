package agentprogram

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
)

// maxInput bounds what a hook is given. The result of a tool may be large; a hook that is given more
// does without.
const maxInput = 4 << 20

// maxWord bounds ids and names of events.
const maxWord = 128

// Read returns one JSON value. It does not wait for the end of the input: some programs leave it open.
func Read(r io.Reader) ([]byte, error) {
	bounded := &io.LimitedReader{R: r, N: maxInput}
	var value json.RawMessage
	if err := json.NewDecoder(bounded).Decode(&value); err != nil {
		if bounded.N <= 0 {
			err = fmt.Errorf("it is larger than %d MiB", maxInput>>20)
		}
		return nil, fmt.Errorf("cannot read what the hook was given: %w", err)
	}
	return value, nil
}

// input is what both programs give to hooks.
type input struct {
	Name         string `json:"hook_event_name"`
	Session      string `json:"session_id"`
	Folder       string `json:"cwd"`
	Source       string `json:"source"`
	Reason       string `json:"reason"`
	Prompt       string `json:"prompt"`
	PromptID     string `json:"prompt_id"`
	Turn         string `json:"turn_id"`
	Agent        string `json:"agent_id"`
	Notification string `json:"notification_type"`
	Mode         string `json:"permission_mode"`
	Again        bool   `json:"stop_hook_active"`
}

// read checks the input and fills in what means the same to both programs.
func read(in []byte) (input, Event, error) {
	var i input
	if len(in) > maxInput {
		return i, Event{}, fmt.Errorf("cannot read what the hook was given: it is larger than %d MiB", maxInput>>20)
	}
	if err := json.Unmarshal(in, &i); err != nil {
		return i, Event{}, fmt.Errorf("cannot read what the hook was given: %w", err)
	}
	if i.Name == "" || i.Session == "" {
		return i, Event{}, errors.New("cannot read what the hook was given: it names no event and session")
	}
	for _, word := range []string{i.Name, i.Session, i.Source, i.Reason, i.PromptID, i.Turn} {
		if !IsWord(word) {
			return i, Event{}, fmt.Errorf("cannot read what the hook was given: %.*q is no id", maxWord, word)
		}
	}
	if i.Folder != "" && !filepath.IsAbs(i.Folder) {
		return i, Event{}, fmt.Errorf("cannot read what the hook was given: the folder %.*q is not absolute", maxWord, i.Folder)
	}
	e := Event{
		Kind: kinds[i.Name], Name: i.Name, Session: i.Session, Folder: i.Folder, Turn: i.Turn, Source: i.Source, Again: i.Again,
		Inner: i.Agent != "" || i.Name == "SubagentStart" || i.Name == "SubagentStop",
	}
	switch e.Kind {
	case Prompted:
		e.Prompt, e.Typed = i.Prompt, true
	case Ended:
		e.Source = i.Reason
	}
	return i, e, nil
}

// kinds are the events that matter, by the names that both programs give them. All others are Other.
var kinds = map[string]Kind{
	"SessionStart": Started, "UserPromptSubmit": Prompted, "PostToolBatch": UsedTool, "PostToolUse": UsedTool, "PostToolUseFailure": UsedTool,
	"Stop": Stopped, "StopFailure": Stopped, "Interrupt": Stopped, "PermissionRequest": Asks, "SessionEnd": Ended, "PreCompact": Compacts,
}

// IsWord reports whether a text is empty, or can be an id: visible ASCII characters without space.
func IsWord(s string) bool {
	return len(s) <= maxWord && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' })
}

// processOf reads the number of a process; "" is 0.
func processOf(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	pid, err := strconv.Atoi(s)
	if err != nil || pid <= 0 {
		return 0, fmt.Errorf("cannot read what the hook was given: %.*q is no process", maxWord, s)
	}
	return pid, nil
}

// hooks is how both programs take text from a hook.
type hooks struct{}

// Takes is as in Program. A turn is not made to go on twice: programs count that, and end the turn.
func (hooks) Takes(e Event) bool {
	switch e.Name {
	case "SessionStart", "UserPromptSubmit", "PostToolBatch", "PostToolUse", "PostToolUseFailure":
		return !e.Inner
	case "Stop":
		return !e.Inner && !e.Again
	}
	return false
}

// Answer is as in Program. Codex refuses fields that it does not know.
func (h hooks) Answer(e Event, text string) []byte {
	type context struct {
		Event string `json:"hookEventName"`
		Text  string `json:"additionalContext"`
	}
	var answer struct {
		Decision string   `json:"decision,omitempty"`
		Reason   string   `json:"reason,omitempty"`
		Output   *context `json:"hookSpecificOutput,omitempty"`
	}
	switch {
	case text == "" || !h.Takes(e):
		return nil
	case e.Kind == Stopped:
		answer.Decision, answer.Reason = "block", text
	default:
		answer.Output = &context{e.Name, text}
	}
	out, _ := json.Marshal(answer) // texts alone: it cannot fail
	return append(out, '\n')
}
