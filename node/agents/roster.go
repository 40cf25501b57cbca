package agents

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// Roster is the agents that are served here.
type Roster struct {
	// Serving is held while somebody changes the agents, here and in the home.
	Serving sync.Mutex

	mu     sync.Mutex                  // guards what follows
	agents []configs.Agent             // by name; each change makes a new slice
	asked  map[protocol.Name]time.Time // when agents with an inbox last asked for their mail
	unsaid map[protocol.Name]bool      // sessions of agent programs of which the fleet was not told
}

// All are the agents, by name. Nobody may change the result.
func (r *Roster) All() []configs.Agent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agents
}

// Set replaces the agents that are served.
func (r *Roster) Set(agents []configs.Agent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents = agents
}

// Put adds an agent, or replaces the one with its name.
func (r *Roster) Put(a configs.Agent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	others := slices.DeleteFunc(slices.Clone(r.agents), func(b configs.Agent) bool { return b.Name == a.Name })
	r.agents = append(others, a)
	slices.SortFunc(r.agents, func(a, b configs.Agent) int { return cmp.Compare(a.Name, b.Name) })
}

// PutSession is Put for a session of an agent program. `declared` says that the fleet is told of
// it: until somebody writes to it or it writes, that is not so (R68).
func (r *Roster) PutSession(a configs.Agent, declared bool) {
	r.Put(a)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.unsaid == nil {
		r.unsaid = map[protocol.Name]bool{}
	}
	r.unsaid[a.Name] = !declared
}

// Added returns an error for an agent that the operator did not add: it is not served here, or it is
// a session of an agent program, whose name is not in the home's files.
func (r *Roster) Added(name string) error {
	if !r.Serves(name) {
		return NotServed(name)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, session := r.unsaid[protocol.Name(name)]; session {
		return control.Errorf(control.KindRefused, "see: parley session --help", "%s is a session of an agent program, and nobody added it", name)
	}
	return nil
}

// Declared are the agents of which the fleet is told.
func (r *Roster) Declared() []configs.Agent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.agents), func(a configs.Agent) bool { return r.unsaid[a.Name] })
}

// Unsaid are the sessions of agent programs of which the fleet was not told.
func (r *Roster) Unsaid() (names []protocol.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range r.agents {
		if r.unsaid[a.Name] {
			names = append(names, a.Name)
		}
	}
	return names
}

// Remove takes an agent out of those that are served.
func (r *Roster) Remove(name protocol.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents = slices.DeleteFunc(slices.Clone(r.agents), func(a configs.Agent) bool { return a.Name == name })
	delete(r.unsaid, name)
}

func (r *Roster) find(name string) (a configs.Agent, served bool) {
	for _, a := range r.All() {
		if a.Name.String() == name {
			return a, true
		}
	}
	return a, false
}

// Get is the agent with that name. The error says that it is not served here.
func (r *Roster) Get(name string) (configs.Agent, error) {
	a, served := r.find(name)
	if !served {
		return a, NotServed(name)
	}
	return a, nil
}

// NotServed says that no agent of that name is served here.
func NotServed(name string) error {
	return control.Errorf(control.KindNotFound, "see: parley agent list", "no agent called %q is served here", name)
}

// Serves reports whether an agent of this name is served here.
func (r *Roster) Serves(name string) bool {
	_, served := r.find(name)
	return served
}

// Since is since when an agent is served here.
func (r *Roster) Since(name protocol.Name) (since time.Time, served bool) {
	a, served := r.find(name.String())
	return a.Added, served
}

// Count is how many agents are served here.
func (r *Roster) Count() int { return len(r.All()) }

// Names are those of the agents.
func (r *Roster) Names() []protocol.Name {
	return each.Of(r.All(), func(a configs.Agent) protocol.Name { return a.Name })
}

// Door is the door by which an agent that is served here gets its mail. It is "" for everybody
// else.
func (r *Roster) Door(name string) string {
	a, _ := r.find(name)
	return a.Door
}

// Asks notes when an agent with an inbox asked for its mail: nothing else shows whether anybody is
// there. It is forgotten when the process ends.
func (r *Roster) Asks(name string, now time.Time) {
	if r.Door(name) != configs.DoorInbox {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = map[protocol.Name]time.Time{}
	}
	r.asked[protocol.Name(name)] = now
}

// Describe says, for an agent that is served here, by which door it gets its mail and when it last
// asked for it.
func (r *Roster) Describe(p *control.Participant) {
	if p.Door = r.Door(p.Name.String()); p.Door == configs.DoorInbox {
		p.Asked = r.Asked(p.Name).UTC()
	}
}

// Asked is when an agent with an inbox last asked for its mail; zero if it has not yet.
func (r *Roster) Asked(name protocol.Name) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[name]
}
