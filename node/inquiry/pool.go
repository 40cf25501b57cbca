package inquiry

import (
	"cmp"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/inquiry/calls"
	"github.com/parleyfleet/parley/protocol"
)

// Pool is who can work on inquiries: the agents of this host that make calls, and the agents and
// presets of all hosts that investigate.
type Pool struct {
	*Options
	policies *affair.Kind[policy.Policy]
}

// coordinator is the agent of this host that makes the calls of an inquiry: the one that is named,
// that of the fleet's policy, or the only one that could. It is asked while the state is read.
func (p *Pool) coordinator(s *fleet.State, named string) (string, error) {
	name := cmp.Or(named, p.settled(s, policy.KeyFrameCoordinator))
	var could []string
	for _, a := range p.Agents() {
		if _, ok := p.served(a.Name.String()); ok {
			could = append(could, a.Name.String())
		}
	}
	switch {
	case slices.Contains(could, name):
		return name, nil
	case name != "" && named == "":
		return "", control.Errorf(control.KindRefused, "name another one: --coordinator AGENT", "the fleet's policy has %s make the calls of inquiries, and this host does not run it", name)
	case name != "":
		return "", control.Errorf(control.KindNotFound, "see: parley agent list", "this host runs no agent %s that could make the calls of an inquiry", name)
	case len(could) == 1:
		return could[0], nil
	case len(could) == 0:
		return "", control.Errorf(control.KindRefused, "add one: parley agent add NAME --preset claude", "this host runs no agent that could make the calls of an inquiry")
	}
	return "", control.Errorf(control.KindUsage, "name it: --coordinator "+could[0], "%d agents of this host could make the calls of an inquiry", len(could))
}

// mayBegin returns an error for an inquiry that could not go on, before anybody is asked anything.
// It is asked while the state is read.
func (p *Pool) mayBegin(s *fleet.State, o *protocol.InquiryOpening) (err error) {
	if o.Coordinator, err = p.coordinator(s, o.Coordinator); err != nil || o.Mode == protocol.ModeRecommend {
		return err
	}
	all, made := p.candidates(s, inquiries.Inquiry{
		Opening: *o, Chosen: []string{"any"}, Coordinator: protocol.Address{Name: o.Coordinator, Host: p.Host.String()},
	})
	switch {
	case len(all)+len(made) > 0:
		return nil
	case slices.Equal(o.Agents, []string{o.Coordinator}):
		return control.Errorf(control.KindUsage, "name others: --agent NAME; or another one for the calls: --coordinator NAME",
			"nobody could investigate a perspective: %s makes the calls of this inquiry, and who makes them investigates none", o.Coordinator)
	case len(o.Agents) > 0:
		return control.Errorf(control.KindNotFound, "see who is there: parley who", "none of %s can investigate: no host that is there runs it, or it makes the calls", strings.Join(o.Agents, ", "))
	}
	if settled := p.settled(s, policy.KeyFrameMember); settled != "" {
		return control.Errorf(control.KindRefused, "see who is there: parley fleet hosts; or name agents: --agent NAME",
			"nobody could investigate a perspective: no agent has a profile, and no host is there on which the policy frame-member=%s has members made", settled)
	}
	return control.Errorf(control.KindRefused, "name agents: --agent NAME; or settle it for the fleet: parley fleet policy set frame-member=claude",
		"nobody could investigate a perspective: no agent has a profile, and no preset for members is settled")
}

func (p *Pool) served(name string) (configs.Agent, bool) {
	for _, a := range p.Agents() {
		if a.Name.String() == name && a.Door == configs.DoorExec && len(a.Tiers) > 0 {
			return a, true
		}
	}
	return configs.Agent{}, false
}

// actor returns the actor for an agent of this host. An agent that this host does not declare
// speaks as the host (see inquiries.Member).
func (p *Pool) actor(agent string) inquiries.Actor {
	a := inquiries.Actor{Record: p.RecordID, Me: p.Host.String(), Host: p.Host}
	if _, served := p.served(agent); served {
		a.Me = agent
	}
	return a
}

// settled returns the value that the fleet has settled for a policy. It is asked while the state is
// read.
func (p *Pool) settled(s *fleet.State, key string) string {
	value, _ := fleet.Value(s, p.policies, policy.KindName, time.Time{}).Value(key)
	return value
}

// config returns the configuration with which a member runs. That is the agent of this host with
// the member's name. If there is none, it is the agent after which a member is called that was made
// for a perspective. Failing both, it is the preset that the fleet has settled for this host. So
// another host never has this one run a program that nobody chose, neither here nor for the fleet. An
// agent with `accepts: verified` investigates only what verified mail began. A member that was made has
// the name of no agent: else that agent would seem to be meant, and be given what it may not have.
func (p *Pool) config(v inquiries.Inquiry, m *inquiries.Member) (configs.Agent, error) {
	settled, taken, verified := "", false, false
	p.Folded(func(s *fleet.State) {
		settled = p.settled(s, policy.KeyFrameMember)
		taken = (m.Made || !v.MayReceive(m.Agent, false)) && declared(s, m.Agent.Name)
		it, there := s.Ledger.Item(v.Path)
		verified = there && s.Talk.Vouched(it)
	})
	a, err := p.configOf(m.Agent.Name, settled)
	switch {
	case taken:
		err = fmt.Errorf("there is an agent %s, so no member can be made with that name", m.Agent.Name)
	case err == nil && a.Accepts == configs.AcceptVerified && !verified:
		err = fmt.Errorf("%s accepts only verified mail, and what began the inquiry is not verified", a.Name)
	}
	return a, err
}

// configOf is config for a member of that name, with the fleet's policy in `settled`.
func (p *Pool) configOf(member, settled string) (configs.Agent, error) {
	base := inquiries.MadeAfter(member)
	for _, name := range []string{member, base} {
		if a, ok := p.served(name); ok {
			if a.Paused {
				return a, fmt.Errorf("%s is paused on %s", name, p.Host)
			}
			return a, nil
		}
	}
	found, err := configs.FindPreset(base)
	if err != nil || !isSettled(settled, base, p.Host) {
		return configs.Agent{}, fmt.Errorf("%s serves no agent %s with a command", p.Host, base)
	}
	if _, err := exec.LookPath(found.Program); err != nil {
		return configs.Agent{}, fmt.Errorf("%s is not installed on %s: %w", found.Program, p.Host, err)
	}
	return configs.Agent{
		Name: protocol.Name(base), Door: configs.DoorExec, Input: found.Input, Preset: found.Name, Env: found.Env,
		Tiers: []configs.Tier{{Name: "default", Count: 1, Exec: found.Exec}},
	}, nil
}

// isSettled reports whether the fleet's policy has members made with a preset or agent on a host.
func isSettled(policy, name string, host protocol.Name) bool {
	wanted, hosts, some := strings.Cut(policy, "@")
	return wanted == name && (!some || slices.Contains(strings.Split(hosts, ","), host.String()))
}

// preset says what a member's program can do besides answering; it is zero if that is not known. If
// the operator has given another command, Resume is empty: the command line that goes on with a
// session might let the program do more than the operator's command.
func preset(a configs.Agent) configs.Preset {
	p, err := configs.FindPreset(a.Preset)
	if err != nil {
		return configs.Preset{}
	}
	// The same command may name its program by the whole path.
	folder, same := strings.CutSuffix(a.Tiers[0].Exec, p.Exec)
	if same && (folder == "" || filepath.IsAbs(folder) && strings.HasSuffix(folder, "/") && visible.Shell(folder) == folder) && p.Resume != "" {
		p.Resume = folder + p.Resume
	} else {
		p.Resume = ""
	}
	return p
}

// declared reports whether a host serves an agent of that name. It is asked while the state is read.
func declared(s *fleet.State, name string) bool {
	return slices.ContainsFunc(s.Keys().Hosts(), func(h *keys.Host) bool {
		_, serves := h.Serves(name)
		return serves && !h.Out()
	})
}

// Lacks returns the agent or preset of which the fleet's policy has members made on this host, if
// none can be made: this host serves no such agent, and the preset's program is not installed. It
// returns "" if nothing is lacking.
func (p *Pool) Lacks() string {
	settled := ""
	p.Folded(func(s *fleet.State) { settled = p.settled(s, policy.KeyFrameMember) })
	wanted, _, _ := strings.Cut(settled, "@")
	if wanted == "" || !isSettled(settled, wanted, p.Host) {
		return ""
	}
	if _, err := p.configOf(wanted, settled); err != nil {
		return wanted
	}
	return ""
}

// candidates returns the agents that could be members. `made` are the members that are made if none
// of those agents fits. They are as many as there are perspectives without a member, and they are
// distributed over the hosts in turn. It is asked while the state is read.
func (p *Pool) candidates(s *fleet.State, v inquiries.Inquiry) (all []calls.Candidate, made []protocol.Address) {
	bases, all := p.makers(s, v)
	for i := range len(v.Chosen) - len(v.Members) {
		if len(bases) == 0 {
			break
		}
		made = append(made, madeOf(s, v, bases[i%len(bases)], made))
	}
	return all, made
}

// madeOf is the name of a member that is made after an agent or a preset: a name that no agent, no
// member and none of the `others` has. It is asked while the state is read.
func madeOf(s *fleet.State, v inquiries.Inquiry, base protocol.Address, others []protocol.Address) protocol.Address {
	for number := len(v.Members) + len(others) + 1; ; number++ {
		a := protocol.Address{Name: fmt.Sprintf("%s-%d", base.Name, number), Host: base.Host}
		if !declared(s, a.Name) && !slices.ContainsFunc(v.Members, func(m *inquiries.Member) bool { return m.Agent.Name == a.Name }) && !slices.Contains(others, a) {
			return a
		}
	}
}

// successor is the agent of this host that makes the calls of an inquiry that is resumed: the one that
// is named, the one that did, or the one that coordinator says. Else it is any that is no member, and
// rather one after which none is made: who resumes reads which. It is asked while the state is read.
func (p *Pool) successor(s *fleet.State, v inquiries.Inquiry, named string) (string, error) {
	if _, ok := p.served(v.Coordinator.Name); ok && named == "" {
		return v.Coordinator.Name, nil
	}
	name, err := p.coordinator(s, named)
	if err == nil || named != "" {
		return name, err
	}
	works := func(a configs.Agent, of func(string) string) bool {
		return slices.ContainsFunc(v.Members, func(m *inquiries.Member) bool {
			return m.Agent.Host == p.Host.String() && of(m.Agent.Name) == a.Name.String()
		})
	}
	for _, a := range p.Agents() {
		if _, ok := p.served(a.Name.String()); !ok || works(a, strings.Clone) {
			continue
		}
		if name, err = cmp.Or(name, a.Name.String()), nil; !works(a, inquiries.MadeAfter) {
			return a.Name.String(), nil
		}
	}
	return name, err
}

// elsewhere returns the member to start at a further attempt, or as the one that speaks from now on.
// That is an agent on another host, if the host of the last one is gone or the last one has failed,
// and there is such an agent. It is asked while the state is read.
func (p *Pool) elsewhere(s *fleet.State, v inquiries.Inquiry, m *inquiries.Member) protocol.Address {
	if m == nil || m.Moves == 0 && (m.Attempt == 1 || v.Carried(m.Perspective) != "" && p.isThere(m.Agent.Host)) {
		return protocol.Address{}
	}
	bases, all := p.makers(s, v)
	for _, c := range all { // the same agent on another host is the nearest
		if c.Agent.Name == m.Agent.Name && c.Agent.Host != m.Agent.Host {
			return c.Agent
		}
	}
	for _, base := range bases {
		if base.Host != m.Agent.Host {
			return madeOf(s, v, base, nil)
		}
	}
	return protocol.Address{}
}

// isThere reports whether a host is this one, or live.
func (p *Pool) isThere(host string) bool {
	_, live := p.Seen(protocol.Name(host))
	return live || host == p.Host.String()
}

// makers returns the agents and presets after which members can be made, host by host, and the
// agents whose profiles say what they are for. At first it takes only hosts that are there. If none
// of them could investigate, it takes also hosts of which nothing was heard: git alone may bring
// what they say. A host that lacks the program is taken only if there is nobody else: the failure
// of its member says what is missing. makers is asked while the state is read.
func (p *Pool) makers(s *fleet.State, v inquiries.Inquiry) (bases []protocol.Address, all []calls.Candidate) {
	for _, unheard := range []bool{false, true} {
		var lacking []protocol.Address
		for _, h := range s.Keys().Hosts() {
			last, _ := p.Seen(h.Alias)
			there := p.isThere(h.Alias.String()) || unheard && last.IsZero()
			if !h.Joined() || h.Out() || !there || h.Alias != p.Host && staysThere(v.Opening) {
				continue
			}
			ofHost, fit := p.makersOf(s, v, h)
			fit = slices.DeleteFunc(fit, func(c calls.Candidate) bool { return !v.MayReceive(c.Agent, false) })
			for _, base := range ofHost {
				if !v.MayReceive(base, false) {
					continue
				}
				if p.isLackedBy(s, h.Alias, base.Name) {
					lacking = append(lacking, base)
				} else {
					bases = append(bases, base)
				}
			}
			all = append(all, fit...)
		}
		if len(bases) == 0 {
			bases = lacking
		}
		if len(bases)+len(all) > 0 {
			break
		}
	}
	return bases, all
}

// makersOf returns what makers returns, of one host. Members are made after the agents that the
// inquiry names, or else after what the fleet's policy says.
func (p *Pool) makersOf(s *fleet.State, v inquiries.Inquiry, h *keys.Host) (bases []protocol.Address, all []calls.Candidate) {
	for _, a := range h.Agents {
		address := protocol.Address{Name: a.Name.String(), Host: h.Alias.String()}
		if address == v.Coordinator || len(a.Tiers) == 0 || a.Tiers[0].Name == protocol.InboxTier {
			continue
		}
		named := slices.Contains(v.Opening.Agents, address.Name) || slices.Contains(v.Opening.Agents, address.String())
		if named {
			bases = append(bases, address)
		}
		if about := p.about(s, a.Name.String()); about != "" && (named || len(v.Opening.Agents) == 0) {
			all = append(all, calls.Candidate{Agent: address, About: about})
		}
	}
	settled := p.settled(s, policy.KeyFrameMember)
	if wanted, _, _ := strings.Cut(settled, "@"); len(v.Opening.Agents) == 0 && wanted != "" && isSettled(settled, wanted, h.Alias) {
		bases = append(bases, protocol.Address{Name: wanted, Host: h.Alias.String()})
	}
	return bases, all
}

// isLackedBy reports whether a host is known to have no agent or program `name` for members. It is
// asked while the state is read.
func (p *Pool) isLackedBy(s *fleet.State, host protocol.Name, name string) bool {
	if host == p.Host {
		_, err := p.configOf(name, p.settled(s, policy.KeyFrameMember))
		return err != nil
	}
	return p.LackedBy(host) == name
}

// about is what an agent's profile says about its purpose, in one line: text of others. It is asked
// while the state is read.
func (p *Pool) about(s *fleet.State, agent string) string {
	name := agent
	if a, ok := p.served(agent); ok {
		name = cmp.Or(agents.ProfileName(a), agent)
	}
	paths := s.Profiles.Called(name)
	if len(paths) == 0 {
		return ""
	}
	actor, _ := s.Profiles.At(paths[0])
	return strings.Join(strings.Fields(cmp.Or(actor.Description, actor.Domain)), " ")
}

// receivers are all who could be given what an inquiry investigates, wherever they are now: the
// coordinator, agents, and what members can be made after. It is asked while the state is read.
func (p *Pool) receivers(s *fleet.State, v inquiries.Inquiry) []string {
	all := []string{v.Coordinator.String()}
	for _, h := range s.Keys().Hosts() {
		if !h.Joined() || h.Out() || h.Alias != p.Host && staysThere(v.Opening) {
			continue
		}
		bases, fit := p.makersOf(s, v, h)
		for _, base := range bases {
			all = append(all, base.String())
		}
		for _, c := range fit {
			all = append(all, c.Agent.String())
		}
	}
	slices.Sort(all[1:])
	return slices.Compact(all)
}
