// Package programs runs the real Claude Code and Codex for tests, without any account: each with a
// home of its own, an environment of its own, and a scripted model on loopback. They come from npm by
// exact version (package.json), into the folder that PARLEY_PROGRAMS names. Without it tests skip.
package programs

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/fakemodel"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// Variable names the folder into which npm has installed the programs.
const Variable = "PARLEY_PROGRAMS"

// Program is an installed program, and one user's home and folder for it.
type Program struct {
	// Name is "claude" or "codex", and Path what the user would start.
	Name, Path string
	// Home is the user's home, Settings the program's folder in it, and Folder where the user works.
	Home, Settings, Folder string
	// Env are more variables, NAME=VALUE.
	Env []string

	t       testing.TB
	model   *fakemodel.Model
	hooks   string
	mcp     map[string][]string
	opened  int  // how many terminals
	plugins bool // what it knows, it knows by plugins
	trusted bool // the user has told Codex to trust the hooks
}

// Claude prepares Claude Code as it is after its first questions, with the permission to run commands.
func Claude(t testing.TB, m *fakemodel.Model) *Program {
	p := prepare(t, m, "claude", ".claude")
	p.Env = []string{
		"ANTHROPIC_BASE_URL=" + m.URL, "ANTHROPIC_API_KEY=" + key,
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "ENABLE_TOOL_SEARCH=false",
	}
	p.write(filepath.Join(p.Home, ".claude.json"), object{
		"hasCompletedOnboarding": true, "bypassPermissionsModeAccepted": true, "theme": "dark", "hasSeenAutoDefaultNudge": true, "customApiKeyResponses": object{"approved": []string{key[len(key)-20:]}, "rejected": []string{}},
		"projects": object{p.Folder: object{"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []string{}}},
	})
	p.settle()
	return p
}

// Codex prepares Codex with a trusted folder, no sandbox and no approvals.
func Codex(t testing.TB, m *fakemodel.Model) *Program {
	p := prepare(t, m, "codex", ".codex")
	p.Env = []string{"FAKE_KEY=" + key, "SHELL=/bin/sh"}
	p.settle()
	return p
}

// key opens nothing.
const key = "sk-dummy-not-a-key-for-tests"

type object = map[string]any

func prepare(t testing.TB, m *fakemodel.Model, name, settings string) *Program {
	t.Helper()
	dir := os.Getenv(Variable)
	if dir == "" {
		t.Skip("needs the real " + name + ": set " + Variable + " to a folder with what internal/testkit/programs/package.json names")
	}
	p := &Program{Name: name, Path: filepath.Join(dir, "node_modules", ".bin", name), t: t, model: m, mcp: map[string][]string{}}
	if _, err := os.Stat(p.Path); err != nil {
		t.Fatalf("%s names a folder without %s: %v", Variable, name, err)
	}
	// Not t.TempDir: what the program leaves running writes there.
	place, err := os.MkdirTemp("", "p")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { scratch.Clear(t, place) })
	p.Home, p.Folder = filepath.Join(place, "home"), filepath.Join(place, "work")
	p.Settings = filepath.Join(p.Home, settings)
	for _, dir := range []string{p.Settings, p.Folder} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// write writes a file of settings.
func (p *Program) write(file string, content any) {
	p.t.Helper()
	data, ok := content.(string)
	if !ok {
		text, err := json.MarshalIndent(content, "", "  ")
		if err != nil {
			p.t.Fatal(err)
		}
		data = string(text)
	}
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// Hook has the program run a command at each event that matters to mail.
func (p *Program) Hook(command string) {
	p.hooks = command
	p.settle()
}

// MCP gives the program a server of tools, by its name and command.
func (p *Program) MCP(name string, command ...string) {
	p.mcp[name] = command
	p.settle()
}

// Plugins has the program know nothing but what plugins tell it: neither hooks nor servers of tools.
func (p *Program) Plugins() {
	p.hooks, p.mcp, p.plugins = "", map[string][]string{}, true
	p.settle()
}

// events are those that both programs have, and more those of each.
var (
	events = []string{"SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PermissionRequest", "PreCompact", "SubagentStop"}
	more   = map[string][]string{"claude": {"PostToolBatch", "StopFailure", "Notification"}, "codex": {"PostToolUse", "Interrupt"}}
)

// settle writes the program's settings.
func (p *Program) settle() {
	p.t.Helper()
	hooks := object{}
	for _, name := range slices.Concat(events, more[p.Name]) {
		if p.hooks != "" {
			hooks[name] = []object{{"hooks": []object{{"type": "command", "command": p.hooks}}}}
		}
	}
	if p.Name == "claude" {
		allowed := []string{"Bash"}
		servers := object{}
		for name, command := range p.mcp {
			allowed = append(allowed, "mcp__"+name)
			servers[name] = object{"type": "stdio", "command": command[0], "args": command[1:]}
		}
		p.write(filepath.Join(p.Settings, "settings.json"), object{"hooks": hooks, "permissions": object{"allow": allowed, "defaultMode": "default"}})
		p.write(filepath.Join(p.Home, "mcp.json"), object{"mcpServers": servers})
		return
	}
	if len(hooks) > 0 {
		p.write(filepath.Join(p.Settings, "hooks.json"), object{"hooks": hooks})
	}
	config := fmt.Sprintf(`model = "fake"
model_provider = "fake"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.fake]
name = "fake"
base_url = %q
wire_api = "responses"
env_key = "FAKE_KEY"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false
[analytics]
enabled = false
[projects.%q]
trust_level = "trusted"
`, p.model.URL+"/v1", p.Folder)
	for _, name := range slices.Sorted(maps.Keys(p.mcp)) {
		args, err := json.Marshal(p.mcp[name][1:])
		if err != nil {
			p.t.Fatal(err)
		}
		config += fmt.Sprintf("[mcp_servers.%s]\ncommand = %q\nargs = %s\ndefault_tools_approval_mode = \"approve\"\n", name, p.mcp[name][0], args)
	}
	p.write(filepath.Join(p.Settings, "config.toml"), config)
	p.trusted = false
}

// environment is the whole environment of the program: nothing of the tests' own gets there.
func (p *Program) environment() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.Home, "TMPDIR=" + os.TempDir(), "LANG=C.UTF-8", "TERM=xterm-256color"}, p.Env...)
}

// Run runs one turn without a terminal, and returns what the program prints.
func (p *Program) Run(prompt string, more ...string) string {
	p.t.Helper()
	args := append([]string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust"}, append(more, prompt)...)
	if p.Name == "claude" {
		args = slices.Concat([]string{"-p", prompt}, p.common(), more)
	}
	cmd := exec.CommandContext(p.t.Context(), p.Path, args...)
	cmd.Dir, cmd.Env = p.Folder, p.environment()
	var said, problem strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &problem
	if err := cmd.Run(); err != nil {
		p.t.Fatalf("%s %q: %v\n%s\n%s", p.Name, args, err, &said, &problem)
	}
	return strings.TrimSpace(said.String())
}

// common are the arguments that Claude Code always gets.
func (p *Program) common() []string {
	common := []string{"--model", "claude-sonnet-5"}
	if p.plugins {
		return common
	}
	return append(common, "--mcp-config", filepath.Join(p.Home, "mcp.json"), "--strict-mcp-config")
}
