package serving

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	affairs "github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// Agents answers control.Agents.
func (sv *Serving) Agents(context.Context) ([]control.Agent, error) {
	return append([]control.Agent{}, sv.Views("")...), nil
}

// Views are the agents as they are shown: all, or the one that is named.
func (sv *Serving) Views(agent string) (all []control.Agent) {
	for _, a := range sv.Roster.All() {
		if agent == "" || agent == a.Name.String() {
			all = append(all, sv.view(a))
		}
	}
	return all
}

// view is an agent as it is shown. It reads the state once for each agent: counting mail takes long
// if much is unread, and messages wait during that time.
func (sv *Serving) view(a configs.Agent) (v control.Agent) {
	sv.Folded(func(s *fleet.State) { v = sv.doors.view(s, a) })
	v.Missing = sv.Runner.missing(a)
	return v
}

// Add answers control.AddAgent.
func (sv *Serving) Add(ctx context.Context, r control.AddAgentRequest) (control.Agent, error) {
	sv.Roster.Serving.Lock()
	defer sv.Roster.Serving.Unlock()
	a, err := sv.newAgent(r)
	if err != nil {
		return control.Agent{}, err
	}
	if err := configs.WriteAgent(sv.Home.Agents(), a); err != nil {
		return control.Agent{}, err
	}
	sv.Roster.Put(a)
	if err := sv.Publish(ctx); err != nil {
		return control.Agent{}, err
	}
	sv.doors.open(a)
	sv.Announce()
	return sv.view(a), nil
}

func (sv *Serving) newAgent(r control.AddAgentRequest) (configs.Agent, error) {
	a, err := agents.Added(r)
	if err != nil {
		return configs.Agent{}, err
	}
	a.Added = sv.Now()
	if !r.AnswerOld {
		a.DispatchSince = sv.Record.Tip()
	}
	if err := cmp.Or(sv.Doorsteps.Check(a), agents.CheckLimits(sv.Keepers != nil, a)); err != nil {
		return configs.Agent{}, err
	}
	if sv.Roster.Serves(a.Name.String()) {
		return configs.Agent{}, control.Errorf(control.KindConflict, "change it: parley agent set "+a.Name.String()+" …",
			"cannot add the agent %s: it is served here already", a.Name)
	}
	if a.Name == sv.Human {
		return configs.Agent{}, control.Errorf(control.KindConflict, "choose another name",
			"cannot add the agent %s: that is the name of this host's human", a.Name)
	}
	return a, sv.checkProfile("add", a)
}

// checkProfile returns an error if a profile does not exist.
func (sv *Serving) checkProfile(do string, a configs.Agent) error {
	there := a.Profile == ""
	if !there {
		sv.Folded(func(s *fleet.State) { there = len(s.Profiles.Called(a.Profile.String())) > 0 })
	}
	if !there {
		return control.Errorf(control.KindNotFound, "write it: parley agent profile "+a.Profile.String()+" --set FILE",
			"cannot %s the agent %s: there is no actor profile called %q", do, a.Name, a.Profile)
	}
	return nil
}

// Remove answers control.RemoveAgent.
func (sv *Serving) Remove(ctx context.Context, r control.AgentRequest) (none control.None, err error) {
	sv.Roster.Serving.Lock()
	defer sv.Roster.Serving.Unlock()
	if err := sv.Roster.Added(r.Name); err != nil {
		return none, err
	}
	name := protocol.Name(r.Name)
	sv.doors.close(name)
	if err := sv.giveUp(ctx, name); err != nil {
		return none, err
	}
	if err := configs.RemoveAgent(sv.Home.Agents(), name, sv.Now()); err != nil {
		return none, err
	}
	sv.Roster.Remove(name)
	err = sv.Publish(ctx)
	sv.Announce()
	return none, err
}

// giveUp tells everybody who waits for an answer of an agent that is removed that there will be
// none: what waits becomes a dead letter. If another host serves the agent too, that host takes
// over, even work that this host has claimed: removing the agent ends such a claim.
func (sv *Serving) giveUp(ctx context.Context, name protocol.Name) error {
	a, err := sv.Roster.Get(name.String())
	if err != nil || a.Door != configs.DoorExec {
		return err
	}
	who := fleet.Who{Name: name.String(), Host: sv.Host}
	old, again := sv.doors.older(a), map[protocol.Path]bool{}
	var left, claimed []protocol.Path
	sv.Folded(func(s *fleet.State) {
		for it := range s.Talk.Inbox(who, false) {
			switch {
			case s.Talk.Handle(it, who, limitsOf(a, sv.Config.MaxHops)) != fleet.Run, !known(s, it, who):
			case len(s.Talk.ServedOn(it, who.Name)) == 1:
				left, again[it.Path] = append(left, it.Path), s.Run(it.Path, who.Name).Again != nil
			case s.Talk.Claimed(it, who):
				claimed = append(claimed, it.Path)
			}
		}
	})
	for _, p := range claimed {
		why := fmt.Sprintf("it is not served on %s any more", sv.Host)
		if _, err := sv.Do(ctx, affairs.Retry(sv.Human.String(), p, who.Name, why)); err != nil && !writing.IsRefusal(err) {
			return err
		}
	}
	f := protocol.Failure{Problem: fmt.Sprintf("%s: it is not served on %s any more", name, sv.Host)}
	for _, p := range left {
		if old(p) && !again[p] {
			continue
		}
		c := fleet.Answer{As: who, To: p, Body: protocol.Failed.Format(f), Act: protocol.ActFailed, ByAgent: true}
		if _, err := sv.Act(ctx, c, p); err != nil && !writing.IsRefusal(err) {
			return err
		}
	}
	return nil
}

// known reports whether anybody knows the author of a message: a host vouches for it or has somebody
// of that name, or an agent has written to the author before. Otherwise whoever may push decides to
// how many names an agent writes when it is removed.
func known(s *fleet.State, it *fleet.Item, who fleet.Who) bool {
	return s.Signature(it) == protocol.SignatureValid || len(s.People.ServedOn(it.Author().Name)) > 0 || s.Talk.Caused(it, who)
}

// Pause answers control.PauseAgent. The decision outlives the node.
func (sv *Serving) Pause(ctx context.Context, r control.PauseRequest) (done control.ChangedAgent, err error) {
	sv.Roster.Serving.Lock()
	defer sv.Roster.Serving.Unlock()
	if err := sv.checkPause(r); err != nil {
		return done, err
	}
	over := 0
	if !r.Paused {
		if over, err = sv.resume(ctx, r); err != nil {
			return done, err
		}
	}
	was, err := sv.Roster.Get(r.Name)
	if err != nil {
		return done, err
	}
	a := was
	if r.Conversation == "" {
		a.Paused = r.Paused
		if err := configs.WriteAgent(sv.Home.Agents(), a); err != nil {
			return done, err
		}
		sv.Roster.Put(a)
		sv.doors.pause(a.Name, r.Paused)
		sv.Announce() // other hosts make no members of an agent that is paused
	}
	done = control.ChangedAgent{Agent: sv.view(a), Changed: agents.Differences(was, a)}
	if over > 0 {
		done.Changed = append(done.Changed, control.SettingChange{Name: "over", Was: strconv.Itoa(over), Now: "0"})
	}
	return done, nil
}

// Set answers control.SetAgent. Messages that wait for the agent are handled as it is served from
// now on. A command that runs ends as it began.
func (sv *Serving) Set(ctx context.Context, r control.SetAgentRequest) (none control.ChangedAgent, err error) {
	sv.Roster.Serving.Lock()
	defer sv.Roster.Serving.Unlock()
	if err := sv.Roster.Added(r.Name); err != nil {
		return none, err
	}
	was, err := sv.Roster.Get(r.Name)
	if err != nil {
		return none, err
	}
	a, err := agents.Changed(was, r)
	if err != nil {
		return none, err
	}
	if a.Door == configs.DoorExec && was.Door != configs.DoorExec {
		a.DispatchSince = sv.Record.Tip() // what waits in its inbox was not meant for a command (R8)
	}
	if err := agents.CheckLimits(sv.Keepers != nil, a); err != nil {
		return none, err
	}
	if err := sv.checkProfile("change", a); err != nil {
		return none, err
	}
	if err := configs.WriteAgent(sv.Home.Agents(), a); err != nil {
		return none, err
	}
	if a.Door != was.Door {
		sv.doors.close(a.Name)
	}
	sv.Roster.Put(a)
	sv.doors.change(a)
	sv.Look()
	sv.Changed()
	err = sv.Publish(ctx)
	sv.Announce()
	return control.ChangedAgent{Agent: sv.view(a), Changed: agents.Differences(was, a)}, err
}

// Show answers control.ShowAgent.
func (sv *Serving) Show(_ context.Context, r control.AgentRequest) (control.AgentSettings, error) {
	a, err := sv.Roster.Get(r.Name)
	if err != nil {
		return control.AgentSettings{}, err
	}
	v := control.AgentSettings{Agent: sv.view(a), Settings: agents.Settings(a)}
	for i := range v.Settings {
		switch s := &v.Settings[i]; {
		case s.Name == "profile" && v.ProfileState != "":
			s.Value += " (" + profileText(v.ProfileState, agents.ProfileName(a)) + ")"
		case s.Name == "env":
			if passed := agents.Passed(a); len(passed) > 0 {
				s.Value += ": " + strings.Join(passed, " ")
			}
		}
	}
	return v, nil
}
