package serving

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// profiles knows which actor profiles are the operator's word (R73). Everybody who may push can
// write a profile into the record. So the node keeps each profile that the operator has written here
// or accepted, and an agent is given that one. Another profile of the record is text of others.
type profiles struct {
	*Options
	program map[string]bool // the hashes of those that come with this program

	accepting sync.Mutex // held by accept alone, so that the files and `accepted` say the same
	writing   sync.Mutex // held from the decision about a file until it is written

	mu       sync.Mutex                // guards what follows; `of` takes it while the state is read
	accepted map[string]protocol.Actor // by name
}

// openProfiles reads what was accepted before.
func openProfiles(o *Options) *profiles {
	p := &profiles{Options: o, program: map[string]bool{}}
	for path, data := range books.FirstCommit(o.Config) {
		if local, is := protocol.IsActorPath(path); is && !local {
			p.program[protocol.Hash(data)] = true
		}
	}
	var err error
	if p.accepted, err = configs.ReadProfiles(o.Home.Profiles()); err != nil {
		o.Log.Warn().Err(err).Msg("not all accepted profiles can be read")
	}
	return p
}

// accept keeps a file as the operator's word; without bytes, it takes that word back.
func (p *profiles) accept(name protocol.Name, file []byte) error {
	a, err := protocol.ParseActor(file)
	if err != nil && len(file) > 0 {
		return err
	}
	p.accepting.Lock()
	defer p.accepting.Unlock()
	if err := configs.AcceptProfile(p.Home.Profiles(), name, file); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if delete(p.accepted, name.String()); len(file) > 0 {
		p.accepted[name.String()] = a
	}
	return nil
}

// standing is the profile of a name, and how far it is believed.
type standing struct {
	state    control.ProfileState
	accepted protocol.Actor // what counts, of profiles that are accepted, changed or gone
	recorded protocol.Actor // what the record says, unless it is gone, or there are two
	path     string         // of `recorded`
	paths    []string       // all of that name
}

// of is the profile of a name. It is asked while the state is read.
func (p *profiles) of(s *fleet.State, name string) (st standing) {
	p.mu.Lock()
	accepted, kept := p.accepted[name]
	p.mu.Unlock()
	st.paths = s.Profiles.Called(name)
	for i, path := range st.paths {
		a, _ := s.Profiles.At(path)
		if i == 0 {
			st.recorded, st.path = a, path
		}
		if kept && a.Hash == accepted.Hash || !kept && p.program[a.Hash] && len(st.paths) == 1 {
			st.recorded, st.path, st.accepted, st.state = a, path, a, control.ProfileAccepted
			return st
		}
	}
	switch {
	case kept && len(st.paths) == 0:
		st.accepted, st.state = accepted, control.ProfileGone
	case kept:
		st.accepted, st.state = accepted, control.ProfileChanged
	case len(st.paths) > 1:
		st.recorded, st.path, st.state = protocol.Actor{}, "", control.ProfileTwo
	case len(st.paths) == 1:
		st.state = control.ProfileUnaccepted
	}
	return st
}

// given are the profile that an agent is given as the operator's word, and the one that it is given
// as text of others; nil if there is none. An agent that accepts verified text gets none of the
// latter. Nobody can say which of two profiles is meant, so neither is given: to wait for that would
// let everybody who may push stop every agent.
func (st standing) given(a configs.Agent) (believed, others *protocol.Actor) {
	switch st.state {
	case control.ProfileAccepted, control.ProfileChanged, control.ProfileGone:
		return &st.accepted, nil
	case control.ProfileUnaccepted:
		if a.Accepts != configs.AcceptVerified {
			return nil, &st.recorded
		}
	}
	return nil, nil
}

// ofAgent is the profile of an agent; the zero value if it has none, or is never given it.
func (p *profiles) ofAgent(s *fleet.State, a configs.Agent) standing {
	if a.Input != configs.InputPrompt && a.Open == "" {
		return standing{}
	}
	return p.of(s, agents.ProfileName(a))
}

// warnings say which agents have a profile in the record that is not the operator's word, and what
// to do.
func (p *profiles) warnings(s *fleet.State, served []configs.Agent) (all []string) {
	for _, a := range served {
		st, name := p.ofAgent(s, a), agents.ProfileName(a)
		accept := "read it: parley agent profile " + name + "; then let it count: parley agent profile accept " + name
		switch st.state {
		case control.ProfileUnaccepted:
			what := "is given to it in a fence, as text of others"
			if a.Accepts == configs.AcceptVerified {
				what = "is left out of its prompts"
			}
			all = append(all, fmt.Sprintf("the profile of %s, %s, %s: everybody who may push can write it, and nobody has accepted it here; %s",
				a.Name, visible.Line(st.path), what, accept))
		case control.ProfileChanged:
			all = append(all, fmt.Sprintf("the profile of %s in the record is another one than was accepted here, which still counts; %s", a.Name, accept))
		case control.ProfileGone:
			all = append(all, fmt.Sprintf("the record has no profile %s any more; %s keeps the one that was accepted here; to do without: parley agent profile accept %s", name, a.Name, name))
		case control.ProfileTwo:
			all = append(all, fmt.Sprintf("%s is given no profile: two actor profiles are called %q: %s; everybody who may push can write them; rename or remove one in a clone and push, or choose one: parley agent profile accept %s --path %s",
				a.Name, name, visible.Line(strings.Join(st.paths[:2], " and ")), name, visible.Shell(st.paths[0])))
		}
	}
	return slices.Compact(all)
}

// profileText says how far a profile is believed, and what helps.
func profileText(state control.ProfileState, name string) string {
	accept := "parley agent profile accept " + name
	return cmp.Or(map[control.ProfileState]string{
		control.ProfileUnaccepted: "not accepted here, so it is text of others: " + accept,
		control.ProfileChanged:    "accepted here; the record has another one: " + accept,
		control.ProfileGone:       "accepted here; the record has it no more: " + accept,
		control.ProfileTwo:        "several have that name: " + accept + " --path FILE",
	}[state], string(state))
}
