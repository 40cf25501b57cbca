package configs

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/size"
	"github.com/parleyfleet/parley/protocol"
)

const (
	agentExt   = ".yaml"
	removedDir = "removed"
	stampForm  = "20060102T150405.000Z"
)

// ReadAgents reads the agents' files of a folder, sorted by name. A file must be called after the
// agent in it. If files are wrong, it returns the agents of the other files, and an error that
// joins one *Error for each wrong file. A folder that does not exist has no agents.
func ReadAgents(dir string) ([]Agent, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the agents: %w", err)
	}
	var agents []Agent
	var errs []error
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() || strings.HasPrefix(name, ".") {
			continue
		}
		switch filepath.Ext(name) {
		case agentExt:
			a, err := readAgent(filepath.Join(dir, name))
			if err != nil {
				errs = append(errs, err)
				continue
			}
			agents = append(agents, a)
		case ".yml":
			errs = append(errs, &Error{File: filepath.Join(dir, name), Problems: []Problem{{Text: "the file of an agent ends in " + agentExt}}})
		}
	}
	slices.SortFunc(agents, func(a, b Agent) int { return cmp.Compare(a.Name, b.Name) })
	return agents, errors.Join(errs...)
}

func readAgent(path string) (Agent, error) {
	data, err := readCapped(path)
	if err != nil {
		return Agent{}, fmt.Errorf("cannot read %s: %w", path, err)
	}
	a, problems := parseAgent(data)
	want := strings.TrimSuffix(filepath.Base(path), agentExt)
	if len(problems) == 0 && a.Name.String() != want {
		problems = append(problems, Problem{Key: "name", Text: fmt.Sprintf("is %q, but the file is called %s%s", a.Name, want, agentExt)})
	}
	if err := asError(path, problems); err != nil {
		return Agent{}, err
	}
	return a, nil
}

// parseAgent reads the text of an agent's file and checks it.
func parseAgent(data []byte) (Agent, []Problem) {
	var a Agent
	root, problems := document(data)
	if root == nil {
		if len(problems) == 0 {
			problems = []Problem{{Text: "it is empty"}}
		}
		return a, problems
	}
	problems = readMapping(root, "", AgentSettings(&a), nil)
	if len(problems) > 0 {
		return a, problems
	}
	lines := keyLines(root)
	for _, p := range a.problems() {
		p.Line = lines[p.Key]
		problems = append(problems, p)
	}
	return a, problems
}

// WriteAgent writes the agent's file into `dir`. It replaces the file that is there, whose comments
// stay. After a crash, either the old file or the new one is there, complete.
func WriteAgent(dir string, a Agent) error {
	if err := a.Validate(); err != nil {
		return fmt.Errorf("cannot write the agent %s: %w", a.Name, err)
	}
	file := filepath.Join(dir, a.Name.String()+agentExt)
	data, err := renderAgent(a)
	if err == nil {
		if old, readErr := readCapped(file); readErr == nil {
			if edited, ok := editedAgent(old, data); ok {
				data = edited
			}
		}
		err = writeAtomic(file, data)
	}
	if err != nil {
		return fmt.Errorf("cannot write the agent %s: %w", a.Name, err)
	}
	return nil
}

// renderAgent is the text of the agent's file. A setting that is not set is left out.
func renderAgent(a Agent) ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("# Written by parley: see  parley agent --help\n")
	for _, s := range AgentSettings(&a) {
		if s.Key != "" && !s.unset() {
			value := s.yaml()
			if !strings.HasPrefix(value, "\n") {
				value = " " + value
			}
			fmt.Fprintf(&out, "%s:%s\n", s.Key, value)
		}
	}
	if out.Len() > maxFileBytes {
		return nil, fmt.Errorf("it would be larger than %s", size.Exact(maxFileBytes))
	}
	return out.Bytes(), nil
}

// RemoveAgent moves the agent's file to removed/NAME-<UTC time>.yaml below dir; nothing is deleted.
// The error matches fs.ErrNotExist if there is no such agent.
func RemoveAgent(dir string, name protocol.Name, now time.Time) error {
	from := filepath.Join(dir, name.String()+agentExt)
	if _, err := os.Lstat(from); err != nil {
		return fmt.Errorf("cannot remove the agent %s: %w", name, err)
	}
	removed := filepath.Join(dir, removedDir)
	if err := os.MkdirAll(removed, privateDir); err != nil {
		return fmt.Errorf("cannot remove the agent %s: %w", name, err)
	}
	stamp := now.UTC().Format(stampForm)
	if err := moveToNew(from, filepath.Join(removed, name.String()+"-"+stamp+agentExt)); err != nil {
		return fmt.Errorf("cannot remove the agent %s: %w", name, err)
	}
	return nil
}
