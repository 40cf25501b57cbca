package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/homes"
	"github.com/parleyfleet/parley/protocol"
)

// defaultTier is the tier of an agent that was added with one command.
const defaultTier = "default"

// Agents answers control.Agents.
func (n *Node) Agents(context.Context) ([]control.Agent, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := make([]control.Agent, 0, n.roster.count())
	for _, a := range n.roster.all() {
		all = append(all, n.agentView(a))
	}
	return all, nil
}

// servedView is how an agent is served, as it is shown.
func servedView(a configs.Agent) control.Agent {
	v := control.Agent{
		Name: a.Name, Door: a.Door, Input: inputOf(a), Profile: a.Profile.String(), Preset: a.Preset, Dir: a.Dir, Paused: a.Paused, RunAs: a.RunAs,
	}
	if len(a.Tiers) > 0 {
		v.Command = a.Tiers[0].Exec
	}
	if len(a.Tiers) > 1 || len(a.Tiers) == 1 && a.Tiers[0].Count > 1 {
		for _, t := range a.Tiers {
			v.Tiers = append(v.Tiers, control.AgentTier{Name: t.Name, Count: t.Count, Exec: t.Exec})
		}
	}
	return v
}

// agentView is an agent as it is shown, with what waits for it. The caller holds mu.
func (n *Node) agentView(a configs.Agent) control.Agent {
	v := servedView(a)
	if w := n.workers[a.Name]; w != nil {
		v.Queued = len(w.queue)
		v.Running = len(w.held) - len(w.queue)
		v.Held = n.slots.waits(w.wake)
	}
	if a.Door == configs.DoorInbox {
		for range n.state.Inbox(n.me(a.Name.String()), false) {
			v.Unread++
		}
	}
	return v
}

// AddAgent answers control.AddAgent.
func (n *Node) AddAgent(ctx context.Context, r control.AddAgentRequest) (control.Agent, error) {
	n.roster.serving.Lock()
	defer n.roster.serving.Unlock()
	a, err := n.newAgent(r)
	if err != nil {
		return control.Agent{}, err
	}
	if err := configs.WriteAgent(n.home.Agents(), a); err != nil {
		return control.Agent{}, asError(err)
	}
	n.roster.put(a)
	if err := n.own.publish(ctx); err != nil {
		return control.Agent{}, asError(err)
	}
	n.openDoor(a, n.taking, n.killing)
	n.presence.announce()
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.agentView(a), nil
}

// newAgent checks a request to serve an agent.
func (n *Node) newAgent(r control.AddAgentRequest) (configs.Agent, error) {
	a, err := agentFrom(r)
	if err != nil {
		return configs.Agent{}, err
	}
	a.Added, a.DispatchSince = n.now(), n.record.Tip()
	if err := n.doorsteps.check(a); err != nil {
		return configs.Agent{}, err
	}
	if n.roster.serves(a.Name.String()) {
		return configs.Agent{}, control.Errorf(control.KindConflict, "change it: parley agent set "+a.Name.String()+" …",
			"cannot add the agent %s: it is served here already", a.Name)
	}
	if a.Name == n.cfg.Human {
		return configs.Agent{}, control.Errorf(control.KindConflict, "choose another name",
			"cannot add the agent %s: that is the name of this host's human", a.Name)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return a, n.checkProfile("add", a)
}

// checkProfile refuses a profile that is not there. The caller holds mu.
func (n *Node) checkProfile(do string, a configs.Agent) error {
	if _, _, ok := n.state.Profiles.Of(a.Profile.String()); a.Profile != "" && !ok {
		return control.Errorf(control.KindNotFound, "write it: parley agent profile "+a.Profile.String()+" --set FILE",
			"cannot %s the agent %s: there is no actor profile called %q", do, a.Name, a.Profile)
	}
	return nil
}

// agentFrom is the agent that a request describes.
func agentFrom(r control.AddAgentRequest) (configs.Agent, error) {
	usage := func(hint, format string, args ...any) (configs.Agent, error) {
		return configs.Agent{}, control.Errorf(control.KindUsage, hint, format, args...)
	}
	name, err := protocol.ParseName(r.Name)
	if err != nil {
		hint := ""
		if near := homes.NameFrom(r.Name, ""); near != "" {
			hint = "write it as: " + near
		}
		return usage(hint, "cannot add the agent: %v", err)
	}
	a := configs.Agent{Name: name, Door: configs.DoorExec, Dir: r.Dir, RunAs: r.RunAs, Preset: r.Preset, Profile: protocol.Name(r.Profile)}
	var preset configs.Preset
	if r.Preset != "" {
		if preset, err = configs.FindPreset(r.Preset); err != nil {
			return usage("see: parley agent presets", "cannot add the agent %s: %v", name, err)
		}
	}
	command := cmp.Or(r.Exec, preset.Exec)
	if r.Inbox == (command != "") {
		return usage("parley agent add "+r.Name+" --exec 'COMMAND', or --inbox for an agent that asks for its mail itself",
			"cannot add the agent %s: it needs a command or the inbox, one of the two", name)
	}
	a.Open, a.Input = cmp.Or(r.Open, preset.Open), cmp.Or(r.Input, preset.Input)
	if r.Inbox {
		a.Door = configs.DoorInbox
	} else {
		a.Tiers = []configs.Tier{{Name: defaultTier, Count: 1, Exec: command}}
		a.Timeout = cmp.Or(r.Timeout, preset.Timeout)
		a.Input = cmp.Or(a.Input, configs.InputText)
	}
	if err := checkAgent(a); err != nil {
		return usage("", "cannot add the agent %s: %v", name, err)
	}
	return a, nil
}

// checkAgent says why an agent could not be served so.
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
	return a.Validate()
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
	if a.Open == "" {
		return nil
	}
	_, err := openArgv(a.Open)
	return err
}

// RemoveAgent answers control.RemoveAgent.
func (n *Node) RemoveAgent(ctx context.Context, r control.AgentRequest) (none control.None, err error) {
	n.roster.serving.Lock()
	defer n.roster.serving.Unlock()
	if !n.roster.serves(r.Name) {
		return none, errNotServed(r.Name)
	}
	name := protocol.Name(r.Name)
	n.closeDoor(name)
	if err := configs.RemoveAgent(n.home.Agents(), name, n.now()); err != nil {
		return none, asError(err)
	}
	n.roster.remove(name)
	err = n.own.publish(ctx)
	n.presence.announce()
	return none, asError(err)
}

// PauseAgent answers control.PauseAgent. The decision outlives the node.
func (n *Node) PauseAgent(_ context.Context, r control.PauseRequest) (control.Agent, error) {
	n.roster.serving.Lock()
	defer n.roster.serving.Unlock()
	a, err := n.roster.get(r.Name)
	if err != nil {
		return control.Agent{}, err
	}
	if err := mayPause(a); err != nil {
		return control.Agent{}, err
	}
	a.Paused = r.Paused
	if err := configs.WriteAgent(n.home.Agents(), a); err != nil {
		return control.Agent{}, asError(err)
	}
	n.roster.put(a)
	n.mu.Lock()
	defer n.mu.Unlock()
	if w := n.workers[a.Name]; w != nil {
		w.paused = r.Paused
		w.nudge()
	}
	return n.agentView(a), nil
}

// mayPause refuses to pause an agent of which the node runs nothing.
func mayPause(a configs.Agent) error {
	if a.Door != configs.DoorExec {
		return control.Errorf(control.KindRefused, "", "%s asks for its mail itself: there is nothing to pause", a.Name)
	}
	return nil
}
