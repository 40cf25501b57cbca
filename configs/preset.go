package configs

import (
	_ "embed" // presets.yaml
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"
)

// Preset is what is publicly documented about an agent program: how it is run for one question, and
// how a person opens it. "parley agent add --preset" copies it into the agent's own file, where the
// operator can change it.
type Preset struct {
	Name    string
	Title   string        // what the program is called
	Program string        // the program that must be in the node's PATH
	Exec    string        // command line that answers one message
	Input   string        // InputText or InputPrompt
	Open    string        // command line of the interactive program; "" if it has none
	Timeout time.Duration // how long an answer may take
	Resume  string        // command line that continues the last session in the same folder; "" if it cannot
	Env     Variables     // the variables of the node's environment that it gets
	Login   []string      // files below the user's home without which the user is not signed in
	Install string        // how to install it, in one line
	Note    string        // what the operator should know
	Source  string        // the documentation against which it was checked
}

//go:embed presets.yaml
var presetsFile []byte

// Presets are the known agent programs, in the order of presets.yaml, which is part of the program
// and is read once. An error is a fault of that file.
func Presets() ([]Preset, error) { return readPresets() }

var readPresets = sync.OnceValues(func() ([]Preset, error) {
	root, problems := document(presetsFile)
	if len(problems) > 0 || root == nil {
		return nil, asError("presets.yaml", problems)
	}
	var presets []Preset
	var all Variables
	for i := 0; i+1 < len(root.Content); i += 2 {
		p, more := readPreset(root.Content[i].Value, root.Content[i+1])
		problems = append(problems, more...)
		if p.Name == "all" {
			all = p.Env
			continue
		}
		p.Env = slices.Concat(p.Env, all)
		presets = append(presets, p)
	}
	return presets, asError("presets.yaml", problems)
})

func readPreset(name string, n *yaml.Node) (Preset, []Problem) {
	p := Preset{Name: name, Input: InputPrompt}
	problems := readMapping(n, name+".", []Setting{
		textSetting("title", &p.Title),
		textSetting("program", &p.Program),
		textSetting("exec", &p.Exec),
		wordSetting("input", &p.Input),
		textSetting("open", &p.Open),
		durationSetting("timeout", &p.Timeout, 0, 0, maxTimeout),
		textSetting("resume", &p.Resume),
		variablesSetting("env", &p.Env),
		listSetting("login", &p.Login, asIs[string], toText[string]),
		textSetting("install", &p.Install),
		textSetting("note", &p.Note),
		textSetting("source", &p.Source),
	}, nil)
	return p, problems
}

// FindPreset is the preset with that name. The error names the most similar one.
func FindPreset(name string) (Preset, error) {
	presets, err := Presets()
	if err != nil {
		return Preset{}, err
	}
	var names []string
	for _, p := range presets {
		if p.Name == name {
			return p, nil
		}
		names = append(names, p.Name)
	}
	if near := Nearest(name, names); near != "" {
		return Preset{}, fmt.Errorf("there is no preset %q: did you mean %s?", name, near)
	}
	return Preset{}, fmt.Errorf("there is no preset %q: there are %s", name, strings.Join(names, ", "))
}
