package agents

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// defaultTier is the tier of an agent that was added with one command.
const defaultTier = "default"

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
	a := configs.Agent{Name: name, Door: configs.DoorExec, Dir: r.Dir, RunAs: r.RunAs, Preset: r.Preset, Profile: protocol.Name(r.Profile), Env: r.Env}
	var preset configs.Preset
	if r.Preset != "" {
		if preset, err = configs.FindPreset(r.Preset); err != nil {
			return usage("see: parley agent presets", "cannot add the agent %s: %v", name, err)
		}
	}
	switch {
	case slices.Equal(r.Env, []string{""}):
		a.Env = nil // all of the node's environment
	case !r.Inbox && r.RunAs == "": // another user has keys and folders of their own
		a.Env = append(a.Env, preset.Env...)
	}
	command := cmp.Or(r.Exec, preset.Exec)
	if r.Inbox == (command != "") {
		return usage("parley agent add "+r.Name+" --exec 'COMMAND', or --inbox for an agent that asks for its mail itself",
			"cannot add the agent %s: it needs a command or the inbox, one of the two", name)
	}
	a.Open, a.Input = cmp.Or(r.Open, preset.Open), cmp.Or(r.Input, preset.Input)
	if r.Inbox {
		a.Door, a.Wake, a.Timeout = configs.DoorInbox, r.Wake, r.Timeout
	} else {
		a.Wake = r.Wake // if it has no use, that is said together with everything else that is wrong
		a.Tiers = []configs.Tier{{Name: defaultTier, Count: 1, Exec: command}}
		a.Timeout = cmp.Or(r.Timeout, preset.Timeout)
		a.Input = cmp.Or(a.Input, configs.InputText)
	}
	a.Accepts, a.WakesOn = r.Accepts, actsOf(r.WakesOn)
	a.Attempts, a.Rerun, a.Examiner, a.Soul = r.Attempts, r.Rerun, r.Examiner, protocol.Name(r.Soul)
	if a.Quiet, err = configs.ParseQuietHours(r.Quiet); err != nil {
		return usage("", "cannot add the agent %s: %v", name, err)
	}
	if a.TakeoverAfter, err = takeover(r.TakeoverAfter); err != nil {
		return usage("", "cannot add the agent %s: %v", name, err)
	}
	if err := changeLimits(&a, r.Limits); err != nil {
		return usage("", "cannot add the agent %s: %v", name, err)
	}
	if err := checkAgent(a); err != nil {
		return usage("", "cannot add the agent %s: %v", name, err)
	}
	return a, nil
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
	texts := make([]string, len(bad.Problems)) // the caller says what cannot be done
	for i, p := range bad.Problems {
		texts[i] = p.String()
	}
	return errors.New(strings.Join(texts, "; "))
}

// checkCommands reports why a command line of the agent could not be run.
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
	take(&a.Open, r.Open)
	take(&a.Input, r.Input)
	take(&a.Dir, r.Dir)
	take(&a.Timeout, r.Timeout)
	take(&a.Attempts, r.Attempts)
	take(&a.Rerun, r.Rerun)
	take(&a.RunReplies, r.Answers)
	take(&a.Accepts, r.Accepts)
	take(&a.Examiner, r.Examiner)
	if len(r.WakesOn) > 0 {
		a.WakesOn = actsOf(r.WakesOn)
	}
	if (r.Exec != nil || len(r.Tiers) > 0) && r.Wake == nil {
		a.Wake = "" // from now on its command is run for each message
	}
	take(&a.Wake, r.Wake)
	if len(r.Quiet) > 0 {
		quiet, err := configs.ParseQuietHours(r.Quiet)
		if err != nil {
			return usage("", "%v", err)
		}
		a.Quiet = quiet
	}
	if r.TakeoverAfter != nil {
		var err error
		if a.TakeoverAfter, err = takeover(*r.TakeoverAfter); err != nil {
			return usage("", "%v", err)
		}
	}
	if r.Soul != nil {
		a.Soul = protocol.Name(*r.Soul)
	}
	if r.Profile != nil {
		a.Profile = protocol.Name(*r.Profile)
	}
	switch {
	case r.Inbox && (r.Exec != nil || len(r.Tiers) > 0), r.Exec != nil && len(r.Tiers) > 0:
		return usage("", "it is given one of a command, tiers and the inbox")
	case r.Inbox:
		a.Door, a.Tiers, a.Input, a.Timeout, a.Attempts, a.Rerun, a.Paused = configs.DoorInbox, nil, "", 0, 0, "", false
		a.Accepts, a.WakesOn = "", nil
		if a.Wake == "" { // otherwise they are for that command
			a.Env, a.Limits = nil, configs.Limits{}
		}
		a.TakeoverAfter = 0
	case len(r.Tiers) > 0:
		a.Door, a.Tiers = configs.DoorExec, nil
		for _, t := range r.Tiers {
			a.Tiers = append(a.Tiers, configs.Tier{Name: t.Name, Count: t.Count, Exec: t.Exec})
		}
	case r.Exec != nil && len(a.Tiers) > 1:
		return usage("name them all: parley agent set "+a.Name.String()+" --tier 'NAME*COUNT=CMD' --tier …", "it has %d tiers, each with a command", len(a.Tiers))
	case r.Exec != nil && len(a.Tiers) == 1:
		a.Tiers = []configs.Tier{{Name: a.Tiers[0].Name, Count: a.Tiers[0].Count, Exec: *r.Exec}}
	case r.Exec != nil:
		a.Door, a.Tiers = configs.DoorExec, []configs.Tier{{Name: defaultTier, Count: 1, Exec: *r.Exec}}
	}
	if len(r.Env) > 0 {
		a.Env = r.Env
	}
	if slices.Equal(r.Env, []string{""}) {
		a.Env = nil
	}
	if err := changeLimits(&a, r.Limits); err != nil {
		return usage("", "%v", err)
	}
	if err := checkAgent(a); err != nil {
		return usage("", "%v", err)
	}
	return a, nil
}

// takeover reads after how long the agent's work is taken over; "" means the usual time.
func takeover(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	after, err := configs.ParseTakeover(text)
	if err != nil {
		return 0, fmt.Errorf("takeover_after: %w", err)
	}
	return after, nil
}

// changeLimits sets the limits of an agent that texts such as "memory=2GB" name.
func changeLimits(a *configs.Agent, texts []string) error {
	for _, text := range texts {
		if err := a.Limits.Change(text); err != nil {
			return err
		}
	}
	return nil
}

// actsOf are the acts with those names. An empty name stands for none.
func actsOf(names []string) (acts []protocol.Act) {
	for _, name := range names {
		if name != "" {
			acts = append(acts, protocol.Act(name))
		}
	}
	return acts
}

// take replaces what was there by what was given, if something was given.
func take[T any](at *T, given *T) {
	if given != nil {
		*at = *given
	}
}

// OpenArgv splits the command line of an interactive program. The context for the program contains
// what others wrote. So it must not stand where it would become part of a script.
func OpenArgv(line string) ([]string, error) {
	argv, err := door.SplitCommand(line)
	if err != nil {
		return nil, err
	}
	checked := slices.Clone(argv)
	for i := range checked {
		checked[i] = strings.ReplaceAll(checked[i], configs.PlaceholderContext, door.PromptPlaceholder)
	}
	return argv, door.CheckPlaceholders(checked)
}
