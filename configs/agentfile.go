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
	"strconv"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/protocol"
	"gopkg.in/yaml.v3"
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
	problems = readMapping(root, "", agentFields(&a), nil)
	if len(problems) > 0 {
		return a, problems
	}
	if a.Input == InputText {
		a.Input = ""
	}
	if a.Accepts == AcceptAnyone {
		a.Accepts = ""
	}
	lines := keyLines(root)
	for _, p := range a.problems() {
		p.Line = lines[p.Key]
		problems = append(problems, p)
	}
	return a, problems
}

func agentFields(a *Agent) []field {
	return []field{
		asField(nameSetting("name", &a.Name)),
		asField(wordSetting("door", &a.Door)),
		asField(textSetting("dir", &a.Dir)),
		{key: "tiers", set: func(n *yaml.Node) error { return readTiers(n, &a.Tiers) }},
		asField(durationSetting("timeout", &a.Timeout)),
		asField(numberSetting("attempts", &a.Attempts)),
		asField(wordSetting("rerun", &a.Rerun)),
		asField(wordSetting("input", &a.Input)),
		asField(nameSetting("profile", &a.Profile)),
		asField(textSetting("preset", &a.Preset)),
		asField(textSetting("open", &a.Open)),
		asField(boolSetting("paused", &a.Paused)),
		asField(boolSetting("answers", &a.RunReplies)),
		asField(wordSetting("accepts", &a.Accepts)),
		{key: "wakes_on", set: func(n *yaml.Node) error { return readActs(n, &a.WakesOn) }},
		asField(wordSetting("examiner", &a.Examiner)),
		asField(nameSetting("soul", &a.Soul)),
		asField(textSetting("run_as", &a.RunAs)),
		{key: "env", set: func(n *yaml.Node) error { return readVariables(n, &a.Env) }},
		{key: "limits", set: func(n *yaml.Node) error { return readLimits(n, &a.Limits) }},
		asField(textSetting("wake", &a.Wake)),
		{key: "quiet", set: func(n *yaml.Node) error { return readQuiet(n, &a.Quiet) }},
		asField(valueSetting("takeover_after", &a.TakeoverAfter, ParseTakeover, ShowTakeover)),
		asField(textSetting("dispatch_since", &a.DispatchSince)),
		asField(timeSetting("added", &a.Added)),
	}
}

func readActs(n *yaml.Node, acts *[]protocol.Act) error {
	var names []string
	if err := listSetting("wakes_on", &names).set(n); err != nil {
		return err
	}
	*acts = nil
	for _, name := range names {
		*acts = append(*acts, protocol.Act(name))
	}
	return nil
}

func asField(s setting) field { return field{key: s.key, set: s.set} }

func readTiers(n *yaml.Node, tiers *[]Tier) error {
	elements, err := items(n)
	if err != nil {
		return err
	}
	var problems []Problem
	for i, element := range elements {
		if element.Kind != yaml.MappingNode {
			problems = append(problems, Problem{Line: element.Line, Key: fmt.Sprintf("tiers[%d]", i),
				Text: "should hold the keys name, count and exec"})
			continue
		}
		tier := Tier{Count: 1}
		problems = append(problems, readMapping(element, fmt.Sprintf("tiers[%d].", i), []field{
			asField(textSetting("name", &tier.Name)),
			asField(numberSetting("count", &tier.Count)),
			asField(textSetting("exec", &tier.Exec)),
		}, nil)...)
		*tiers = append(*tiers, tier)
	}
	return asError("", problems)
}

func boolSetting(key string, at *bool) setting {
	return valueSetting(key, at, func(s string) (bool, error) {
		if s != "true" && s != "false" {
			return false, fmt.Errorf("%q is neither true nor false", s)
		}
		return s == "true", nil
	}, strconv.FormatBool)
}

func timeSetting(key string, at *time.Time) setting {
	return valueSetting(key, at, func(s string) (time.Time, error) {
		t, err := time.Parse(time.RFC3339, s)
		if err != nil || t.UTC().Year() < 1 || t.UTC().Year() > 9999 {
			return time.Time{}, fmt.Errorf("%q is not a time such as 2026-05-23T19:01:00Z", s)
		}
		return t.UTC().Truncate(time.Second), nil
	}, func(t time.Time) string { return t.UTC().Format(time.RFC3339) })
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

// agentFile is the form of the file. A field with its default value is left out.
type agentFile struct {
	Name          string      `yaml:"name"`
	Door          string      `yaml:"door"`
	Dir           string      `yaml:"dir,omitempty"`
	Preset        string      `yaml:"preset,omitempty"`
	Input         string      `yaml:"input,omitempty"`
	Profile       string      `yaml:"profile,omitempty"`
	Tiers         []tierFile  `yaml:"tiers,omitempty"`
	Open          commandLine `yaml:"open,omitempty"`
	Timeout       string      `yaml:"timeout,omitempty"`
	Attempts      int         `yaml:"attempts,omitempty"`
	Rerun         string      `yaml:"rerun,omitempty"`
	Paused        bool        `yaml:"paused,omitempty"`
	Answers       bool        `yaml:"answers,omitempty"`
	Accepts       string      `yaml:"accepts,omitempty"`
	WakesOn       []string    `yaml:"wakes_on,omitempty,flow"`
	Examiner      string      `yaml:"examiner,omitempty"`
	Soul          string      `yaml:"soul,omitempty"`
	RunAs         string      `yaml:"run_as,omitempty"`
	Env           []string    `yaml:"env,omitempty,flow"`
	Limits        *yaml.Node  `yaml:"limits,omitempty"`
	Wake          commandLine `yaml:"wake,omitempty"`
	Quiet         []string    `yaml:"quiet,omitempty,flow"`
	TakeoverAfter string      `yaml:"takeover_after,omitempty"`
	DispatchSince string      `yaml:"dispatch_since,omitempty"`
	Added         string      `yaml:"added,omitempty"`
}

type tierFile struct {
	Name  string      `yaml:"name"`
	Count int         `yaml:"count"`
	Exec  commandLine `yaml:"exec"`
}

// commandLine is a command line that is quoted if it has several lines: as a block, the encoder
// would lose line ends at its beginning.
type commandLine string

// MarshalYAML implements yaml.Marshaler.
func (c commandLine) MarshalYAML() (any, error) {
	if strings.Contains(string(c), "\n") {
		return &yaml.Node{Kind: yaml.ScalarNode, Style: yaml.DoubleQuotedStyle, Value: string(c)}, nil
	}
	return string(c), nil
}

func renderAgent(a Agent) ([]byte, error) {
	f := agentFile{
		Name: a.Name.String(), Door: a.Door, Dir: a.Dir, Answers: a.RunReplies, DispatchSince: a.DispatchSince,
		Preset: a.Preset, Profile: a.Profile.String(), Open: commandLine(a.Open), Paused: a.Paused, RunAs: a.RunAs, Attempts: a.Attempts, Rerun: a.Rerun, Examiner: a.Examiner, Soul: a.Soul.String(),
		Env: a.Env, Limits: a.Limits.yaml(), Wake: commandLine(a.Wake), Quiet: a.Quiet.Texts(),
	}
	if a.Input != InputText {
		f.Input = a.Input
	}
	if a.Accepts != AcceptAnyone {
		f.Accepts = a.Accepts
	}
	for _, act := range a.WakesOn {
		f.WakesOn = append(f.WakesOn, string(act))
	}
	for _, t := range a.Tiers {
		f.Tiers = append(f.Tiers, tierFile{Name: t.Name, Count: t.Count, Exec: commandLine(t.Exec)})
	}
	if a.Timeout != 0 {
		f.Timeout = span.Exact(a.Timeout)
	}
	if a.TakeoverAfter != 0 {
		f.TakeoverAfter = ShowTakeover(a.TakeoverAfter)
	}
	if !a.Added.IsZero() {
		f.Added = a.Added.UTC().Format(time.RFC3339)
	}
	var out bytes.Buffer
	out.WriteString("# Written by parley: see  parley agent --help\n")
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(f), enc.Close()); err != nil {
		return nil, err
	}
	if out.Len() > maxFileBytes {
		return nil, fmt.Errorf("it would be larger than %s", showSize(maxFileBytes))
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
