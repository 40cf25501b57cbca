package install

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/splice"
)

// part is what parley has in one file.
type part interface {
	path() string
	kind() string
	// add puts parley's part into a file that has none of it. It returns what it put in; nil if the
	// file is parley's as a whole.
	add(base []byte) (after []byte, added []string, err error)
	// has reports whether parley's part is in a file as it is to be, wherever it stands. What a
	// person has changed beside the command stays.
	has(data []byte) bool
	// clean takes parley's part out, wherever it stands now. What is made empty by that goes too,
	// unless it was empty in the file as it was before parley came; nil: there was no file.
	clean(data, before []byte) ([]byte, error)
	// tokens is a file without the white space that means nothing.
	tokens(data []byte) string
	// paste is what a person would have to write where parley cannot.
	paste() string
}

// The kinds of parts, as the record of what was written names them.
const (
	kindFile   = "file"
	kindHooks  = "hooks"
	kindServer = "server"
	kindTable  = "table"
)

// partOf is a part of a kind, to be taken out.
func partOf(kind, path, program string) part {
	switch kind {
	case kindHooks:
		return hooks{file: path, program: program}
	case kindServer:
		return server{file: path}
	case kindTable:
		return table{file: path}
	}
	return whole{File{Path: path}}
}

// whole is a file of parley's.
type whole struct{ File }

// skills are the files of instructions as parts.
func (at Places) skills(folder string) ([]part, error) {
	files, err := at.Skills(folder)
	return each.Of(files, func(f File) part { return whole{f} }), err
}

func (w whole) path() string { return w.Path }
func (w whole) kind() string { return kindFile }
func (w whole) paste() string {
	return string(w.Text)
}
func (w whole) tokens(data []byte) string { return string(data) }

func (w whole) has(data []byte) bool { return data != nil && bytes.Equal(data, w.Text) }

func (w whole) add(base []byte) ([]byte, []string, error) {
	if base != nil && !bytes.Equal(base, w.Text) && (w.Ours == nil || !w.Ours(base)) {
		return nil, nil, fmt.Errorf("a file that parley did not write is there")
	}
	return w.Text, nil, nil
}

func (w whole) clean(data, before []byte) ([]byte, error) {
	if bytes.Equal(data, w.Text) || w.Ours != nil && w.Ours(data) {
		return before, nil
	}
	return data, nil
}

// hooks are entries in a file of hooks, in the form that Claude Code and Codex share.
type hooks struct {
	file, program, command string
	events                 []string
	seconds                int // how long the program waits for a hook
}

// handler is one hook.
type handler struct {
	Type    string `json:"type"`
	Command string `json:"command"`
	Timeout int    `json:"timeout,omitempty"`
}

// group is a list of hooks for the same cases of an event.
type group struct {
	Hooks []handler `json:"hooks"`
}

func (h hooks) path() string { return h.file }
func (h hooks) kind() string { return kindHooks }

func (h hooks) handlers() []group {
	return []group{{[]handler{{Type: "command", Command: h.command, Timeout: h.seconds}}}}
}

// text is a file with these hooks alone.
func (h hooks) text() []byte {
	text, _, _ := h.add(nil) // an empty file takes them
	return text
}

// encoded is a value as JSON over several lines. It cannot fail for the values here.
func encoded(value any) []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(value)
	return out.Bytes()
}

// compact is a value as JSON without white space.
func compact(value any) []byte {
	var out bytes.Buffer
	_ = json.Compact(&out, encoded(value)) // it is JSON
	return out.Bytes()
}

// inLine is a value as JSON in one line, with spaces for people.
func inLine(value any) string {
	var lines bytes.Buffer
	_ = json.Indent(&lines, compact(value), "", "") // it is JSON
	return strings.NewReplacer(",\n", ", ", "\n", "").Replace(lines.String())
}

func (h hooks) paste() string { return string(h.text()) }

func (h hooks) tokens(data []byte) string { return jsonTokens(data) }

func jsonTokens(data []byte) string {
	doc, err := splice.ParseJSON(data)
	if err != nil {
		return string(data)
	}
	return doc.Tokens()
}

func (h hooks) has(data []byte) bool {
	all, err := hooksOf(data)
	count := map[string]int{}
	for _, one := range all {
		if !h.ours(one.handler) {
			continue
		}
		count[one.event]++
		if one.Command != h.command || count[one.event] > 1 {
			return false
		}
	}
	return err == nil && len(count) == len(h.events) && !slices.ContainsFunc(h.events, func(event string) bool { return count[event] == 0 })
}

func (h hooks) add(base []byte) ([]byte, []string, error) {
	doc, err := splice.ParseJSON(base)
	if err != nil {
		return nil, nil, err
	}
	for _, event := range h.events {
		if err := doc.Append(inLine(h.handlers()[0]), "hooks", event); err != nil {
			return nil, nil, err
		}
	}
	return doc.Bytes(), doc.Added(), nil
}

// placed is a hook of a file, with where it stands.
type placed struct {
	event        string
	group, index int
	handler
}

// hooksOf are all hooks of a file that have the usual form, in the order of events, groups and
// hooks. What has another form no program reads.
func hooksOf(data []byte) (all []placed, err error) {
	doc, err := splice.ParseJSON(data)
	if err != nil {
		return nil, err
	}
	var raw map[string]json.RawMessage
	if _, err := doc.Get(&raw, "hooks"); err != nil {
		return nil, err
	}
	for _, event := range slices.Sorted(maps.Keys(raw)) {
		var groups []json.RawMessage
		_ = json.Unmarshal(raw[event], &groups)
		for i, one := range groups {
			var g group
			_ = json.Unmarshal(one, &g)
			for j, h := range g.Hooks {
				all = append(all, placed{event, i, j, h})
			}
		}
	}
	return all, nil
}

// calls finds the commands that are hooks of parley's.
var calls = regexp.MustCompile(`parley[^\s/\\]*(\s.*)?\shook\s+([a-z]+)`)

func (h hooks) ours(one handler) bool {
	words := calls.FindStringSubmatch(one.Command)
	return words != nil && words[2] == h.program
}

func (h hooks) clean(data, before []byte) ([]byte, error) {
	doc, had, err := both(splice.ParseJSON, data, before)
	if err != nil {
		return nil, err
	}
	all, err := hooksOf(data)
	if err != nil {
		return nil, err
	}
	took := false
	for _, one := range slices.Backward(all) {
		if !h.ours(one.handler) {
			continue
		}
		took = true
		left, err := doc.Remove(one.index, "hooks", one.event, strconv.Itoa(one.group), "hooks")
		if err == nil && left == 0 {
			left, err = doc.Remove(one.group, "hooks", one.event)
			if err == nil && left == 0 {
				err = unsetNew(doc, had, "hooks", one.event)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	var rest map[string]json.RawMessage
	if found, err := doc.Get(&rest, "hooks"); took && found && err == nil && len(rest) == 0 {
		if err := unsetNew(doc, had, "hooks"); err != nil {
			return nil, err
		}
	}
	return unlessEmpty(doc, before, took), nil
}

// unsetNew takes out what was not there before.
func unsetNew(doc, before *splice.JSON, path ...string) error {
	var there json.RawMessage
	if had, err := before.Get(&there, path...); had || err != nil {
		return err
	}
	return doc.Unset(path...)
}

// unlessEmpty is a file of which something was taken out; nil if nothing is left and there was no
// file before.
func unlessEmpty(doc *splice.JSON, before []byte, took bool) []byte {
	if took && before == nil && doc.Tokens() == "{}" {
		return nil
	}
	return doc.Bytes()
}

// server is the entry of parley's tools among the servers of a file.
type server struct {
	file string
	argv []string
	rest map[string]any // further fields
}

func (s server) path() string { return s.file }
func (s server) kind() string { return kindServer }

func (s server) entry() map[string]any {
	all := map[string]any{"command": s.argv[0], "args": slices.Concat(s.argv[1:], []string{"mcp"})}
	maps.Copy(all, s.rest)
	return all
}

// text is a file with this server alone.
func (s server) text() []byte {
	return encoded(map[string]any{"mcpServers": map[string]any{"parley": s.entry()}})
}

func (s server) paste() string { return string(s.text()) }

func (s server) tokens(data []byte) string { return jsonTokens(data) }

func (s server) has(data []byte) bool {
	there, err := s.there(data)
	return err == nil && slices.Equal(append([]string{there.Command}, there.Args...), slices.Concat(s.argv, []string{"mcp"}))
}

// called is how a server is started.
type called struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// there is the server that a file calls parley.
func (s server) there(data []byte) (there called, err error) {
	doc, err := splice.ParseJSON(data)
	if err == nil {
		_, err = doc.Get(&there, "mcpServers", "parley")
	}
	return there, err
}

func (s server) add(base []byte) ([]byte, []string, error) {
	doc, err := splice.ParseJSON(base)
	if err != nil {
		return nil, nil, err
	}
	var there json.RawMessage
	switch found, err := doc.Get(&there, "mcpServers", "parley"); {
	case err != nil:
		return nil, nil, err
	case found:
		return nil, nil, fmt.Errorf(`a server that is called "parley" and that parley did not write is there`)
	}
	if err := doc.Set(inLine(s.entry()), "mcpServers", "parley"); err != nil {
		return nil, nil, err
	}
	return doc.Bytes(), doc.Added(), nil
}

func (s server) clean(data, before []byte) ([]byte, error) {
	doc, had, err := both(splice.ParseJSON, data, before)
	if err != nil {
		return nil, err
	}
	if there, err := s.there(data); err != nil || !isServer(there.Command, there.Args) {
		return data, err
	}
	if err := doc.Unset("mcpServers", "parley"); err != nil {
		return nil, err
	}
	var rest map[string]json.RawMessage
	if _, err := doc.Get(&rest, "mcpServers"); err == nil && len(rest) == 0 {
		if err := unsetNew(doc, had, "mcpServers"); err != nil {
			return nil, err
		}
	}
	return unlessEmpty(doc, before, true), nil
}

// both reads a file as it is, and as it was.
func both[D any](parse func([]byte) (D, error), data, before []byte) (doc, had D, err error) {
	if doc, err = parse(data); err == nil {
		had, err = parse(before)
	}
	return doc, had, err
}

// isServer reports whether a command is parley mcp.
func isServer(command string, args []string) bool {
	return strings.HasPrefix(filepath.Base(filepath.ToSlash(command)), "parley") && len(args) > 0 && args[len(args)-1] == "mcp"
}

// table is the entry of parley's tools in config.toml, where Codex also keeps which hooks a person
// trusts.
type table struct {
	file  string
	argv  []string
	hooks hooks
}

// tableNote stands above it.
const tableNote = "# Written by parley install codex. parley install codex --undo takes it out again."

func (t table) path() string { return t.file }
func (t table) kind() string { return kindTable }

func (t table) paste() string {
	args := each.Of(slices.Concat(t.argv[1:], []string{"mcp"}), quoted)
	return fmt.Sprintf(`%s
[mcp_servers.parley]
command = %s
args = [%s]
env_vars = ["PARLEY_AGENT", "PARLEY_HOME", "PARLEY_SOCKET", "PARLEY_TOKEN"]
`, tableNote, quoted(t.argv[0]), strings.Join(args, ", "))
}

// quoted is a text as TOML and JSON write it.
func quoted(text string) string { return strings.TrimSpace(string(encoded(text))) }

func (t table) tokens(data []byte) string {
	doc, err := splice.ParseTOML(data)
	if err != nil {
		return string(data)
	}
	return doc.Tokens()
}

func (t table) has(data []byte) bool {
	doc, err := splice.ParseTOML(data)
	own, _ := splice.ParseTOML([]byte(t.paste())) // it is TOML
	return err == nil && !slices.ContainsFunc([]string{"command", "args"}, func(name string) bool {
		return doc.Value("mcp_servers", "parley", name) != own.Value("mcp_servers", "parley", name)
	})
}

func (t table) add(base []byte) ([]byte, []string, error) {
	doc, err := splice.ParseTOML(base)
	if err != nil {
		return nil, nil, err
	}
	if line := doc.Line("mcp_servers", "parley"); line > 0 {
		return nil, nil, fmt.Errorf("line %d has servers that parley did not write, in a form that cannot be added to", line)
	}
	if err := doc.Append(t.paste()); err != nil {
		return nil, nil, err
	}
	return doc.Bytes(), doc.Added(), nil
}

func (t table) clean(data, before []byte) ([]byte, error) {
	doc, had, err := both(splice.ParseTOML, data, before)
	if err != nil {
		return nil, err
	}
	args := doc.Value("mcp_servers", "parley", "args")
	if isServer(splice.Text(doc.Value("mcp_servers", "parley", "command")), []string{strings.Trim(lastOf(args), `"'`)}) {
		if err := doc.Remove(tableNote, "mcp_servers", "parley"); err != nil {
			return nil, err
		}
	}
	for _, one := range t.hooks.trusted(doc) {
		if err := doc.Remove("", "hooks", "state", one.key); err != nil {
			return nil, err
		}
	}
	if len(doc.Below("hooks", "state")) == 0 && had.Line("hooks", "state") == 0 {
		if err := doc.Remove("", "hooks", "state"); err != nil {
			return nil, err
		}
	}
	if before == nil && doc.Tokens() == "" && !bytes.Equal(doc.Bytes(), data) {
		return nil, nil
	}
	return doc.Bytes(), nil
}

// lastOf is the last element of a list of texts.
func lastOf(list string) string {
	list = strings.TrimRight(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(list), "]")), ", \t\r\n")
	return strings.TrimSpace(list[strings.LastIndexAny(list, ",[")+1:])
}
