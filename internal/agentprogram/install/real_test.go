package install

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/fakemodel"
	"github.com/parleyfleet/parley/internal/testkit/programs"
)

// real runs a real program in the home of somebody, without any account. PARLEY_PROGRAMS names the
// folder into which npm has installed it.
func real(t *testing.T, at Places, name string, args ...string) string {
	t.Helper()
	dir := os.Getenv("PARLEY_PROGRAMS")
	if dir == "" {
		t.Skip("PARLEY_PROGRAMS names no folder with the real programs")
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "node_modules", ".bin", name), args...)
	cmd.Dir = at.Home
	cmd.Env = []string{"HOME=" + at.Home, "PATH=" + os.Getenv("PATH"), "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1"}
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, said)
	}
	return string(said)
}

// The real Claude Code takes the plugin for a valid one, loads it, and finds in it what is there.
func TestRealClaude(t *testing.T) {
	p, _ := Find("claude")
	at := person(t, nil)
	here := p.Look(t.Context(), func(string) string {
		return filepath.Join(os.Getenv("PARLEY_PROGRAMS"), "node_modules", ".bin")
	})
	install(t, p, at, here)
	valid := real(t, at, "claude", "plugin", "validate", filepath.Join(at.Home, ".claude", "skills", "parley"))
	loaded := real(t, at, "claude", "plugin", "list") + real(t, at, "claude", "plugin", "details", claudePlugin)
	for _, want := range []string{"Validation passed", `mcpServers: parley stdio "/opt/a b/parley" ["mcp"]`, claudePlugin, "loaded", `monitors: bells "exec '/opt/a b/parley' hook claude bells"`, strings.Join(claudeEvents(claudePlugins), ", ")} {
		if !strings.Contains(valid+loaded, want) {
			t.Errorf("%q is missing in:\n%s%s", want, valid, loaded)
		}
	}
	undo(t, p, at, here)
	if loaded := real(t, at, "claude", "plugin", "list"); strings.Contains(loaded, "parley") {
		t.Errorf("undone it is still there:\n%s", loaded)
	}
}

// The real Codex reads its settings with parley's table in them, and without it.
func TestRealCodex(t *testing.T) {
	p, _ := Find("codex")
	at := person(t, map[string]string{".codex/config.toml": "model = \"o3\" # mine"})
	install(t, p, at, Here{})
	if said := real(t, at, "codex", "mcp", "get", "parley", "--json"); !strings.Contains(said, `"/opt/a b/parley"`) {
		t.Errorf("it is not there:\n%s", said)
	}
	undo(t, p, at, Here{})
	if said := real(t, at, "codex", "mcp", "list"); strings.Contains(said, "parley") {
		t.Errorf("undone it is still there:\n%s", said)
	}
}

// A person has trusted parley's hooks, so the real Codex has noted that in its settings. It prevents:
// this stays when parley is taken out.
func TestRealCodexTrust(t *testing.T) {
	for name, others := range map[string]bool{"alone": false, "beside another's hooks": true} {
		t.Run(name, func(t *testing.T) {
			user := programs.Codex(t, fakemodel.New(t))
			user.Hook("true")
			p, _ := Find("codex")
			at := person(t, nil)
			at.Home, at.Argv = user.Home, []string{filepath.Join(user.Home, "parley")}
			if err := os.WriteFile(at.Argv[0], []byte("#!/bin/sh\n"), 0o755); err != nil {
				t.Fatal(err)
			}
			config, hooks := filepath.Join(user.Settings, "config.toml"), filepath.Join(user.Settings, "hooks.json")
			if !others {
				if err := os.Remove(hooks); err != nil {
					t.Fatal(err)
				}
			}
			before := string(read(t, config))
			install(t, p, at, Here{})
			user.Open().Close()
			trusted := string(read(t, config))
			if found := p.state(at); len(found) > 0 || strings.Count(trusted, ":1:0") != map[bool]int{true: 8}[others] {
				t.Fatalf("%v in\n%s", found, trusted)
			}
			undo(t, p, at, Here{})
			after := string(read(t, config))
			if n := strings.Count(after, "trusted_hash"); n != map[bool]int{true: 9}[others] || strings.Contains(after, "hooks") != others || strings.Contains(after, "parley") || !strings.HasPrefix(after, before) {
				t.Errorf("of what it trusts, %d are left in\n%s\nfrom\n%s", n, after, before)
			}
		})
	}
}
