package agent

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

func TestAgentsForPeople(t *testing.T) {
	for _, test := range []struct {
		name  string
		line  string
		width int // 0: piped
		want  string
	}{
		{"list at 80 columns", "agent list", 80, `
AGENT   DOOR   STATE   WAITING  RUNNING  INPUT   COMMAND        FOLDER
claude  exec           2        1        prompt  claude --pri…  …-of-some-length
mawjs   inbox  paused  3        0                               /home/nat
`},
		{"list at 200 columns", "agent list", 200, `
AGENT   DOOR   STATE   WAITING  RUNNING  INPUT   COMMAND                                                     FOLDER
claude  exec           2        1        prompt  claude --print --output-format text --permission-mode plan  /home/nat/projects/a-project-of-some-length
mawjs   inbox  paused  3        0                                                                            /home/nat
`},
		{"pause", "agent pause mawjs", 80, `
mawjs is paused, 1 message waiting
next: parley agent resume mawjs   let it go on
`},
		{"profile", "agent profile sage", 60, `
name:        sage
alias:       S␛age
description: Knows the code of this project, all of it, and
             says so briefly.
file:        local/actors/sage.md

You are Sage.␛[2J
`},
		{"show", "agent show mawjs", 60, `
agent:    mawjs
state:    0 running, 1 waiting, paused
exec:     sh -c ␛ding
attempts: 3
`},
		{"set a profile", "agent profile sage --set agents_test.go", 80, `
sage is recorded as local/actors/sage.md
next: parley agent add sage --preset claude   serve an agent with it
`},
		{"add from a preset", "agent add --preset claude", 80, `
claude is served here, door exec
next: parley agent test claude   see whether it answers; nothing of it is kept
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			mawjs := control.Agent{Name: "mawjs", AgentWork: control.AgentWork{Paused: true, Queued: 1}}
			clitest.On(r, control.Agents.Verb, clitest.ServedHere())
			clitest.On(r, control.AddAgent, control.Agent{Name: "claude", Door: "exec"})
			clitest.On(r, control.PauseAgent, control.ChangedAgent{Agent: mawjs, Changed: []control.SettingChange{{Name: "paused", Was: "false", Now: "true"}}})
			clitest.On(r, control.ShowAgent, control.AgentSettings{
				Agent: mawjs, Settings: []control.Setting{{Name: "exec", Value: "sh -c \x1bding"}, {Name: "attempts", Value: "3"}},
			})
			clitest.On(r, control.ActorProfile, control.Profile{
				Name: "sage", Alias: "S\x1bage", Path: "local/actors/sage.md", Body: "You are Sage.\x1b[2J",
				Description: "Knows the code of this project, all of it, and says so briefly.",
			})
			r.WantPrinted(t, test.width, strings.Fields(test.line), test.want)
		})
	}
}

// It prevents: a change that is answered with a table which does not show what was changed.
func TestAChangeSaysWhatItChanged(t *testing.T) {
	for want, changed := range map[string][]control.SettingChange{
		"bo is served so already: nothing was changed\n":    {},
		"bo: attempts 3 → 5\nbo: wake none → sh -c ␛ding\n": {{Name: "attempts", Was: "3", Now: "5"}, {Name: "wake", Now: "sh -c \x1bding"}},
	} {
		r := newRun(t)
		clitest.On(r, control.SetAgent, control.ChangedAgent{Agent: control.Agent{Name: "bo"}, Changed: changed})
		if code := r.Do("agent", "set", "bo", "--attempts", "5"); code != cli.ExitDone || r.Out.String() != want {
			t.Errorf("exit %d, printed %q, want %q", code, r.Out.String(), want)
		}
	}
}

func TestResumed(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.PauseAgent, control.ChangedAgent{Agent: control.Agent{Name: "mawjs", AgentWork: control.AgentWork{Queued: 2}}, Changed: []control.SettingChange{{Name: "paused", Was: "true", Now: "false"}}})
	if code := r.Do("agent", "resume", "mawjs"); code != cli.ExitDone || r.Out.String() != "mawjs goes on, 2 messages waiting\n" {
		t.Errorf("exit %d, printed %q", code, r.Out.String())
	}
}

func TestCommandLinesOfAgents(t *testing.T) {
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		line  []string
		stdin string
		want  string
	}{
		{line: []string{"agent", "add", "--preset", "claude"}, want: `add-agent {"name":"claude","preset":"claude","settings":{"dir":["` + here + `"]}}`},
		{line: []string{"agent", "add", "calc", "--exec", "bc -l"}, want: `add-agent {"name":"calc","exec":"bc -l","settings":{"dir":["` + here + `"]}}`},
		{line: []string{"agent", "add", "calc", "--inbox", "--dir", "testdata"}, want: `add-agent {"name":"calc","inbox":true,"settings":{"dir":["` + filepath.Join(here, "testdata") + `"]}}`},
		{
			line: []string{"agent", "add", "sage", "--preset", "gemini", "--profile", "p", "--open", "gemini -i", "--timeout", "2m", "--input", "text"},
			want: `add-agent {"name":"sage","preset":"gemini","settings":{"dir":["` + here + `"],"input":["text"],"open":["gemini -i"],"profile":["p"],"timeout":["2m"]}}`,
		},
		{
			line: []string{"agent", "set", "sage", "--tier", "a*2=x, y", "--tier", "b=z", "--env", "", "--wakes-on", "hey,tell", "--answers", "--dir", ".", "--attempts", "2", "--attempts", "3"},
			want: `set-agent {"name":"sage","settings":{"answers":["true"],"attempts":["3"],"dir":["` + here + `"],"env":[""],"tier":["a*2=x, y","b=z"],"wakes-on":["hey,tell"]}}`,
		},
		{line: []string{"agent", "set", "sage", "--inbox", "--dir", "", "--answers=false"}, want: `set-agent {"name":"sage","settings":{"answers":["false"],"dir":[""],"inbox":["true"]}}`},
		{line: []string{"agent", "pause", "mawjs"}, want: `pause-agent {"name":"mawjs","paused":true}`},
		{line: []string{"agent", "resume", "mawjs"}, want: `pause-agent {"name":"mawjs","paused":false}`},
		{line: []string{"agent", "test", "calc", "6", "*", "7"}, want: `test-agent {"name":"calc","text":"6 * 7"}`},
		{line: []string{"agent", "test", "calc", "-"}, stdin: "1\n2\n", want: `test-agent {"name":"calc","text":"1\n2"}`},
		{line: []string{"agent", "test", "calc"}, want: `test-agent {"name":"calc","text":"` + testText + `"}`},
		{line: []string{"agent", "profile", "sage"}, want: `profile {"name":"sage"}`},
		{line: []string{"agent", "profile", "sage", "--set", "-"}, stdin: "---\nname: sage\n---\n", want: `profile {"name":"sage","file":"---\nname: sage\n---"}`},
	} {
		r := newRun(t)
		r.Program.Stdin = strings.NewReader(test.stdin)
		r.Env["PARLEY_AGENT"] = "volt"
		r.WantAsked(t, test.line, test.want)
	}
}

// Only the answer goes to standard output. No answer is a failure.
func TestAgentTest(t *testing.T) {
	good := control.TestResult{Agent: "calc", Command: "bc -l", Input: "6 * 7", Answer: "42\x1b", Elapsed: control.Seconds(1234567 * time.Microsecond)}
	bad := control.TestResult{Agent: "calc", Command: "bc -l", Problem: "it printed nothing", Stderr: "no \x1b such file", Elapsed: control.Seconds(time.Second)}
	asJSON := `{"agent":"calc","command":"bc -l","input":"","answer":"","problem":"it printed nothing","stderr":"no \u001b such file","elapsed":1}` + "\n"
	for _, test := range []struct {
		name     string
		result   control.TestResult
		json     bool
		code     int
		out, say string
	}{
		{"an answer", good, false, cli.ExitDone, "42\x1b\n", "calc answered within 1.235s\n"},
		{
			"none", bad, false, cli.ExitFailed, "",
			"ran: bc -l\nno ␛ such file\nparley: calc did not answer: it printed nothing\n" +
				"hint: run the command by hand in its folder; its file is agents/calc.yaml in the home\n",
		},
		{"none, as JSON", bad, true, cli.ExitFailed, asJSON, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			clitest.On(r, control.TestAgent, test.result)
			line := []string{"agent", "test", "calc"}
			if test.json {
				line = append(line, "--json")
			}
			if code := r.Do(line...); code != test.code {
				t.Errorf("exit %d, want %d", code, test.code)
			}
			if diff := cmp.Diff([]string{test.out, test.say}, []string{r.Out.String(), r.Err.String()}); diff != "" {
				t.Errorf("stdout and stderr (-want +got):\n%s", diff)
			}
		})
	}
}

// Presets are told without a node. A command that a person copies stays in one line.
func TestPresets(t *testing.T) {
	presets, err := configs.Presets()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	first := presets[0]
	if err := os.WriteFile(filepath.Join(dir, first.Program), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRun(t)
	r.Do("agent", "presets")
	lines := strings.Split(strings.TrimSpace(r.Out.String()), "\n")
	if len(lines) != len(presets)+1 || len(r.Asked) > 0 {
		t.Fatalf("%d lines for %d presets, asked %q:\n%s", len(lines), len(presets), r.Asked, r.Out.String())
	}
	for i, preset := range presets {
		line := lines[i+1]
		if !strings.HasPrefix(line, preset.Name+" ") || strings.Contains(line, " installed ") != (i == 0) {
			t.Errorf("%s: %q, want only %s to be installed", preset.Name, line, first.Name)
		}
		r := newRun(t)
		r.AtTerminal(80)
		if code := r.Do("agent", "presets", preset.Name); code != cli.ExitDone || !strings.Contains(r.Out.String(), "runs:    "+preset.Exec+"\n") {
			t.Errorf("%s: exit %d, printed %s", preset.Name, code, r.Out.String())
		}
	}
}

// The node may have another PATH than the shell: whole paths are stored of what the shell finds, and
// what the node does not find is told at once.
func TestProgramsOfAgents(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"claude", "calc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ line, want string }{
		{"add x --dir / --exec|calc -l", `add-agent {"name":"x","exec":"DIR/calc -l","settings":{"dir":["/"]}}`},
		{"add x --dir / --exec|./calc -l", `add-agent {"name":"x","exec":"./calc -l","settings":{"dir":["/"]}}`},
		{"add x --dir / --exec|none -l", `add-agent {"name":"x","exec":"none -l","settings":{"dir":["/"]}}`},
		{"add --dir / --preset claude", `add-agent {"name":"claude","exec":"DIR/claude --print --output-format text","preset":"claude","settings":{"dir":["/"]}}`},
		{"add x --dir / --inbox --wake|calc on", `add-agent {"name":"x","inbox":true,"settings":{"dir":["/"],"wake":["DIR/calc on"]}}`},
		{"set x --exec calc", `set-agent {"name":"x","settings":{"exec":["DIR/calc"]}}`},
		{"set x --tier b=none --tier|a*2=calc -s", `set-agent {"name":"x","settings":{"tier":["b=none","a*2=DIR/calc -s"]}}`},
	} {
		line, command, given := strings.Cut(test.line, "|")
		words := strings.Fields("agent " + line)
		if given {
			words = append(words, command)
		}
		r := newRun(t)
		r.Env["PATH"] = "relative" + string(filepath.ListSeparator) + dir
		r.WantAsked(t, words, strings.ReplaceAll(test.want, "DIR", dir))
	}
	missing := control.AgentWork{Missing: "cannot start calc: it is in no folder of the node's PATH"}
	for _, test := range []struct {
		agent control.Agent
		path  string
		want  string
	}{
		{control.Agent{Command: "calc -l"}, "", "x cannot start calc: it is in no folder of the node's PATH; to change what it runs: parley agent set x --exec 'PROGRAM …'"},
		{control.Agent{Command: "calc -l"}, dir, "x cannot start calc: it is in no folder of the node's PATH; your shell finds it, so: parley agent set x --exec 'DIR/calc -l'"},
		{control.Agent{Wake: "calc"}, dir, "x cannot start calc: it is in no folder of the node's PATH; your shell finds it, so: parley agent set x --wake DIR/calc"},
		{control.Agent{Command: "calc", Tiers: []control.AgentTier{{Name: "a", Count: 2, Exec: "calc"}, {Name: "b", Count: 1, Exec: "./b"}}}, dir,
			"x cannot start calc: it is in no folder of the node's PATH; your shell finds it, so: parley agent set x --tier 'a*2=DIR/calc' --tier 'b*1=./b'"},
	} {
		r := newRun(t)
		r.Env["PATH"] = test.path
		test.agent.Name, test.agent.AgentWork = "x", missing
		if got := MissingText(r.Program.View(), test.agent); got != strings.ReplaceAll(test.want, "DIR", dir) {
			t.Errorf("%+v: %s, want %s", test.agent, got, test.want)
		}
	}
	r := newRun(t)
	clitest.On(r, control.AddAgent, control.Agent{Name: "claude", Door: "exec", Command: "claude", AgentWork: missing})
	r.AtTerminal(80)
	if code := r.Do("agent", "add", "--preset", "claude"); code != cli.ExitDone || !strings.Contains(r.Err.String(), "note: claude cannot start calc") || strings.Contains(r.Out.String(), "next:") {
		t.Errorf("exit %d, printed %q and %q", code, r.Out.String(), r.Err.String())
	}
}

func TestOneAgentForPeople(t *testing.T) {
	for _, test := range []struct {
		name  string
		line  []string
		width int // 0: piped
		want  string
	}{
		{"agent list", []string{"agent", "list"}, 0, `
AGENT  DOOR  WAITING  RUNNING  COMMAND  FOLDER
calc   exec  2        1        bc -l    /work
`},
		{"agent add", []string{"agent", "add", "calc", "--exec", "bc -l"}, 80, `
calc is served here, door exec
next: parley hey calc --wait 30s TEXT   ask it something
`},
		{"agent remove", []string{"agent", "remove", "calc"}, 0, "\ncalc is no longer served here\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRun(t)
			clitest.On(r, control.Agents.Verb, clitest.SomeStatus().Agents)
			clitest.On(r, control.AddAgent, control.Agent{Name: "calc", Door: "exec"})
			r.WantPrinted(t, test.width, test.line, test.want)
		})
	}
}
