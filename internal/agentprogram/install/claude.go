package install

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/splice"
)

// The plugin of parley's in Claude Code lies in a folder of skills, and is loaded from there: no
// file of settings says so, and none has to be changed.
const claudePlugin = "parley@skills-dir"

// The first versions of Claude Code that can do a thing.
var (
	claudePlugins = Version{2, 1, 157}
	claudeSockets = Version{2, 1, 224}
)

func claude() Program {
	return Program{
		Name: "claude", Title: "Claude Code", parts: claudeParts, state: claudeState, folder: claudeFolder, monitor: claudeMonitor,
		Needs: []Need{
			{What: "hears mail while it works"},
			{What: "wakes when idle", Since: claudeSockets},
		},
	}
}

// claudeEvents are the events at which Claude Code asks parley. What tools have returned comes to its
// model together, so that is one event of those versions that have it: by one of several tools that
// run beside each other, nobody would know whether the model has gone on.
func claudeEvents(v Version) []string {
	tools := []string{"PostToolBatch"}
	if v.Before(claudePlugins) {
		tools = []string{"PostToolUse", "PostToolUseFailure"}
	}
	return slices.Concat([]string{"SessionStart", "UserPromptSubmit"}, tools, []string{"Notification", "PreCompact", "Stop", "StopFailure", "SessionEnd"})
}

func claudeFolder(at Places) string { return at.config("CLAUDE_CONFIG_DIR", ".claude") }

func claudeMonitor(at Places) string {
	return filepath.Join(claudeFolder(at), "skills", "parley", "monitors", "monitors.json")
}

func claudeParts(at Places, v Version) ([]part, error) {
	folder := claudeFolder(at)
	parts, err := at.skills(filepath.Join(folder, "skills"))
	if err != nil {
		return nil, err
	}
	plugin := filepath.Join(folder, "skills", "parley")
	events := hooks{program: "claude", command: at.Command("hook", "claude"), events: claudeEvents(v), seconds: 3}
	tools := server{argv: at.Argv, rest: map[string]any{"alwaysLoad": true}}
	if v.Before(claudePlugins) || !at.takesPlugins() {
		events.file, tools.file = filepath.Join(folder, "settings.json"), at.claudeServers(folder)
		return append(parts, events, tools), nil
	}
	about := map[string]any{
		"name": "parley", "version": "1.0.0", "author": map[string]string{"name": "parley"},
		"description": "Talk with agents and people on other machines, and hear them while you work",
	}
	return append(parts,
		whole{File{Path: filepath.Join(plugin, ".claude-plugin", "plugin.json"), Text: encoded(about)}},
		whole{File{Path: filepath.Join(plugin, "hooks", "hooks.json"), Text: events.text()}},
		whole{File{Path: claudeMonitor(at), Text: encoded([]map[string]string{{
			"name": "bells", "description": "mail of parley", "command": "exec " + at.Command("hook", "claude", "bells"),
		}})}},
		whole{File{Path: filepath.Join(plugin, ".mcp.json"), Text: tools.text()}}), nil
}

// claudeServers is the file in which Claude Code keeps servers that are in no plugin.
func (at Places) claudeServers(folder string) string {
	switch {
	case at.Project != "":
		return filepath.Join(at.Project, ".mcp.json")
	case at.Getenv("CLAUDE_CONFIG_DIR") != "":
		return filepath.Join(folder, ".claude.json")
	}
	return filepath.Join(at.Home, ".claude.json")
}

// claudeSettings are the settings of Claude Code that concern parley.
type claudeSettings struct {
	DisableAllHooks         bool            `json:"disableAllHooks"`
	AllowManagedHooksOnly   bool            `json:"allowManagedHooksOnly"`
	EnabledPlugins          map[string]any  `json:"enabledPlugins"`
	StrictKnownMarketplaces json.RawMessage `json:"strictKnownMarketplaces"`
	CrossSessionInbound     string          `json:"crossSessionInbound"`
}

// takesPlugins reports whether the machine's administrator lets plugins be loaded from folders.
func (s claudeSettings) takesPlugins() bool {
	return len(s.StrictKnownMarketplaces) == 0 || strings.Contains(string(s.StrictKnownMarketplaces), `"skills-dir"`)
}

func (at Places) takesPlugins() bool {
	return !slices.ContainsFunc(at.Managed, func(file string) bool {
		var s claudeSettings
		return readJSON(file, &s) == nil && !s.takesPlugins()
	})
}

// readJSON reads what a file of settings says; nothing if there is none.
func readJSON(file string, to any) error {
	data, err := readPlain(file)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	doc, err := splice.ParseJSON(data)
	if err != nil {
		return err
	}
	_, err = doc.Get(to)
	return err
}

// claudeState is what in the settings and the sessions of Claude Code is in parley's way.
func claudeState(at Places) (found []Finding) {
	folder := claudeFolder(at)
	files := append(slices.Clone(at.Managed), filepath.Join(folder, "settings.json"), filepath.Join(at.Home, ".claude", "settings.json"),
		filepath.Join(at.Folder, ".claude", "settings.json"), filepath.Join(at.Folder, ".claude", "settings.local.json"))
	for i, file := range files {
		if slices.Contains(files[:i], file) {
			continue
		}
		managed := slices.Contains(at.Managed, file)
		var s claudeSettings
		if err := readJSON(file, &s); err != nil {
			found = append(found, Finding{fmt.Sprintf("%s cannot be read: %v", file, err), "claude doctor"})
			continue
		}
		edit := "take it out of " + file
		if managed {
			edit = askAdministrator
		}
		if s.DisableAllHooks {
			found = append(found, Finding{file + " switches all hooks off (disableAllHooks), so sessions hear nothing", edit})
		}
		if s.AllowManagedHooksOnly && managed {
			found = append(found, Finding{file + " allows no hooks but its own (allowManagedHooksOnly), so sessions hear nothing", edit})
		}
		if on, said := s.EnabledPlugins[claudePlugin].(bool); said && !on {
			found = append(found, Finding{"the plugin of parley is switched off in " + file, "claude plugin enable " + claudePlugin})
		}
		switch s.CrossSessionInbound {
		case "refuse", "hold":
			found = append(found, Finding{fmt.Sprintf("%s lets no other program wake a session (crossSessionInbound is %q), so parley's monitor alone does, and later", file, s.CrossSessionInbound), edit})
		}
		found = append(found, olderHooks(file)...)
	}
	return append(found, silentSessions(folder)...)
}

// olderHooks are hooks that a person wrote by hand as parley's pages once said. With them, a session
// is shown its mail twice.
func olderHooks(file string) (found []Finding) {
	data, _ := readPlain(file) // what is not there has none
	all, _ := hooksOf(data)    // the same
	if slices.ContainsFunc(all, func(one placed) bool { return strings.Contains(one.Command, "parley inbox") }) {
		found = append(found, Finding{file + " has hooks that call parley inbox, as its pages once said: mail is shown twice", "take them out of " + file})
	}
	return found
}

// silentSessions are sessions that run without the socket by which they can be woken.
func silentSessions(folder string) (found []Finding) {
	files, _ := filepath.Glob(filepath.Join(folder, "sessions", "*.json"))
	for _, file := range files {
		var s struct {
			PID    int    `json:"pid"`
			Socket string `json:"messagingSocketPath"`
		}
		if readJSON(file, &s) != nil || s.PID == 0 {
			continue
		}
		if _, err := process.Find(s.PID); err != nil {
			continue
		}
		if _, err := os.Stat(s.Socket); err != nil {
			found = append(found, Finding{fmt.Sprintf("the session of process %d has no socket, so parley's monitor alone wakes it", s.PID), "start claude anew there"})
		}
	}
	return found
}
