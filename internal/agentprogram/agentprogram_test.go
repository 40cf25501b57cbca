package agentprogram

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// env makes an environment of lines NAME=VALUE.
func env(lines ...string) func(string) string {
	return func(name string) string {
		for _, line := range lines {
			if value, ok := strings.CutPrefix(line, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func TestFind(t *testing.T) {
	for _, p := range All() {
		if found, ok := Find(p.Name()); !ok || found != p {
			t.Errorf("%s is not found", p.Name())
		}
	}
	if _, ok := Find("emacs"); ok {
		t.Error("there is an adapter for emacs")
	}
}

// What a hook is given ends with its value: programs leave the input open.
func TestReadDoesNotWaitForTheEnd(t *testing.T) {
	in, out := io.Pipe()
	defer out.Close()
	go func() { _, _ = io.WriteString(out, `{"hook_event_name":"Stop"} `) }()
	value, err := Read(in)
	if err != nil || string(value) != `{"hook_event_name":"Stop"}` {
		t.Errorf("%s %v", value, err)
	}
}

func TestReadRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"nothing":   {"", "EOF"},
		"no JSON":   {"hello", "invalid character"},
		"a half":    {`{"session_id":`, "unexpected EOF"},
		"too deep":  {strings.Repeat("[", 20_000), "depth"},
		"too large": {`{"prompt":"` + strings.Repeat("x", maxInput), "larger than 4 MiB"},
	} {
		if _, err := Read(strings.NewReader(c.in)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestEvent(t *testing.T) {
	const session = "0b6ec1a5-0000-4000-8000-000000000001"
	in := func(name, more string) string {
		return `{"session_id":"` + session + `","cwd":"/w","hook_event_name":"` + name + `"` + more + `}`
	}
	claudeEnv := []string{"HOME=/home/u", "CLAUDE_PID=42", "CLAUDE_CODE_SESSION_ATTENDED=1", "CLAUDE_CODE_MESSAGING_SOCKET=/tmp/cc-socks/42.sock"}
	claudeBell := Bell{Home: "/home/u/.claude", Socket: "/tmp/cc-socks/42.sock"}
	for name, c := range map[string]struct {
		program, in string
		env         []string
		want        Event
	}{
		"claude starts": {"claude", in("SessionStart", `,"source":"resume","transcript_path":null,"new":{"deep":[1]}`), claudeEnv,
			Event{Kind: Started, Name: "SessionStart", Source: "resume", Process: 42, Attended: true, Bell: claudeBell}},
		"claude is prompted": {"claude", in("UserPromptSubmit", `,"prompt":"hello","prompt_id":"p1"`), claudeEnv,
			Event{Kind: Prompted, Name: "UserPromptSubmit", Prompt: "hello", Typed: true, Process: 42, Attended: true, Bell: claudeBell}},
		"claude tells itself": {"claude", in("UserPromptSubmit", `,"prompt":"<task-notification>\nmail\n</task-notification>"`), nil,
			Event{Kind: Prompted, Name: "UserPromptSubmit", Prompt: "<task-notification>\nmail\n</task-notification>"}},
		"claude at a time that was set": {"claude", in("UserPromptSubmit", `,"prompt":"look again","source":"schedule_wakeup"`), nil,
			Event{Kind: Prompted, Name: "UserPromptSubmit", Prompt: "look again", Source: "schedule_wakeup"}},
		"codex is prompted": {"codex", in("UserPromptSubmit", `,"prompt":"<task-notification>","turn_id":"t1"`), nil,
			Event{Kind: Prompted, Name: "UserPromptSubmit", Prompt: "<task-notification>", Typed: true, Turn: "t1", Bell: Bell{Thread: session}}},
		"claude in print mode, another home": {"claude", in("Stop", `,"stop_hook_active":true,"prompt_id":"p1","permission_mode":"bypassPermissions"`),
			[]string{"HOME=/home/u", "CLAUDE_CONFIG_DIR=/c", "CLAUDE_CODE_SESSION_ATTENDED=0"},
			Event{Kind: Stopped, Name: "Stop", Turn: "p1", Again: true, Holds: true, Bell: Bell{Home: "/c"}}},
		"claude within a subagent": {"claude", in("PostToolUse", `,"agent_id":"a1","tool_response":{"x":1}`), nil,
			Event{Kind: UsedTool, Name: "PostToolUse", Inner: true}},
		"a subagent of claude's ends": {"claude", in("SubagentStop", ""), nil, Event{Name: "SubagentStop", Inner: true}},
		"claude ends":                 {"claude", in("SessionEnd", `,"reason":"clear"`), nil, Event{Kind: Ended, Name: "SessionEnd", Source: "clear"}},
		"claude asks":                 {"claude", in("Notification", `,"notification_type":"permission_prompt"`), nil, Event{Kind: Asks, Name: "Notification"}},
		"claude says that it waits":   {"claude", in("Notification", `,"notification_type":"idle_prompt"`), nil, Event{Name: "Notification"}},
		"codex starts": {"codex", in("SessionStart", `,"source":"startup","permission_mode":"default"`), []string{"HOME=/home/u"},
			Event{Kind: Started, Name: "SessionStart", Source: "startup", Bell: Bell{Home: "/home/u/.codex", Thread: session}}},
		"codex used a tool": {"codex", in("PostToolUse", `,"turn_id":"t1","prompt":"not typed"`), []string{"CODEX_HOME=/c"},
			Event{Kind: UsedTool, Name: "PostToolUse", Turn: "t1", Bell: Bell{Home: "/c", Thread: session}}},
		"codex asks": {"codex", in("PermissionRequest", ""), nil, Event{Kind: Asks, Name: "PermissionRequest", Bell: Bell{Thread: session}}},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := Find(c.program)
			got, err := p.Event([]byte(c.in), env(c.env...))
			if err != nil {
				t.Fatal(err)
			}
			c.want.Session, c.want.Folder = session, "/w"
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEventRefuses(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"a list":              {`[]`, "cannot unmarshal"},
		"nothing":             {`null`, "names no event"},
		"no session":          {`{"hook_event_name":"Stop"}`, "names no event and session"},
		"no event":            {`{"session_id":"s"}`, "names no event and session"},
		"a number for an id":  {`{"hook_event_name":"Stop","session_id":7}`, "cannot unmarshal"},
		"an id of two lines":  {`{"hook_event_name":"Stop","session_id":"a\nb"}`, "is no id"},
		"a long id":           {`{"hook_event_name":"Stop","session_id":"` + strings.Repeat("x", 1000) + `"}`, "is no id"},
		"a relative folder":   {`{"hook_event_name":"Stop","session_id":"s","cwd":"w"}`, "not absolute"},
		"more than one value": {`{"hook_event_name":"Stop","session_id":"s"} {}`, "invalid character"},
		"too much":            {strings.Repeat(" ", maxInput+1), "larger than"},
	} {
		for _, p := range All() {
			if e, err := p.Event([]byte(c.in), env()); err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 400 {
				t.Errorf("%s: %s: %+v %v", p.Name(), name, e, err)
			}
		}
	}
	for _, pid := range []string{"x", "-1", "0", "99999999999999999999"} {
		if _, err := (claude{}).Event([]byte(`{"hook_event_name":"Stop","session_id":"s"}`), env("CLAUDE_PID="+pid)); err == nil {
			t.Errorf("the process %s is taken", pid)
		}
	}
}

// Text is handed over in the form of each event, and nowhere else.
func TestAnswer(t *testing.T) {
	const text = "mail: <a> & \"b\"\n"
	for _, c := range []struct {
		event Event
		want  string
	}{
		{Event{Kind: Started, Name: "SessionStart"}, `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":%}}`},
		{Event{Kind: Prompted, Name: "UserPromptSubmit"}, `{"hookSpecificOutput":{"hookEventName":"UserPromptSubmit","additionalContext":%}}`},
		{Event{Kind: UsedTool, Name: "PostToolUse"}, `{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":%}}`},
		{Event{Kind: UsedTool, Name: "PostToolBatch"}, `{"hookSpecificOutput":{"hookEventName":"PostToolBatch","additionalContext":%}}`},
		{Event{Kind: UsedTool, Name: "PostToolUseFailure"}, `{"hookSpecificOutput":{"hookEventName":"PostToolUseFailure","additionalContext":%}}`},
		{Event{Kind: Stopped, Name: "Stop"}, `{"decision":"block","reason":%}`},
		{Event{Kind: Stopped, Name: "Stop", Again: true}, ""},
		{Event{Kind: Stopped, Name: "StopFailure"}, ""},
		{Event{Kind: UsedTool, Name: "PostToolUse", Inner: true}, ""},
		{Event{Kind: Asks, Name: "PermissionRequest"}, ""},
		{Event{Kind: Ended, Name: "SessionEnd"}, ""},
		{Event{Kind: Compacts, Name: "PreCompact"}, ""},
		{Event{Name: "SubagentStop", Inner: true}, ""},
	} {
		for _, p := range All() {
			if p.Answer(c.event, "") != nil {
				t.Errorf("%s answers %s with nothing", p.Name(), c.event.Name)
			}
			got := p.Answer(c.event, text)
			if p.Takes(c.event) != (got != nil) {
				t.Errorf("%s: %s takes %v, and is answered %q", p.Name(), c.event.Name, p.Takes(c.event), got)
			}
			if c.want == "" {
				if got != nil {
					t.Errorf("%s answers %s with %s", p.Name(), c.event.Name, got)
				}
				continue
			}
			quoted, _ := json.Marshal(text)
			if want := strings.Replace(c.want, "%", string(quoted), 1) + "\n"; string(got) != want {
				t.Errorf("%s answers %s with %s, want %s", p.Name(), c.event.Name, got, want)
			}
		}
	}
}

// Whatever a hook is given, it is read or refused, and what is read can be answered.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"hook_event_name":"Stop","session_id":"s","cwd":"/w","stop_hook_active":true}`), "1")
	f.Add([]byte(`{"hook_event_name":"UserPromptSubmit","session_id":"s","prompt":"\ud800"}`), "")
	f.Add([]byte(`{"hook_event_name":"PostToolUse","session_id":"s","agent_id":null,"tool_response":[[[]]]}`), "x")
	f.Fuzz(func(t *testing.T, in []byte, value string) {
		for _, p := range All() {
			e, err := p.Event(in, func(string) string { return value })
			if err != nil {
				continue
			}
			if e.Session == "" || e.Name == "" || !IsWord(e.Session) || !IsWord(e.Source) || !IsWord(e.Turn) || e.Process < 0 {
				t.Errorf("%+v", e)
			}
			if out := p.Answer(e, "text"); out != nil && !json.Valid(out) {
				t.Errorf("%s", out)
			}
		}
	})
}

// What rings codex exec is lost, so it is known by its arguments.
func TestOnce(t *testing.T) {
	for words, want := range map[string]bool{
		"codex": false, "codex --no-daemon": false, "codex resume s-1": false, "codex app-server --listen unix://": false,
		"codex exec look": true, "codex -c model=x exec resume --last": true, "codex e look": true,
	} {
		if got := (codex{}).Once(strings.Fields(words)); got != want {
			t.Errorf("%s: %v", words, got)
		}
	}
}
