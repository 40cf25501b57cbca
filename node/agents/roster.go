package agents

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
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

// Remove takes an agent out of those that are served.
func (r *Roster) Remove(name protocol.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents = slices.DeleteFunc(slices.Clone(r.agents), func(a configs.Agent) bool { return a.Name == name })
}

// find is the agent of that name.
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
	var names []protocol.Name
	for _, a := range r.All() {
		names = append(names, a.Name)
	}
	return names
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
