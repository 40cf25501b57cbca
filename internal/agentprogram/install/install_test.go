package install

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/internal/splice"
	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

func TestMain(m *testing.M) { os.Exit(scratch.InMemory(m).Run()) }

// person is the home of somebody, with what is in it.
func person(t *testing.T, files map[string]string) Places {
	t.Helper()
	home := t.TempDir()
	for name, text := range files {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o640); err != nil {
			t.Fatal(err)
		}
	}
	return Places{
		Home: home, Data: filepath.Join(home, ".local", "share", "parley-install"), Argv: []string{"/opt/a b/parley"},
		Getenv: func(string) string { return "" },
		Skills: func(folder string) ([]File, error) {
			return []File{
				{Path: filepath.Join(folder, "parley", "SKILL.md"), Text: []byte("how to talk\n"), Folder: filepath.Join(folder, "parley")},
				{Path: filepath.Join(folder, "frame", "SKILL.md"), Text: []byte("how to ask\n"), Folder: filepath.Join(folder, "frame"), Optional: true},
			}, nil
		},
	}
}

// files are all files below a folder: their mode and text, or where they lead to.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			all[rel] = "folder"
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(path)
			all[rel] = "-> " + target
			return err
		default:
			data, err := os.ReadFile(path)
			all[rel] = fmt.Sprintf("%v %s", info.Mode(), data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func apply(t *testing.T, plan Plan, err error) Plan {
	t.Helper()
	if err == nil {
		err = plan.Apply()
	}
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func install(t *testing.T, p Program, at Places, here Here) Plan {
	t.Helper()
	plan, err := p.Install(at, here)
	return apply(t, plan, err)
}

func undo(t *testing.T, p Program, at Places, here Here) Plan {
	t.Helper()
	plan, err := p.Undo(at, here)
	return apply(t, plan, err)
}

// older is a Claude Code that reads no plugins from folders, so its own files are changed.
var older = Here{Version: Version{2, 1, 100}}

// configurations are files as people have them, of either program.
var configurations = map[string]map[string]string{
	"nothing":       {},
	"empty folders": {".claude/x": "", ".codex/x": "", ".agents/skills/other/SKILL.md": "theirs"},
	"empty files":   {".claude/settings.json": "", ".claude.json": "", ".codex/hooks.json": "", ".codex/config.toml": ""},
	"empty values":  {".claude/settings.json": "{}", ".claude.json": "{ }\n", ".codex/hooks.json": "{\n}\n", ".codex/config.toml": "\n\n"},
	"empty lists": {
		".claude/settings.json": `{"hooks": {"Stop": [], "Other": []}}`, ".claude.json": `{"mcpServers": {}}`,
		".codex/hooks.json": "{\"hooks\": {\n  \"Stop\": [\n  ]\n}}", ".codex/config.toml": "# nothing yet",
	},
	"one line": {
		".claude/settings.json": `{"model":"opus","hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`,
		".claude.json":          `{"numStartups":12,"mcpServers":{"gh":{"command":"gh","args":["mcp"]}},"projects":{"/x":{"history":["a\"b"]}}}`,
		".codex/hooks.json":     `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"say done"}]}]}}`,
		".codex/config.toml":    "model = \"o3\"",
	},
	"others' hooks and plugins": {
		".claude/settings.json": "{\n\t\"enabledPlugins\": {\"x@y\": true},\n\t\"hooks\": {\n\t\t\"PostToolUse\": [\n\t\t\t{\n\t\t\t\t\"matcher\": \"Edit\",\n\t\t\t\t\"hooks\": [{\"type\": \"command\", \"command\": \"fmt\"}, {\"type\": \"http\", \"url\": \"http://127.0.0.1\"}]\n\t\t\t}\n\t\t]\n\t}\n}\n",
		".claude.json":          "{\n  \"mcpServers\": {\n    \"gh\": {\"url\": \"https://x\"}\n  }\n}",
		".codex/hooks.json":     "{\n  \"description\": \"mine\",\n  \"hooks\": {\n    \"SessionStart\": [\n      {\"matcher\": \"startup\", \"hooks\": [{\"type\": \"command\", \"command\": \"echo hi\"}]}\n    ]\n  }\n}\n",
		".codex/config.toml":    "[mcp_servers.gh]\ncommand = \"gh\"\n\n[hooks.state]\n\n[hooks.state.\"/x/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:aa\"\n",
	},
	"comments and commas": {
		".claude/settings.json": "// mine\n{\n  /* keep */ \"hooks\": { // here\n    \"Stop\": [ // one\n      {\"hooks\": [],},\n    ], // two\n  },\n  // end\n}\n// after",
		".claude.json":          "{\n  \"a\": 1, // one\n}",
		".codex/hooks.json":     "{ \"hooks\": { /* none */ } }",
		".codex/config.toml":    "# top\n\n[a] # a\nb = [ 1, # one\n 2 ]\n\n# end\n\n\n",
	},
	"mark and CRLF": {
		".claude/settings.json": "\ufeff{\r\n  \"hooks\": {\r\n    \"Stop\": [\r\n      {\"hooks\": []}\r\n    ]\r\n  }\r\n}\r\n",
		".claude.json":          "\ufeff{}\r\n",
		".codex/hooks.json":     "{\r\n    \"hooks\": {}\r\n}",
		".codex/config.toml":    "\ufeffa = 1\r\n[b]\r\nc = '''\r\n[mcp_servers.parley]\r\n'''",
	},
	"odd white space": {
		".claude/settings.json": "\n\n {\"hooks\"\n:{\"Stop\":\t[\n\n{\"hooks\" : [ ] }\n ,{\"hooks\":[]} ]}   }\n\n",
		".claude.json":          "{\t}",
		".codex/hooks.json":     "{\"hooks\":{\"Stop\":[ ]\n}}",
		".codex/config.toml":    "a=1\n\n\n  [ mcp_servers . x ]\n  command='x'\n\t",
	},
	"each documented form": {
		".claude/settings.json": `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "permissions": {"allow": ["Bash(npm run *)"], "defaultMode": "acceptEdits"},
  "env": {"A": "1"}, "disableAllHooks": false, "statusLine": {"type": "command", "command": "~/line.sh"},
  "hooks": {
    "PreToolUse": [{"matcher": "Bash", "if": "Bash(git *)", "hooks": [{"type": "command", "command": "check", "args": ["--all"], "timeout": 5, "statusMessage": "…", "once": true}]}],
    "Stop": [{"hooks": [{"type": "prompt", "prompt": "done? $ARGUMENTS"}, {"type": "agent", "prompt": "look", "timeout": 60}]},
             {"hooks": [{"type": "mcp_tool", "server": "gh", "tool": "note", "input": {"a": [1, 2.5e3, null, true]}}]}],
    "SessionStart": [{"matcher": "startup|resume", "hooks": [{"type": "command", "async": true, "asyncRewake": true, "shell": "bash", "command": "echo \"}],\""}]}],
    "Notification": []
  },
  "enabledPlugins": {"a@b": false}, "extraKnownMarketplaces": {"b": {"source": {"source": "github", "repo": "x/y"}}}
}
`,
		".claude.json":      "{\n  \"projects\": {\"/x\": {\"mcpServers\": {\"parleys\": {\"type\": \"http\", \"url\": \"https://x\", \"headers\": {}}}}},\n  \"mcpServers\": {\"gh\": {\"type\": \"stdio\", \"command\": \"gh\", \"env\": {\"T\": \"\\u00e9\"}}}\n}\n",
		".codex/hooks.json": "{\"hooks\":{\n\t\"PreToolUse\":[{\"matcher\":\"^Bash$\",\"hooks\":[{\"type\":\"command\",\"command\":\"a\",\"statusMessage\":\"b\",\"timeout\":600}]}],\n\t\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"c\",\"commandWindows\":\"d\"}]}]}}\n",
		".codex/config.toml": `model = "o3" # mine
notify = ["notify-send", "Codex"]
shell_environment_policy.exclude = [ "A*",
  "B*", # two
]
tui = { notifications = true, theme.name = 'x' }
instructions = """
[mcp_servers.parley]
"""

[[hooks.Stop]]
[[hooks.Stop.hooks]]
type = "command"
command = 'say "done"'

[profiles."a b"]
model_reasoning_effort = "high"

[mcp_servers.gh]
command = "gh"
env = { "T" = "1" }
[mcp_servers.gh.tools.search]
approval_mode = "approve"
[projects]
[projects."/x y"]
trust_level = "trusted"

[hooks.state]
[hooks.state."/home/x/.codex/config.toml:stop:0:0"]
enabled = false
trusted_hash = "sha256:aa"
`,
	},
	"a hook of parley's that the person wrote": {
		".claude/settings.json": `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "parley presence idle"}]}]}}`,
		".codex/hooks.json":     `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "parley hey nat done"}]}]}}`,
	},
}

// Installed twice it is the same, and taken out every byte is as it was.
func TestUndoLeavesEveryByte(t *testing.T) {
	for name, had := range configurations {
		for _, p := range Programs() {
			for _, here := range []Here{older, {Version: Version{2, 1, 332}}, {}} {
				t.Run(fmt.Sprintf("%s/%s %s", name, p.Name, here.Version), func(t *testing.T) {
					at := person(t, had)
					before := files(t, at.Home)
					first := install(t, p, at, here)
					installed := files(t, at.Home)
					if len(first.Changes) == 0 {
						t.Fatal("nothing was written")
					}
					if second := install(t, p, at, here); len(second.Changes) > 0 {
						t.Errorf("again it changes %v", second.Changes)
					}
					if diff := cmp.Diff(installed, files(t, at.Home)); diff != "" {
						t.Errorf("again (-want +got):\n%s", diff)
					}
					if state, err := p.State(at, here); state != Installed || err != nil {
						t.Errorf("state %q, %v", state, err)
					}
					undo(t, p, at, here)
					dropData(before)
					after := files(t, at.Home)
					dropData(after)
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("undone (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
}

// dropData drops the folders above that in which parley keeps its own files: they are parley's.
func dropData(all map[string]string) {
	maps.DeleteFunc(all, func(name, _ string) bool { return strings.HasPrefix(name, ".local") })
}

// Whatever others change in the meantime stays, and nothing of parley's does.
func TestUndoKeepsWhatOthersChange(t *testing.T) {
	for _, c := range []struct {
		name, file, in string
		change         func(string) string
		want           string
	}{
		{"a setting before", ".claude/settings.json", "{\n  \"a\": 1\n}\n", replace(`"a": 1`, `"a": 2`), "{\n  \"a\": 2\n}\n"},
		{"a hook after ours", ".claude/settings.json", "{}", replace("\"timeout\": 3}]}],\n    \"UserPromptSubmit", "\"timeout\": 3}]}, {\"hooks\": [{\"type\": \"command\", \"command\": \"theirs\"}]}],\n    \"UserPromptSubmit"), "{\n  \"hooks\": {\n    \"SessionStart\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"theirs\"}]}]\n  }\n}"},
		{"written anew", ".claude/settings.json", "{ \"a\":1 }", func(now string) string {
			doc, _ := splice.ParseJSON([]byte(now))
			return doc.Tokens()
		}, `{ "a":1 }`},
		{"written anew, with more", ".claude/settings.json", "{ \"a\":1 }", func(now string) string {
			doc, _ := splice.ParseJSON([]byte(now))
			return strings.Replace(doc.Tokens(), `{"a":1`, `{"a":1,"b":2`, 1)
		}, `{"a":1,"b":2}`},
		{"trust", ".codex/config.toml", "a = 1\n", func(now string) string { return now + "\n[hooks.state.\"x\"]\ntrusted_hash = \"y\"\n" }, "a = 1\n\n[hooks.state.\"x\"]\ntrusted_hash = \"y\"\n"},
		{"our table grew", ".codex/config.toml", "a = 1\n", func(now string) string {
			return now + "enabled = false\n\n[mcp_servers.parley.tools.hey]\napproval_mode = \"approve\"\n\n[other]\n"
		}, "a = 1\n\n[other]\n"},
		{"taken out by hand", ".codex/config.toml", "a = 1\n", func(string) string { return "b = 2\n" }, "b = 2\n"},
		{"removed", ".codex/config.toml", "a = 1\n", func(string) string { return "" }, ""},
	} {
		for _, again := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, installed again %t", c.name, again), func(t *testing.T) {
				p, _ := Find(strings.TrimPrefix(filepath.Dir(c.file), "."))
				at := person(t, map[string]string{c.file: c.in})
				install(t, p, at, older)
				path := filepath.Join(at.Home, c.file)
				changed := c.change(string(read(t, path)))
				if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
					t.Fatal(err)
				}
				if again {
					install(t, p, at, older)
					if now := string(read(t, path)); strings.Contains(changed, "/opt/a b/parley") && now != changed {
						t.Errorf("again it changes\n%s\nto\n%s", changed, now)
					}
				}
				undo(t, p, at, older)
				if diff := cmp.Diff(c.want, string(read(t, path))); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// trust has a person trust the hooks of parley's in a home, as Codex writes that down.
func trust(t *testing.T, at Places, eol string) {
	t.Helper()
	own, err := at.codexHooks(codexFolder(at)).stands()
	if err != nil || len(own) == 0 {
		t.Fatalf("%d hooks, %v", len(own), err)
	}
	config := filepath.Join(codexFolder(at), "config.toml")
	text := string(read(t, config))
	if !strings.HasSuffix(text, "\n") {
		text += eol
	}
	if !strings.Contains(text, "[hooks.state]") {
		text += eol + "[hooks.state]" + eol
	}
	for _, one := range own {
		text += fmt.Sprintf("%s[hooks.state.%q]%[1]strusted_hash = %[3]q%[1]s", eol, one.key, trustHash(one.event, one.handler))
	}
	if err := os.WriteFile(config, []byte(text), 0o640); err != nil {
		t.Fatal(err)
	}
}

// Codex notes which hooks a person trusts. It prevents: what it notes of parley's stays when parley
// is taken out, also if that is cut short, and what it notes of others' goes.
func TestUndoTakesTrust(t *testing.T) {
	p, _ := Find("codex")
	for name, had := range configurations {
		for _, again := range []bool{false, true} {
			for cut := range 6 {
				at := person(t, had)
				before := files(t, at.Home)
				install(t, p, at, Here{})
				eol := "\n"
				if strings.Contains(had[".codex/config.toml"], "\r\n") {
					eol = "\r\n"
				}
				trust(t, at, eol)
				if again {
					install(t, p, at, Here{})
				}
				plan, err := p.Undo(at, Here{})
				if err != nil {
					t.Fatal(err)
				}
				if err := plan.applyUntil(cut); err != nil {
					t.Fatal(err)
				}
				undo(t, p, at, Here{})
				after := files(t, at.Home)
				dropData(before)
				dropData(after)
				if diff := cmp.Diff(before, after); diff != "" {
					t.Errorf("%s, installed again %t, cut short after %d and undone (-want +got):\n%s", name, again, cut, diff)
				}
			}
		}
	}
	// Another's, one that has changed since, and what else stands there.
	at := person(t, map[string]string{".codex/config.toml": "a = 1\n"})
	install(t, p, at, Here{})
	trust(t, at, "\n")
	config := filepath.Join(at.Home, ".codex/config.toml")
	theirs := "\n[hooks.state.\"/else/hooks.json:stop:0:0\"]\ntrusted_hash = \"sha256:aa\"\n"
	if err := os.WriteFile(config, append(bytes.Replace(read(t, config), []byte("a = 1"), []byte("a = 2"), 1), theirs...), 0o640); err != nil {
		t.Fatal(err)
	}
	undo(t, p, at, Here{})
	if diff := cmp.Diff("a = 2\n\n[hooks.state]\n"+theirs, string(read(t, config))); diff != "" {
		t.Errorf("beside another's (-want +got):\n%s", diff)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func replace(old, text string) func(string) string {
	return func(now string) string { return strings.Replace(now, old, text, 1) }
}

// Another parley, another home: what was written is brought up to date, and still goes whole.
func TestInstallAgainOtherwise(t *testing.T) {
	for _, p := range Programs() {
		for name, had := range configurations {
			at := person(t, had)
			before := files(t, at.Home)
			install(t, p, at, older)
			at.Argv = []string{"/usr/bin/parley", "--home", "/srv/o'brien"}
			install(t, p, at, Here{Version: Version{2, 1, 332}}) // a newer program too
			found := files(t, at.Home)
			dropData(found)
			all := fmt.Sprint(found)
			if strings.Contains(all, "/opt/a b/parley") || !strings.Contains(all, `/usr/bin/parley --home '/srv/o'\\''brien' hook `+p.Name) {
				t.Errorf("%s, %s: %s", p.Name, name, all)
			}
			undo(t, p, at, older)
			after := files(t, at.Home)
			dropData(before)
			dropData(after)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("%s, %s: undone (-want +got):\n%s", p.Name, name, diff)
			}
		}
	}
}

// Cut short at any file, it is finished by the next install or the next undo.
func TestCutShort(t *testing.T) {
	for _, p := range Programs() {
		for name, had := range configurations {
			for _, undoing := range []bool{false, true} {
				for n := range 8 {
					at := person(t, had)
					before := files(t, at.Home)
					if undoing {
						install(t, p, at, older)
					}
					plan, err := p.Install(at, older)
					if undoing {
						plan, err = p.Undo(at, older)
					}
					if err != nil {
						t.Fatal(err)
					}
					if err := plan.applyUntil(n); err != nil {
						t.Fatal(err)
					}
					if n%2 == 0 {
						install(t, p, at, older)
						if state, err := p.State(at, older); state != Installed || err != nil {
							t.Errorf("%s, %s: cut short after %d it is %q, %v", p.Name, name, n, state, err)
						}
					}
					undo(t, p, at, older)
					after := files(t, at.Home)
					dropData(before)
					dropData(after)
					if diff := cmp.Diff(before, after); diff != "" {
						t.Errorf("%s, %s: cut short after %d and undone (-want +got):\n%s", p.Name, name, n, diff)
					}
				}
			}
		}
	}
}

// applyUntil does what Apply does, up to a number of files.
func (plan Plan) applyUntil(n int) error {
	if !plan.undo {
		if err := plan.program.writeRecord(plan.at, plan.record); err != nil {
			return err
		}
	}
	for _, c := range plan.Changes[:min(n, len(plan.Changes))] {
		if err := c.apply(); err != nil {
			return err
		}
	}
	return nil
}

// A person keeps the settings elsewhere: links lead to the files, and to their folder. They stay.
func TestLinksAndModes(t *testing.T) {
	for _, p := range Programs() {
		at := person(t, map[string]string{"dot/config.toml": "a = 1\n", "dot/hooks.json": "{}", "dot/settings.json": "{}", "real/claude.json": "{}\n", "real/c.toml": "a = 2\n"})
		for link, to := range map[string]string{".codex": "dot", ".claude": "dot", ".claude.json": "real/claude.json", "dot/config.toml": "../real/c.toml"} {
			_ = os.Remove(filepath.Join(at.Home, link)) // where there is one
			if err := os.Symlink(to, filepath.Join(at.Home, link)); err != nil {
				t.Fatal(err)
			}
		}
		before := files(t, at.Home)
		install(t, p, at, older)
		installed := files(t, at.Home)
		changed := map[string][]string{"codex": {"real/c.toml", "dot/hooks.json"}, "claude": {"dot/settings.json", "real/claude.json"}}[p.Name]
		for _, name := range changed {
			if !strings.Contains(installed[name], "/opt/a b/parley") || !strings.HasPrefix(installed[name], "-rw-r-----") {
				t.Errorf("%s: %q", name, installed[name])
			}
		}
		for name, was := range before {
			if strings.HasPrefix(was, "->") && installed[name] != was {
				t.Errorf("%s leads to %s, was %s", name, installed[name], was)
			}
		}
		undo(t, p, at, older)
		after := files(t, at.Home)
		dropData(after)
		dropData(before)
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("%s: undone (-want +got):\n%s", p.Name, diff)
		}
	}
}

func TestBlocked(t *testing.T) {
	for _, c := range []struct {
		name, file, text string
		mode             fs.FileMode
		want             string
		paste            bool
	}{
		{"broken", ".claude/settings.json", "{\"hooks\": ", 0o644, "parsing value: unexpected EOF", true},
		{"hooks in another form", ".claude/settings.json", `{"hooks": []}`, 0o644, `"hooks" is not what programs expect there`, true},
		{"locked", ".claude/settings.json", `{}`, 0o444, "may only be read", true},
		{"another server of that name", ".claude.json", `{"mcpServers": {"parley": {"command": "talk"}}}`, 0o644, `called "parley"`, true},
		{"another skill of that name", ".claude/skills/parley/SKILL.md", "pirates", 0o644, "did not write", false},
		{"servers in one value", ".codex/config.toml", "mcp_servers = { a = { command = \"x\" } }", 0o600, "line 1 has servers", true},
		{"another table of that name", ".codex/config.toml", "[mcp_servers.parley]\ncommand = \"x\"\n", 0o600, "line 1 has servers", true},
		{"locked TOML", ".codex/config.toml", "a = 1\n", 0o400, "may only be read", true},
		{"broken TOML", ".codex/config.toml", "a = \n", 0o600, "line 1: unexpected character", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			name := "claude"
			if strings.HasPrefix(c.file, ".codex") {
				name = "codex"
			}
			p, _ := Find(name)
			at := person(t, map[string]string{c.file: c.text})
			if err := os.Chmod(filepath.Join(at.Home, c.file), c.mode); err != nil {
				t.Fatal(err)
			}
			before := files(t, at.Home)
			_, err := p.Install(at, older)
			blocked, ok := err.(*Blocked)
			if !ok || !strings.Contains(err.Error(), c.want) || (blocked.Paste != "") != c.paste {
				t.Errorf("%v", err)
			}
			if diff := cmp.Diff(before, files(t, at.Home)); diff != "" {
				t.Errorf("it changed something (-want +got):\n%s", diff)
			}
			if plan, err := p.Undo(at, older); err == nil && len(plan.Changes) > 0 {
				t.Errorf("undo would change %v", plan.Changes)
			}
		})
	}
}

// What somebody else wrote is not taken for parley's, and what somebody changed is not lost.
func TestForeignSkill(t *testing.T) {
	p, _ := Find("codex")
	at := person(t, map[string]string{".agents/skills/frame/SKILL.md": "theirs"})
	plan := install(t, p, at, Here{})
	if len(plan.Notes) != 1 || !strings.Contains(plan.Notes[0], "skills/frame is not as parley wrote it") {
		t.Errorf("notes %q", plan.Notes)
	}
	own := filepath.Join(at.Home, ".agents/skills/parley/SKILL.md")
	if err := os.WriteFile(own, []byte("how to talk, by me\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Install(at, Here{}); err == nil {
		t.Error("a changed file is written over")
	}
	plan = undo(t, p, at, Here{})
	if len(plan.Notes) != 1 || !strings.Contains(plan.Notes[0], "parley/SKILL.md was changed") {
		t.Errorf("notes %q", plan.Notes)
	}
	for name, want := range map[string]string{"parley": "how to talk, by me\n", "frame": "theirs"} {
		if got, err := os.ReadFile(filepath.Join(at.Home, ".agents/skills", name, "SKILL.md")); string(got) != want {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
}

// Skills that were written without parley install stay, and a lost record leaves nothing that runs.
func TestWithoutRecord(t *testing.T) {
	for _, p := range Programs() {
		at := person(t, map[string]string{".agents/skills/parley/SKILL.md": "how to talk\n", ".claude/skills/parley/SKILL.md": "how to talk\n"})
		before := files(t, at.Home)
		undo(t, p, at, Here{})
		if diff := cmp.Diff(before, files(t, at.Home)); diff != "" {
			t.Errorf("%s: never installed and undone (-want +got):\n%s", p.Name, diff)
		}
		install(t, p, at, Here{})
		if err := os.RemoveAll(at.Data); err != nil {
			t.Fatal(err)
		}
		undo(t, p, at, Here{})
		if all := fmt.Sprint(files(t, at.Home)); strings.Contains(all, "/opt/a b/parley") {
			t.Errorf("%s: without the record it is still there: %s", p.Name, all)
		}
	}
}

// What a person brings back from an earlier time keeps what it said then.
func TestBroughtBack(t *testing.T) {
	p, _ := Find("codex")
	at := person(t, map[string]string{".codex/config.toml": "a = 1\n"})
	path := filepath.Join(at.Home, ".codex", "config.toml")
	install(t, p, at, Here{})
	first := read(t, path)
	if err := os.WriteFile(path, append([]byte("b = 2\n"), first...), 0o600); err != nil {
		t.Fatal(err)
	}
	at.Argv = []string{"/usr/bin/parley"}
	install(t, p, at, Here{})
	if err := os.WriteFile(path, first, 0o600); err != nil {
		t.Fatal(err)
	}
	undo(t, p, at, Here{})
	if got := string(read(t, path)); got != "a = 1\n" {
		t.Errorf("%q", got)
	}
}

// A file that changes between the question and the answer is not written over.
func TestChangedMeanwhile(t *testing.T) {
	p, _ := Find("codex")
	at := person(t, map[string]string{".codex/config.toml": "a = 1\n"})
	plan, err := p.Install(at, Here{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(at.Home, ".codex/config.toml")
	if err := os.WriteFile(path, []byte("a = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := plan.Apply(); err == nil {
		t.Error("it is written")
	}
	if got, err := os.ReadFile(path); string(got) != "a = 2\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzUndo puts parley's part into any file, has somebody else change the file, and takes it out.
func FuzzUndo(f *testing.F) {
	for _, had := range configurations {
		for name, text := range had {
			f.Add([]byte(text), 0, "", strings.HasSuffix(name, ".toml"))
			f.Add([]byte(text), 3, " ", strings.HasSuffix(name, ".toml"))
			f.Add([]byte(text), 1, "// x\n", strings.HasSuffix(name, ".toml"))
		}
	}
	f.Fuzz(func(t *testing.T, before []byte, at int, text string, toml bool) {
		if bytes.Contains(before, []byte("parley")) || strings.Contains(text, "parley") {
			return
		}
		var one part = hooks{program: "claude", command: "/usr/bin/parley hook claude", events: claudeEvents(claudePlugins), seconds: 3}
		if toml {
			one = table{argv: []string{"/usr/bin/parley"}}
		}
		after, added, err := one.add(before)
		if err != nil {
			return
		}
		k := kept{Before: before, Sums: []string{sum(after)}, Added: added}
		if back, err := without(one, after, k); err != nil || !bytes.Equal(back, before) {
			t.Fatalf("%q is %q, %v", before, back, err)
		}
		at = int(uint(at) % uint(len(after)+1))
		changed := append(append(bytes.Clone(after[:at]), text...), after[at:]...)
		back, err := without(one, changed, k)
		if err != nil {
			return // nobody can read it
		}
		if one.has(changed) && one.has(back) {
			t.Fatalf("%q still has it: %q", changed, back)
		}
		if _, err := one.clean(back, before); err != nil {
			t.Fatalf("%q is %q, which nobody can read: %v", changed, back, err)
		}
	})
}

func TestVersion(t *testing.T) {
	dir := t.TempDir()
	for said, want := range map[string]string{"2.1.332 (Claude Code)": "2.1.332", "codex-cli 0.171.0-alpha.2": "0.171.0", "what?": ""} {
		path := filepath.Join(dir, "claude")
		if err := os.WriteFile(path, []byte("#!/bin/sh\necho '"+said+"'\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		p, _ := Find("claude")
		here := p.Look(t.Context(), func(string) string { return "relative:" + dir })
		if here.Path != path || here.Version.String() != want {
			t.Errorf("%q: %v, want %s", said, here, want)
		}
	}
	if (Version{2, 1, 9}).Before(Version{2, 1, 9}) || !(Version{2, 1, 9}).Before(Version{2, 1, 10}) || (Version(nil)).Before(Version{1, 0, 0}) {
		t.Error("versions are compared wrongly")
	}
}

// A node can ask where the program was, and where its settings are.
func TestKnown(t *testing.T) {
	p, _ := Find("codex")
	at := person(t, nil)
	for _, want := range []string{"/opt/codex", ""} {
		if want == "" {
			undo(t, p, at, Here{})
		} else {
			install(t, p, at, Here{Path: "/opt/old"})
			install(t, p, at, Here{Path: want}) // no file changes by that
		}
		path, config, err := p.Known(at.Data)
		if path != want || (config == filepath.Join(at.Home, ".codex")) != (want != "") || err != nil {
			t.Errorf("%q, %q, %v", path, config, err)
		}
	}
}

func TestWords(t *testing.T) {
	at := Places{Argv: []string{"/opt/o'brien x/parley", "--home", "/srv/a b"}}
	if got := words(at.Command("hook", "claude")); !cmp.Equal(got, at.Argv) {
		t.Errorf("%q", got)
	}
}
