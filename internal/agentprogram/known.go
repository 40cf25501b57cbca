package agentprogram

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/process"
)

// mark is how processes of a program are recognised. Editors and terminal multiplexers, within which
// agent programs run too, must match none.
type mark struct {
	name string
	// called are the names of its executable.
	called []string
	// installed are parts of the path of its executable, where that has no name of its own.
	installed []string
	// script are parts of the path of a script of its.
	script []string
}

var marks = []mark{
	{name: "claude", called: []string{"claude"}, installed: []string{"/claude/versions/"}, script: []string{"/@anthropic-ai/claude-code/"}},
	{name: "codex", called: []string{"codex"}, installed: []string{"/codex-x86_64-", "/codex-aarch64-"}, script: []string{"/@openai/codex/"}},
	{name: "gemini", called: []string{"gemini"}, script: []string{"/@google/gemini-cli/"}},
	{name: "qwen", called: []string{"qwen"}, script: []string{"/@qwen-code/qwen-code/"}},
	{name: "opencode", called: []string{"opencode"}, script: []string{"/opencode-ai/"}},
	{name: "copilot", called: []string{"copilot"}, script: []string{"/@github/copilot/"}},
	{name: "aider", called: []string{"aider"}, script: []string{"/aider/"}},
	{name: "cursor-agent", called: []string{"cursor-agent"}, script: []string{"/cursor-agent/"}},
	// There is an editor of the name amp.
	{name: "amp", installed: []string{"/.amp/", "/@ampcode/", "/@sourcegraph/amp/"}, script: []string{"/.bin/amp", "/@ampcode/", "/@sourcegraph/amp/"}},
}

// Known returns the name of the agent program that a process is, by the path of its executable and
// its arguments. Where that is an interpreter, the script counts.
func Known(exe string, argv []string) (name string, ok bool) {
	exe = strings.ReplaceAll(strings.TrimSuffix(exe, " (deleted)"), `\`, "/") // replaced by an update while it runs
	called := strings.TrimSuffix(path.Base(exe), ".exe")
	script, interpreted := "", interprets(called)
	if interpreted {
		script = strings.ReplaceAll(scriptOf(argv), `\`, "/")
		called = path.Base(script)
	}
	for _, m := range marks {
		switch {
		case slices.Contains(m.called, called),
			interpreted && partOf(script, m.script),
			!interpreted && partOf(exe, m.installed):
			return m.name, true
		}
	}
	return "", false
}

// Above is the agent program beneath which a process runs, in words; "" if it runs beneath none that can
// be seen.
func Above(pid int) string {
	chain, _ := process.Ancestry(pid)
	for _, at := range chain {
		if name, ok := Known(process.Executable(at.PID), process.Arguments(at.PID)); ok {
			return fmt.Sprintf("%s (process %d)", name, at.PID)
		}
	}
	return ""
}

func partOf(file string, parts []string) bool {
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(file, part) })
}

// interprets reports whether an executable of that name runs scripts in which agent programs are
// written.
func interprets(called string) bool {
	switch called {
	case "node", "nodejs", "bun", "deno":
		return true
	}
	return strings.HasPrefix(called, "python")
}

// valued are the options of interpreters that take the next argument as their value.
var valued = []string{
	"-r", "--require", "--import", "--loader", "--experimental-loader", "-C", "--conditions", "--env-file", "--title", // node
	"-X", "-W", // python
}

// scriptOf returns the script that an interpreter runs, or the module of Python; "" if it runs none.
func scriptOf(argv []string) string {
	for i := 1; i < len(argv); i++ {
		switch arg := argv[i]; {
		case arg == "-m" && i+1 < len(argv):
			return argv[i+1]
		case arg == "-e", arg == "--eval", arg == "-p", arg == "--print", arg == "-c":
			return ""
		case slices.Contains(valued, arg):
			i++
		case !strings.HasPrefix(arg, "-") && arg != "run": // as of bun and deno
			return arg
		}
	}
	return ""
}
