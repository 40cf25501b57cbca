package agents

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// Added makes an agent from a request.
func Added(r control.AddAgentRequest) (configs.Agent, error) {
	if slices.Contains([]string{"organize", "invite", "who", "tell", "leave"}, r.Name) {
		return configs.Agent{}, control.Errorf(control.KindUsage, "choose another name", "no agent can be called %q: parley work-with %s would mean the agent or the verb", r.Name, r.Name)
	}
	usage := func(hint, format string, args ...any) (configs.Agent, error) {
		return configs.Agent{}, control.Errorf(control.KindUsage, hint, format, args...)
	}
	name, err := protocol.ParseName(r.Name)
	if err == nil {
		if err := protocol.CheckFileName(r.Name); err != nil {
			return usage("choose another name", "cannot add the agent: %v", err)
		}
	}
	if err != nil {
		hint := ""
		if near := homes.NameFrom(r.Name, ""); near != "" {
			hint = "write it as: " + near
		}
		return usage(hint, "cannot add the agent: %v", err)
	}
	var preset configs.Preset
	if r.Preset != "" {
		if preset, err = configs.FindPreset(r.Preset); err != nil {
			return usage("see: parley agent presets", "cannot add the agent %s: %v", name, err)
		}
	}
	command := cmp.Or(r.Exec, preset.Exec)
	r.Inbox = r.Inbox || slices.ContainsFunc(r.Settings["session"], func(program string) bool { return program != "" })
	if r.Inbox == (command != "") {
		return usage("parley agent add "+r.Name+" --exec 'COMMAND', or --inbox for an agent that asks for its mail itself",
			"cannot add the agent %s: it needs a command or the inbox, one of the two", name)
	}
	a := configs.Agent{Name: name, Door: configs.DoorInbox, Preset: r.Preset, Open: preset.Open, Input: preset.Input, Timeout: preset.Timeout}
	if !r.Inbox {
		a.Door, a.Tiers = configs.DoorExec, []configs.Tier{{Name: configs.DefaultTier, Count: 1, Exec: command}}
	}
	if err := take(&a, r.Settings, func(s configs.Setting) bool { return s.InAdd }); err != nil {
		return usage("", "cannot add the agent %s: %v", name, err)
	}
	if !slices.Equal(r.Settings["env"], []string{""}) && a.RunAs == "" { // another user has keys and folders of their own
		a.Env = append(a.Env, preset.Env...)
	}
	if err := checkAgent(a); err != nil {
		return usage("", "cannot add the agent %s: %v", name, err)
	}
	return a, nil
}

// take sets what was given of the settings that may be.
func take(a *configs.Agent, given control.Given, may func(configs.Setting) bool) error {
	left := maps.Clone(given)
	for _, s := range configs.AgentSettings(a) {
		texts, is := left[s.Name]
		if !is || !may(s) {
			continue
		}
		if err := s.Take(texts); err != nil {
			return err
		}
		delete(left, s.Name)
	}
	for name := range left {
		return fmt.Errorf("there is no setting %q", name)
	}
	return nil
}

// checkAgent says why an agent could not be served like this.
func checkAgent(a configs.Agent) error {
	if err := checkCommands(a); err != nil {
		return err
	}
	info, err := os.Stat(a.Dir)
	if a.Dir != "" && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no folder %s", a.Dir)
	}
	if a.Dir != "" && (err != nil || !info.IsDir() || !filepath.IsAbs(a.Dir)) {
		return fmt.Errorf("%s is not a folder that the node can enter", a.Dir)
	}
	bad := new(configs.Error)
	if err := a.Validate(); !errors.As(err, &bad) {
		return err
	}
	return errors.New(strings.Join(each.Of(bad.Problems, configs.Problem.String), "; ")) // the caller says what cannot be done
}

func checkCommands(a configs.Agent) error {
	for _, t := range a.Tiers {
		argv, err := door.SplitCommand(t.Exec)
		if err == nil && a.Input == configs.InputPrompt {
			err = door.CheckPlaceholders(argv)
		}
		if err != nil {
			return err
		}
	}
	if a.Wake != "" {
		if _, err := door.SplitCommand(a.Wake); err != nil {
			return err
		}
	}
	if a.Open == "" {
		return nil
	}
	_, err := OpenArgv(a.Open)
	return err
}

// Changed is an agent with the changes of a request. It returns an error only for what is wrong
// with the agent itself: the caller checks what else the node knows.
func Changed(a configs.Agent, r control.SetAgentRequest) (configs.Agent, error) {
	usage := func(hint, format string, args ...any) (configs.Agent, error) {
		return configs.Agent{}, control.Errorf(control.KindUsage, hint, "cannot change the agent "+a.Name.String()+": "+format, args...)
	}
	given := func(name string) bool { return len(r.Settings[name]) > 0 }
	doors := slices.DeleteFunc([]string{"exec", "tier", "inbox"}, func(door string) bool { return !given(door) })
	switch {
	case len(doors) > 1:
		return usage("", "it is given one of a command, tiers and the inbox")
	case given("exec") && len(a.Tiers) > 1:
		return usage("name them all: parley agent set "+a.Name.String()+" --tier 'NAME*COUNT=CMD' --tier …", "it has %d tiers, each with a command", len(a.Tiers))
	}
	if err := take(&a, r.Settings, func(s configs.Setting) bool { return s.InSet }); err != nil {
		return usage("", "%v", err)
	}
	for _, s := range configs.AgentSettings(&a) {
		if len(doors) > 0 && !given(s.Name) {
			s.Reset() // behind the other door it may count no more
		}
	}
	if err := checkAgent(a); err != nil {
		return usage("", "%v", err)
	}
	return a, nil
}

// OpenArgv splits the command line of an interactive program. The context for the program contains
// what others wrote. So it must not stand where it would become part of a script.
func OpenArgv(line string) ([]string, error) {
	argv, err := door.SplitCommand(line)
	if err != nil {
		return nil, err
	}
	checked := func(word string) string {
		return strings.ReplaceAll(word, configs.PlaceholderContext, door.PromptPlaceholder)
	}
	return argv, door.CheckPlaceholders(each.Of(argv, checked))
}
