package node

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	affairs "github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// serving knows which agents are served on this host, answers questions about them, and changes
// them.
type serving struct {
	dir       string // of the files of agents
	host      protocol.Name
	human     protocol.Name
	maxHops   int
	act       func(ctx context.Context, c fleet.Command, about protocol.Path) ([]written, error) // decides a command and stores the result
	now       func() time.Time
	folded    folded.State
	roster    *agents.Roster
	doorsteps *agents.Doorsteps
	doors     *doors
	kept      bool // commands run with keepers
	find      func(message string) (protocol.Path, error)
	say       func(ctx context.Context, c fleet.Command) error
	do        func(ctx context.Context, c affair.Command) ([]written, error)
	grant     func(agent protocol.Name) error // lets the runs that agents have caused no longer count against an agent's budget
	record    interface {
		Tip() string
		Status() gitsync.Status
		Fetch(context.Context) error
	}
	brought  *atomic.Int64                   // messages that git has brought since the start
	publish  func(ctx context.Context) error // puts into the record what this host says of itself
	announce func()                          // says on the bus who is there
	changed  func()                          // has it checked who is to be woken
}

// Agents answers control.Agents.
func (sv *serving) Agents(context.Context) ([]control.Agent, error) {
	return append([]control.Agent{}, sv.views("")...), nil
}

// views are the agents as they are shown: all, or the one that is named.
func (sv *serving) views(agent string) (all []control.Agent) {
	for _, a := range sv.roster.All() {
		if agent == "" || agent == a.Name.String() {
			all = append(all, sv.view(a))
		}
	}
	return all
}

// view is an agent as it is shown. It reads the state once for each agent: counting mail takes long
// if much is unread, and messages wait during that time.
func (sv *serving) view(a configs.Agent) (v control.Agent) {
	sv.folded(func(s *fleet.State) { v = sv.doors.view(s, a) })
	return v
}

// Add answers control.AddAgent.
func (sv *serving) Add(ctx context.Context, r control.AddAgentRequest) (control.Agent, error) {
	sv.roster.Serving.Lock()
	defer sv.roster.Serving.Unlock()
	a, err := sv.newAgent(r)
	if err != nil {
		return control.Agent{}, err
	}
	if err := configs.WriteAgent(sv.dir, a); err != nil {
		return control.Agent{}, asError(err)
	}
	sv.roster.Put(a)
	if err := sv.publish(ctx); err != nil {
		return control.Agent{}, asError(err)
	}
	sv.doors.open(a)
	sv.announce()
	return sv.view(a), nil
}

// newAgent checks a request to serve an agent.
func (sv *serving) newAgent(r control.AddAgentRequest) (configs.Agent, error) {
	a, err := agents.Added(r)
	if err != nil {
		return configs.Agent{}, err
	}
	a.Added = sv.now()
	if !r.AnswerOld {
		a.DispatchSince = sv.record.Tip()
	}
	if err := cmp.Or(sv.doorsteps.Check(a), agents.CheckLimits(sv.kept, a)); err != nil {
		return configs.Agent{}, err
	}
	if sv.roster.Serves(a.Name.String()) {
		return configs.Agent{}, control.Errorf(control.KindConflict, "change it: parley agent set "+a.Name.String()+" …",
			"cannot add the agent %s: it is served here already", a.Name)
	}
	if a.Name == sv.human {
		return configs.Agent{}, control.Errorf(control.KindConflict, "choose another name",
			"cannot add the agent %s: that is the name of this host's human", a.Name)
	}
	return a, sv.checkProfile("add", a)
}

// checkProfile returns an error if a profile does not exist.
func (sv *serving) checkProfile(do string, a configs.Agent) error {
	there := a.Profile == ""
	if !there {
		sv.folded(func(s *fleet.State) { there = len(s.Profiles.Called(a.Profile.String())) > 0 })
	}
	if !there {
		return control.Errorf(control.KindNotFound, "write it: parley agent profile "+a.Profile.String()+" --set FILE",
			"cannot %s the agent %s: there is no actor profile called %q", do, a.Name, a.Profile)
	}
	return nil
}

// Remove answers control.RemoveAgent.
func (sv *serving) Remove(ctx context.Context, r control.AgentRequest) (none control.None, err error) {
	sv.roster.Serving.Lock()
	defer sv.roster.Serving.Unlock()
	if !sv.roster.Serves(r.Name) {
		return none, agents.NotServed(r.Name)
	}
	name := protocol.Name(r.Name)
	sv.doors.close(name)
	if err := sv.giveUp(ctx, name); err != nil {
		return none, asError(err)
	}
	if err := configs.RemoveAgent(sv.dir, name, sv.now()); err != nil {
		return none, asError(err)
	}
	sv.roster.Remove(name)
	err = sv.publish(ctx)
	sv.announce()
	return none, asError(err)
}

// giveUp tells everybody who waits for an answer of an agent that is removed that there will be
// none: what waits becomes a dead letter. If another host serves the agent too, that host takes
// over, even work that this host has claimed: removing the agent ends such a claim.
func (sv *serving) giveUp(ctx context.Context, name protocol.Name) error {
	a, err := sv.roster.Get(name.String())
	if err != nil || a.Door != configs.DoorExec {
		return err
	}
	who := fleet.Who{Name: name.String(), Host: sv.host}
	old, again := sv.doors.older(a), map[protocol.Path]bool{}
	var left, claimed []protocol.Path
	sv.folded(func(s *fleet.State) {
		for it := range s.Talk.Inbox(who, false) {
			switch {
			case s.Talk.Handle(it, who, limitsOf(a, sv.maxHops)) != fleet.Run, !known(s, it, who):
			case len(s.Talk.ServedOn(it, who.Name)) == 1:
				left, again[it.Path] = append(left, it.Path), s.Run(it.Path, who.Name).Again != nil
			case s.Talk.Claimed(it, who):
				claimed = append(claimed, it.Path)
			}
		}
	})
	for _, p := range claimed {
		why := fmt.Sprintf("it is not served on %s any more", sv.host)
		if _, err := sv.do(ctx, affairs.Retry(sv.human.String(), p, who.Name, why)); err != nil && !isRefusal(err) {
			return err
		}
	}
	f := protocol.Failure{Problem: fmt.Sprintf("%s: it is not served on %s any more", name, sv.host)}
	for _, p := range left {
		if old(p) && !again[p] {
			continue
		}
		c := fleet.Answer{As: who, To: p, Body: protocol.Failed.Format(f), Act: protocol.ActFailed, ByAgent: true}
		if _, err := sv.act(ctx, c, p); err != nil && !isRefusal(err) {
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
func (sv *serving) Pause(ctx context.Context, r control.PauseRequest) (done control.ChangedAgent, err error) {
	sv.roster.Serving.Lock()
	defer sv.roster.Serving.Unlock()
	if err := sv.checkPause(r); err != nil {
		return done, err
	}
	over := 0
	if !r.Paused {
		if over, err = sv.resume(ctx, r); err != nil {
			return done, err
		}
	}
	was, err := sv.roster.Get(r.Name)
	if err != nil {
		return done, err
	}
	a := was
	if r.Conversation == "" {
		a.Paused = r.Paused
		if err := configs.WriteAgent(sv.dir, a); err != nil {
			return done, asError(err)
		}
		sv.roster.Put(a)
		sv.doors.pause(a.Name, r.Paused)
		sv.announce() // other hosts make no members of an agent that is paused
	}
	done = control.ChangedAgent{Agent: sv.view(a), Changed: agents.Differences(was, a)}
	if over > 0 {
		done.Changed = append(done.Changed, control.SettingChange{Name: "over", Was: strconv.Itoa(over), Now: "0"})
	}
	return done, nil
}
