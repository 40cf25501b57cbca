package install

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// problems are what Examine finds, one a line.
func problems(found []Finding) string {
	var all strings.Builder
	for _, f := range found {
		fmt.Fprintf(&all, "%s => %s\n", f.Problem, f.Do)
	}
	return all.String()
}

func TestExamineClaude(t *testing.T) {
	p, _ := Find("claude")
	here := Here{Path: "/bin/claude", Version: Version{2, 1, 332}}
	for _, c := range []struct {
		name  string
		files map[string]string
		here  Here
		want  string
	}{
		{"well", nil, here, ""},
		{"not here", nil, Here{}, "claude is not in your PATH => install Claude Code, or put its folder into PATH"},
		{"old", nil, Here{Path: "/bin/claude", Version: Version{2, 1, 200}}, "claude 2.1.200 is too old: it wakes when idle from 2.1.224 on => claude update"},
		{"managed hooks", map[string]string{"managed.json": `{"allowManagedHooksOnly": true}`}, here, "managed.json allows no hooks but its own (allowManagedHooksOnly), so sessions hear nothing => ask who administers this machine"},
		{"held", map[string]string{".claude/settings.json": `{"crossSessionInbound": "hold"}`}, here, `(crossSessionInbound is "hold"), so parley's monitor alone does, and later => take it out of `},
		{"off in a project", map[string]string{"project/.claude/settings.local.json": `{"disableAllHooks": true}`}, here, "project/.claude/settings.local.json switches all hooks off (disableAllHooks), so sessions hear nothing => take it out of "},
		{"broken", map[string]string{".claude/settings.json": `{`}, here, "settings.json cannot be read: line 1"},
		{"a session without socket", map[string]string{".claude/sessions/1.json": fmt.Sprintf(`{"pid": %d, "messagingSocketPath": "/nonexistent/1.sock"}`, os.Getpid())}, here, "has no socket, so parley's monitor alone wakes it => start claude anew there"},
		{"an ended session", map[string]string{".claude/sessions/1.json": `{"pid": 99999999, "messagingSocketPath": "/nonexistent/1.sock"}`}, here, ""},
	} {
		at := person(t, c.files)
		at.Managed, at.Folder = []string{filepath.Join(at.Home, "managed.json")}, filepath.Join(at.Home, "project")
		install(t, p, at, c.here)
		got := problems(p.Examine(t.Context(), at, c.here, ""))
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// Where the administrator lets no plugin be loaded from a folder, the person's own settings are used.
func TestPluginsForbidden(t *testing.T) {
	p, _ := Find("claude")
	for settings, want := range map[string]string{
		`{"strictKnownMarketplaces": []}`:                         ".claude/settings.json",
		`{"strictKnownMarketplaces": [{"source": "skills-dir"}]}`: ".claude/skills/parley/hooks/hooks.json",
	} {
		at := person(t, map[string]string{"managed.json": settings})
		at.Managed = []string{filepath.Join(at.Home, "managed.json")}
		install(t, p, at, Here{Version: Version{2, 1, 332}})
		if text, err := os.ReadFile(filepath.Join(at.Home, want)); err != nil || !strings.Contains(string(text), "hook claude") {
			t.Errorf("%s: %s, %v", settings, text, err)
		}
	}
}

func TestExamineCodex(t *testing.T) {
	p, _ := Find("codex")
	at := person(t, map[string]string{".codex/hooks.json": `{"hooks": {"Stop": [{"hooks": []}]}}`, "bin/codex": "#!/usr/bin/env node\n", "bin/node": ""})
	here := Here{Path: filepath.Join(at.Home, "bin", "codex"), Version: Version{0, 171, 0}}
	for _, name := range []string{"codex", "node"} {
		if err := os.Chmod(filepath.Join(at.Home, "bin", name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if got := problems(p.Examine(t.Context(), at, here, "")); got != "parley is not installed in Codex CLI => parley install codex\n" {
		t.Errorf("before: %s", got)
	}
	install(t, p, at, here)
	config := filepath.Join(at.Home, ".codex", "config.toml")
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	state := string(text)
	for _, event := range at.codexHooks("").events {
		group := 0
		if event == "Stop" {
			group = 1 // after that of somebody else
		}
		state += fmt.Sprintf("\n[hooks.state.\"%s:%s:%d:0\"]\ntrusted_hash = %q\n", filepath.Join(at.Home, ".codex", "hooks.json"), snake(event), group, trustHash(event, handler{Type: "command", Command: at.Command("hook", "codex"), Timeout: 3}))
	}
	for _, c := range []struct{ name, text, want string }{
		{"trusted", state, ""},
		{"not trusted", string(text), "Codex does not run 8 of parley's hooks"},
		{"changed since", strings.Replace(state, "sha256:", "sha256:0", 1), "Codex does not run 1 of parley's hooks"},
		{"switched off", strings.Replace(state, "trusted_hash", "enabled = false\ntrusted_hash", 2), "2 of parley's hooks are switched off"},
		{"no hooks", "[features]\nhooks = false\n" + state, "switches hooks off (features.hooks = false)"},
		{"no tools", strings.Replace(state, "args =", "enabled = false\nargs =", 1), "switches parley's tools off"},
		{"broken", "a =\n", "cannot change"},
	} {
		if err := os.WriteFile(config, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := problems(p.Examine(t.Context(), at, here, ""))
		if (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if err := os.WriteFile(config, []byte(state), 0o600); err != nil {
		t.Fatal(err)
	}
	bin := filepath.Dir(here.Path)
	if got := problems(p.Examine(t.Context(), at, here, "/nowhere:"+bin)); got != "" {
		t.Errorf("well: %s", got)
	}
	if got := problems(p.Examine(t.Context(), at, here, "/nowhere")); !strings.Contains(got, "codex needs node, which is not in the PATH of the node => parley stop, then parley up -d") {
		t.Errorf("without node: %s", got)
	}
	at.Required = filepath.Join(at.Home, "requirements.toml")
	if err := os.WriteFile(at.Required, []byte("allow_managed_hooks_only = true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := problems(p.Examine(t.Context(), at, here, bin)); !strings.Contains(got, "requirements.toml allows no hooks but its own (allow_managed_hooks_only), so sessions hear nothing => ask who administers this machine") {
		t.Errorf("managed: %s", got)
	}
	if err := os.Rename(here.Path, here.Path+".old"); err != nil {
		t.Fatal(err)
	}
	if got := problems(p.Examine(t.Context(), at, here, bin)); !strings.Contains(got, "and no program is there => parley install codex") {
		t.Errorf("moved: %s", got)
	}
}

// Codex 0.171.0 wrote these hashes when a person trusted the hooks.
func TestTrustHash(t *testing.T) {
	for event, want := range map[string]string{
		"PermissionRequest": "1f2d864200a6fb052562c420a3ebd4ee1d3ef59375feed3e675f35c9d70d950e",
		"PostToolUse":       "5a32dd39ff0ecd2a861e8157227ddac1ac30fe253f23945755ed66b1bad3d11b",
		"PreCompact":        "f17bd9f89e2f5dc4820e1da130b9c75257f524c140e3106eac71ba9a89ba0286",
		"SessionStart":      "8e189f28fa1d645fb6c6fece937d2a2a724f51355cc4f145f86b0afbfc6014e4",
		"SessionEnd":        "d138dfddbbb0cc69156503e0c7e05a80748fa0adc3106e3577131edaac90be33",
		"UserPromptSubmit":  "6d9bc319585725e717a29405577b0a7f3ea6b42089f20854053c13df264a31df",
		"Stop":              "e7ea9263410afdf0c9135276135de4d4625fad57c81d1a24e0282ddae7fd0ca6",
		"Interrupt":         "0f6ecff2f6fa77abfd5e97c4ad79707d9e81c5004be9d201beb7830c8edf0743",
	} {
		if got := trustHash(event, handler{Type: "command", Command: "/usr/bin/parley hook codex", Timeout: 3}); got != "sha256:"+want {
			t.Errorf("%s: %s", event, got)
		}
	}
}
