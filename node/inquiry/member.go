package inquiry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/keys"
	"github.com/parleyfleet/parley/fleet/policy"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/inquiry/calls"
	"github.com/parleyfleet/parley/node/inquiry/place"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

// MemberRun is one run of a member's command: alone in its place, with nothing of the node's.
type MemberRun struct {
	Place  place.Place
	Walls  bool // it sees nothing of this node, and nothing of other places; see Options.Walls
	Input  string
	Resume string // the command line that goes on with the session of this place; "" for a new one
}

// investigate runs a member once for its result, without a limit of time, and says that it has
// ended (R62). A run that the end of the node cut short has failed.
func (q *Inquiries) investigate(ctx context.Context, v inquiries.Inquiry, c inquiries.Call) error {
	m := v.Member(c.Perspective)
	k, begun, err := q.spool.read(v.Channel, c.Perspective, c.Attempt)
	switch {
	case err != nil:
		return err
	case begun && k.Outcome == "":
		k.Outcome, k.Errors = protocol.SignalFailed, "its node ended while it worked"
	case !begun:
		if k, err = q.run(ctx, v, m); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	if err := q.spool.write(v.Channel, c.Perspective, c.Attempt, k); err != nil {
		return err
	}
	w := protocol.InquirySignal{Perspective: c.Perspective, Attempt: c.Attempt, Outcome: k.Outcome, Exit: k.Exit, Grade: k.Grade, Degraded: k.Degraded}
	switch k.Outcome {
	case protocol.SignalCompleted:
		w.Result = protocol.Hash([]byte(k.Result))
	case protocol.SignalFailed:
		w.Text = k.Errors
	}
	return q.says(ctx, v, c, func(a inquiries.Actor) error {
		_, err := q.Do(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(a.Me), Because: v.Path}, a.Signal(v.Channel, w))
		return err
	})
}

// says says something for a member. If it was said before a crash, nothing more is said.
func (q *Inquiries) says(ctx context.Context, v inquiries.Inquiry, c inquiries.Call, say func(inquiries.Actor) error) error {
	err := say(q.actor(c.By.Name))
	if err != nil && !slices.Contains(inquiries.Next(q.value(v.Channel)), c) {
		return nil
	}
	return err
}

// run runs a member for its result.
func (q *Inquiries) run(ctx context.Context, v inquiries.Inquiry, m *inquiries.Member) (kept, error) {
	failed := func(why string) (kept, error) {
		return kept{Outcome: protocol.SignalFailed, Errors: why, Exit: -1, Grade: gradeOfNone}, nil
	}
	agent, err := q.config(v, m)
	if err != nil {
		return failed(err.Error())
	}
	at, err := q.place(ctx, v, m, agent)
	if err != nil {
		return failed(err.Error())
	}
	if err := q.count(ctx, v, agent); err != nil {
		return kept{}, err
	}
	walls := q.Walls(ctx, agent)
	k := kept{Grade: at.Grade}
	if walls {
		k.Grade = protocol.GradeWalls
	}
	if preset(agent).Resume == "" {
		k.Degraded = "its program keeps no sessions, so for the dialogue it is given its earlier result again"
	}
	if err := q.spool.write(v.Channel, m.Perspective, m.Attempt, k); err != nil {
		return k, err
	}
	input := v.Prompt(m.Perspective, m.Orientation)
	if before := v.Carried(m.Perspective); before != "" {
		input = deeper(input, before)
	}
	r := q.Member(ctx, agent, MemberRun{Place: at, Walls: walls, Input: q.given(v, input)})
	switch text := cut(calls.Bare(r.Output), inquiries.MaxResult); { // in a fence, no line counts as a heading
	case r.Failure == door.None && strings.TrimSpace(text) != "":
		k.Outcome, k.Result = protocol.SignalCompleted, text
	default:
		k.Outcome, k.Exit, k.Errors = protocol.SignalFailed, r.ExitCode, cut(strings.TrimSpace(r.Problem()+"\n"+r.Stderr), maxErrors)
	}
	return k, nil
}

const (
	// gradeOfNone is the grade of a member whose command was not started.
	gradeOfNone = protocol.GradeProcess
	// maxErrors bounds what is told of a run that failed, in bytes.
	maxErrors = 4 << 10
)

// cut is a text of at most `most` bytes, which ends with a whole character. If something was left
// out, a line at the end says so.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	const note = "\n\n(The rest was left out: it was too long.)"
	return strings.ToValidUTF8(text[:most-len(note)], "") + note
}

// config returns the configuration with which a member runs. That is the agent of this host with
// the member's name. If there is none, it is the agent after which a member is called that was made
// for a perspective. Failing both, it is the preset that the fleet has settled for this host. So
// another host never has this one run a program that nobody chose, neither here nor for the fleet. An
// agent with `accepts: verified` investigates only what verified mail began. A member that was made has
// the name of no agent: else that agent would seem to be meant, and be given what it may not have.
func (q *Inquiries) config(v inquiries.Inquiry, m *inquiries.Member) (configs.Agent, error) {
	settled, taken, verified := "", false, false
	q.Folded(func(s *fleet.State) {
		settled = q.settled(s, policy.KeyFrameMember)
		taken = (m.Made || !v.MayReceive(m.Agent, false)) && declared(s, m.Agent.Name)
		it, there := s.Ledger.Item(v.Path)
		verified = there && s.Talk.Vouched(it)
	})
	a, err := q.configOf(m.Agent.Name, settled)
	switch {
	case taken:
		err = fmt.Errorf("there is an agent %s, so no member can be made with that name", m.Agent.Name)
	case err == nil && a.Accepts == configs.AcceptVerified && !verified:
		err = fmt.Errorf("%s accepts only verified mail, and what began the inquiry is not verified", a.Name)
	}
	return a, err
}

// declared reports whether a host serves an agent of that name. It is asked while the state is read.
func declared(s *fleet.State, name string) bool {
	return slices.ContainsFunc(s.Keys().Hosts(), func(h *keys.Host) bool {
		_, serves := h.Serves(name)
		return serves && !h.Out()
	})
}

// own reports whether an inquiry was begun and is coordinated here.
func (q *Inquiries) own(v inquiries.Inquiry) bool {
	return v.By.Host == q.Host.String() && v.Coordinator.Host == q.Host.String()
}

// given is the input of a member. What an inquiry of another host asks is text of others.
func (q *Inquiries) given(v inquiries.Inquiry, input string) string {
	if q.own(v) {
		return input
	}
	return prompt.Asked(v.Coordinator.Host, input)
}

// count counts a run for an inquiry of another host. It waits until the agent's budget has room.
func (q *Inquiries) count(ctx context.Context, v inquiries.Inquiry, a configs.Agent) error {
	if q.own(v) {
		return nil
	}
	about := "runs of " + a.Name.String() + " for inquiry " + id8(v.Channel)
	for {
		q.counting.Lock()
		why, err := q.Count(a, v.Path)
		q.counting.Unlock()
		if why == "" {
			q.Wrong(about, "")
			return err
		}
		q.Wrong(about, "an inquiry of "+v.Coordinator.Host+" waits: "+why)
		select {
		case <-ctx.Done():
			q.Wrong(about, "")
			return ctx.Err()
		case <-time.After(lookAround):
		}
	}
}

// settledMember returns the fleet's policy on members: the agent or preset, and perhaps the hosts.
func (q *Inquiries) settledMember() (settled string) {
	q.Folded(func(s *fleet.State) { settled = q.settled(s, policy.KeyFrameMember) })
	return settled
}

// Lacks returns the agent or preset of which the fleet's policy has members made on this host, if
// none can be made: this host serves no such agent, and the preset's program is not installed. It
// returns "" if nothing is lacking.
func (q *Inquiries) Lacks() string {
	settled := q.settledMember()
	wanted, _, _ := strings.Cut(settled, "@")
	if wanted == "" || !isSettled(settled, wanted, q.Host) {
		return ""
	}
	if _, err := q.configOf(wanted, settled); err != nil {
		return wanted
	}
	return ""
}

// configOf is config for a member of that name, with the fleet's policy in `settled`.
func (q *Inquiries) configOf(member, settled string) (configs.Agent, error) {
	base := inquiries.MadeAfter(member)
	for _, name := range []string{member, base} {
		if a, ok := q.served(name); ok {
			if a.Paused {
				return a, fmt.Errorf("%s is paused on %s", name, q.Host)
			}
			return a, nil
		}
	}
	p, err := configs.FindPreset(base)
	if err != nil || !isSettled(settled, base, q.Host) {
		return configs.Agent{}, fmt.Errorf("%s serves no agent %s with a command", q.Host, base)
	}
	if _, err := exec.LookPath(p.Program); err != nil {
		return configs.Agent{}, fmt.Errorf("%s is not installed on %s: %w", p.Program, q.Host, err)
	}
	return configs.Agent{
		Name: protocol.Name(base), Door: configs.DoorExec, Input: p.Input, Preset: p.Name, Env: p.Env,
		Tiers: []configs.Tier{{Name: "default", Count: 1, Exec: p.Exec}},
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
	if p.Exec != a.Tiers[0].Exec {
		p.Resume = ""
	}
	return p
}

// material is where the material of an inquiry lies on this host.
func (q *Inquiries) material(ctx context.Context, v inquiries.Inquiry) (string, error) {
	in, mine := v.Opening.In, v.By.Host == q.Host.String()
	if !mine && staysThere(v.Opening) {
		return "", fmt.Errorf("%s is a folder of %s, and only that host can investigate it", in, v.By.Host)
	}
	a := place.Ask{In: in, Home: q.Home}
	if byAgent(v.Opening) {
		by, err := q.reader(v.By.Name)
		if err != nil {
			return "", err
		}
		a.By = by
	}
	dir, err := place.Fetch(ctx, q.Places, a, v.Opening.Snapshot)
	if err != nil && !mine { // the record would tell others what there is here, and there
		q.Log.Warn().Err(err).Str("inquiry", id8(v.Channel)).Msg("what is investigated cannot be had here")
		return "", fmt.Errorf("%s cannot get what is investigated; its log says why", q.Host)
	}
	return dir, err
}

// staysThere reports whether what is investigated can be investigated only on the host where the
// inquiry began: a folder, or what an agent names. Otherwise another host's question would have this
// host copy a folder of its own that has the same name, or clone for an agent with its operator's
// sign-in.
func staysThere(o protocol.InquiryOpening) bool {
	return o.In != "" && (place.IsFolder(o.In) || byAgent(o))
}

// byAgent reports whether an agent began the inquiry.
func byAgent(o protocol.InquiryOpening) bool { return len(o.Humans) > 0 }

// reader is how an agent of this host may have something read for it.
func (q *Inquiries) reader(agent string) (*place.Reader, error) {
	for _, a := range q.Agents() {
		if a.Name.String() != agent {
			continue
		}
		r := &place.Reader{Dir: a.Dir}
		if a.RunAs == "" {
			return r, nil
		}
		user, err := q.Owner(a)
		r.User = user
		return r, err
	}
	return &place.Reader{}, nil // an agent that is not served has no folder
}

// place is where a member of this host works.
func (q *Inquiries) place(ctx context.Context, v inquiries.Inquiry, m *inquiries.Member, agent configs.Agent) (place.Place, error) {
	spec := place.Spec{Base: q.Places, Inquiry: v.Channel, Perspective: m.Perspective, Login: preset(agent).Login}
	if agent.RunAs != "" {
		owner, err := q.Owner(agent)
		if err != nil {
			return place.Place{}, err
		}
		spec.Owner, spec.Base = owner, place.OfOwners(q.Places)
	}
	if v.Opening.In != "" {
		spec.Material = func() (string, error) { return q.material(ctx, v) }
	}
	defer q.hold()()
	return place.Make(spec)
}

// clear removes what the members of an inquiry worked with. It also removes copies of material that
// no inquiry needs any more.
func (q *Inquiries) clear(inquiry protocol.ChannelID) error {
	q.tidy()
	return errors.Join(place.Remove(q.Places, inquiry), place.Remove(place.OfOwners(q.Places), inquiry))
}

// tell tells the result of a member of this host, once all have ended.
func (q *Inquiries) tell(ctx context.Context, v inquiries.Inquiry, c inquiries.Call) error {
	k, ok, err := q.spool.read(v.Channel, c.Perspective, c.Attempt)
	switch {
	case err != nil:
		return err
	case !ok || k.Outcome != protocol.SignalCompleted:
		return fmt.Errorf("cannot tell what %q has found: it is not in this host's spool any more", c.Perspective)
	}
	return q.says(ctx, v, c, func(a inquiries.Actor) error {
		_, err := q.Do(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(a.Me), Because: v.Path}, a.Reveal(v.Channel, c.Perspective, k.Result))
		return err
	})
}

// converse has a member say its next words in a dialogue. The member's session goes on if it is on
// this host and its program can do that. Else the program is given the member's prompt and result
// again (R52).
func (q *Inquiries) converse(ctx context.Context, v inquiries.Inquiry, c inquiries.Call) error {
	m := v.Member(c.Perspective)
	agent, err := q.config(v, m)
	if err != nil {
		return err
	}
	at, err := q.place(ctx, v, m, agent)
	if err != nil {
		return err
	}
	_, here, err := q.spool.read(v.Channel, m.Perspective, m.Attempt)
	if err != nil {
		return err
	}
	resume := ""
	if here {
		resume = preset(agent).Resume
	}
	return q.ask(ctx, v, c, calls.Surroundings{Alone: resume == ""}, func(input string) (door.Result, error) {
		if err := q.count(ctx, v, agent); err != nil {
			return door.Result{}, err
		}
		return q.Member(ctx, agent, MemberRun{Place: at, Walls: q.Walls(ctx, agent), Input: q.given(v, input), Resume: resume}), nil
	})
}

// candidates returns the agents that could be members. `made` are the members that are made if none
// of those agents fits. They are as many as there are perspectives without a member, and they are
// distributed over the hosts in turn. It is asked while the state is read.
func (q *Inquiries) candidates(s *fleet.State, v inquiries.Inquiry) (all []calls.Candidate, made []protocol.Address) {
	bases, all := q.makers(s, v)
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

// elsewhere returns the member to start at a further attempt. That is an agent on another host, if
// the host of the last attempt is gone or the attempt has failed, and there is such an agent. It is
// asked while the state is read.
func (q *Inquiries) elsewhere(s *fleet.State, v inquiries.Inquiry, m *inquiries.Member) protocol.Address {
	if m == nil || m.Attempt == 1 || v.Carried(m.Perspective) != "" && q.isThere(m.Agent.Host) {
		return protocol.Address{}
	}
	bases, all := q.makers(s, v)
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
func (q *Inquiries) isThere(host string) bool {
	_, live := q.Seen(protocol.Name(host))
	return live || host == q.Host.String()
}

// makers returns the agents and presets after which members can be made, host by host, and the
// agents whose profiles say what they are for. At first it takes only hosts that are there. If none
// of them could investigate, it takes also hosts of which nothing was heard: git alone may bring
// what they say. A host that lacks the program is taken only if there is nobody else: the failure
// of its member says what is missing. makers is asked while the state is read.
func (q *Inquiries) makers(s *fleet.State, v inquiries.Inquiry) (bases []protocol.Address, all []calls.Candidate) {
	for _, unheard := range []bool{false, true} {
		var lacking []protocol.Address
		for _, h := range s.Keys().Hosts() {
			last, _ := q.Seen(h.Alias)
			there := q.isThere(h.Alias.String()) || unheard && last.IsZero()
			if !h.Joined() || h.Out() || !there || h.Alias != q.Host && staysThere(v.Opening) {
				continue
			}
			ofHost, fit := q.makersOf(s, v, h)
			fit = slices.DeleteFunc(fit, func(c calls.Candidate) bool { return !v.MayReceive(c.Agent, false) })
			for _, base := range ofHost {
				if !v.MayReceive(base, false) {
					continue
				}
				if q.isLackedBy(s, h.Alias, base.Name) {
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

// receivers are all who could be given what an inquiry investigates, wherever they are now: the
// coordinator, agents, and what members can be made after. It is asked while the state is read.
func (q *Inquiries) receivers(s *fleet.State, v inquiries.Inquiry) []string {
	all := []string{v.Coordinator.String()}
	for _, h := range s.Keys().Hosts() {
		if !h.Joined() || h.Out() || h.Alias != q.Host && staysThere(v.Opening) {
			continue
		}
		bases, fit := q.makersOf(s, v, h)
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

// isLackedBy reports whether a host is known to have no agent or program `name` for members. It is
// asked while the state is read.
func (q *Inquiries) isLackedBy(s *fleet.State, host protocol.Name, name string) bool {
	if host == q.Host {
		_, err := q.configOf(name, q.settled(s, policy.KeyFrameMember))
		return err != nil
	}
	return q.LackedBy(host) == name
}

// makersOf returns what makers returns, of one host. Members are made after the agents that the
// inquiry names, or else after what the fleet's policy says.
func (q *Inquiries) makersOf(s *fleet.State, v inquiries.Inquiry, h *keys.Host) (bases []protocol.Address, all []calls.Candidate) {
	for _, a := range h.Agents {
		address := protocol.Address{Name: a.Name.String(), Host: h.Alias.String()}
		if address == v.Coordinator || len(a.Tiers) == 0 || a.Tiers[0].Name == protocol.InboxTier {
			continue
		}
		named := slices.Contains(v.Opening.Agents, address.Name) || slices.Contains(v.Opening.Agents, address.String())
		if named {
			bases = append(bases, address)
		}
		if about := q.about(s, a.Name.String()); about != "" && (named || len(v.Opening.Agents) == 0) {
			all = append(all, calls.Candidate{Agent: address, About: about})
		}
	}
	settled := q.settled(s, policy.KeyFrameMember)
	if wanted, _, _ := strings.Cut(settled, "@"); len(v.Opening.Agents) == 0 && wanted != "" && isSettled(settled, wanted, h.Alias) {
		bases = append(bases, protocol.Address{Name: wanted, Host: h.Alias.String()})
	}
	return bases, all
}

// about is what an agent's profile says about its purpose, in one line: text of others. It is asked
// while the state is read.
func (q *Inquiries) about(s *fleet.State, agent string) string {
	name := agent
	if a, ok := q.served(agent); ok {
		name = cmp.Or(agents.ProfileName(a), agent)
	}
	paths := s.Profiles.Called(name)
	if len(paths) == 0 {
		return ""
	}
	actor, _ := s.Profiles.At(paths[0])
	return strings.Join(strings.Fields(cmp.Or(actor.Description, actor.Domain)), " ")
}

// deeper is the input of a member that investigates once more. It carries over what the member
// found before, and the record says that it does (F77).
func deeper(input, before string) string {
	return input + "\nYou have investigated this before. What you found then stands below; go deeper, and give a whole new answer in the same form.\n\n" + before + "\n"
}
