package install

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/splice"
)

// The first versions of Codex that can do a thing.
var (
	codexHooks = Version{0, 128, 0}
	codexQueue = Version{0, 148, 0}
)

func codex() Program {
	return Program{
		Name: "codex", Title: "Codex CLI", called: true, parts: codexParts, state: codexState, folder: codexFolder,
		Needs: []Need{
			{What: "hears mail while it works", Since: codexHooks, Must: true},
			{What: "wakes when idle", Since: codexQueue},
		},
	}
}

func codexFolder(at Places) string { return at.config("CODEX_HOME", ".codex") }

func codexParts(at Places, _ Version) ([]part, error) {
	parts, err := at.skills(at.below(".agents", "skills"))
	folder := codexFolder(at)
	events := at.codexHooks(folder)
	// The table comes first: what of it goes is found by the hooks.
	return append(parts, table{file: filepath.Join(folder, "config.toml"), argv: at.Argv, hooks: events}, events), err
}

func (at Places) codexHooks(folder string) hooks {
	return hooks{
		file: filepath.Join(folder, "hooks.json"), program: "codex", command: at.Command("hook", "codex"), seconds: 3,
		events: []string{"SessionStart", "UserPromptSubmit", "PostToolUse", "PermissionRequest", "PreCompact", "Stop", "Interrupt", "SessionEnd"},
	}
}

// codexState is what in the settings of Codex is in parley's way.
func codexState(at Places) (found []Finding) {
	folder := codexFolder(at)
	file := filepath.Join(folder, "config.toml")
	doc, err := readTOML(file)
	if err != nil {
		return []Finding{{fmt.Sprintf("%s cannot be read: %v", file, err), "codex doctor"}}
	}
	if at.Project != "" {
		if own, err := readTOML(filepath.Join(at.Home, ".codex", "config.toml")); err == nil {
			doc = own // the person's file says what is trusted
		}
	}
	if all, err := readTOML(at.Required); err == nil && all.Value("allow_managed_hooks_only") == "true" {
		found = append(found, Finding{at.Required + " allows no hooks but its own (allow_managed_hooks_only), so sessions hear nothing", askAdministrator})
	}
	for _, name := range []string{"hooks", "codex_hooks"} {
		if doc.Value("features", name) == "false" {
			found = append(found, Finding{fmt.Sprintf("%s switches hooks off (features.%s = false), so sessions hear nothing", file, name), "take it out of " + file})
		}
	}
	if doc.Value("mcp_servers", "parley", "enabled") == "false" {
		found = append(found, Finding{file + " switches parley's tools off (enabled = false)", "take it out of " + file})
	}
	return append(found, at.untrusted(doc, folder)...)
}

// readTOML reads a file; one that says nothing if there is none.
func readTOML(file string) (*splice.TOML, error) {
	data, err := readPlain(file)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return splice.ParseTOML(data)
}

// untrusted says which hooks of parley's Codex does not run: it runs those that a person has trusted
// as they stand.
func (at Places) untrusted(doc *splice.TOML, folder string) []Finding {
	own := at.codexHooks(folder)
	all, err := own.stands()
	if err != nil {
		return []Finding{{fmt.Sprintf("%s cannot be read: %v", own.file, err), "codex doctor"}}
	}
	asked, off := 0, 0
	for _, one := range all {
		switch {
		case doc.Value("hooks", "state", one.key, "enabled") == "false":
			off++
		case splice.Text(doc.Value("hooks", "state", one.key, "trusted_hash")) != trustHash(one.event, one.handler):
			asked++
		}
	}
	var found []Finding
	if asked > 0 {
		found = append(found, Finding{fmt.Sprintf("Codex does not run %d of parley's hooks: you have not trusted them as they are now", asked), "start codex, then type /hooks and trust them"})
	}
	if off > 0 {
		found = append(found, Finding{fmt.Sprintf("%d of parley's hooks are switched off in Codex", off), "start codex, then type /hooks and switch them on"})
	}
	return found
}

// stands are parley's hooks as they stand in the file, each with the name that Codex has for its
// place.
func (h hooks) stands() (own []keyed, err error) {
	data, err := readPlain(h.file)
	if err != nil {
		return nil, nil // they are not installed
	}
	path, err := filepath.EvalSymlinks(h.file)
	if err != nil {
		return nil, err
	}
	all, err := hooksOf(data)
	for _, one := range all {
		if h.ours(one.handler) {
			own = append(own, keyed{one, fmt.Sprintf("%s:%s:%d:%d", path, snake(one.event), one.group, one.index)})
		}
	}
	return own, err
}

// keyed is a hook with the name that Codex has for its place.
type keyed struct {
	placed
	key string
}

// trusted are the hooks of parley's that the person trusts as they stand. What else Codex keeps of
// hooks may be about those of others.
func (h hooks) trusted(doc *splice.TOML) []keyed {
	own, _ := h.stands() // what nobody can read is trusted by nobody
	return slices.DeleteFunc(own, func(one keyed) bool {
		return splice.Text(doc.Value("hooks", "state", one.key, "trusted_hash")) != trustHash(one.event, one.handler)
	})
}

var inner = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// snake is the name of an event as Codex writes it into keys.
func snake(event string) string { return strings.ToLower(inner.ReplaceAllString(event, "${1}_$2")) }

// trustHash is how Codex names a hook that a person has trusted.
func trustHash(event string, one handler) string {
	text := compact(map[string]any{
		"event_name": snake(event),
		"hooks":      []any{map[string]any{"async": false, "command": one.Command, "timeout": one.Timeout, "type": one.Type}},
	})
	return fmt.Sprintf("sha256:%x", sha256.Sum256(text))
}
