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
	// Serving is held while somebody changes them, here and in the home.
	Serving sync.Mutex

	mu     sync.Mutex                  // guards what follows
	agents []configs.Agent             // by name; another slice after every change
	asked  map[protocol.Name]time.Time // when those with an inbox last asked for their mail
}

// All are the agents, by name. Nobody changes what it returns.
func (r *Roster) All() []configs.Agent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agents
}

// Set has these agents be served.
func (r *Roster) Set(agents []configs.Agent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents = agents
}

// Put has an agent be served as it is now.
func (r *Roster) Put(a configs.Agent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	others := slices.DeleteFunc(slices.Clone(r.agents), func(b configs.Agent) bool { return b.Name == a.Name })
	r.agents = append(others, a)
	slices.SortFunc(r.agents, func(a, b configs.Agent) int { return cmp.Compare(a.Name, b.Name) })
}

// Remove has an agent be served no more.
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

// Get is the agent of that name, or says that it is not served here.
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

// Since says since when an agent is served here.
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

// Door is by which door an agent served here gets its mail, "" for everybody else.
func (r *Roster) Door(name string) string {
	a, _ := r.find(name)
	return a.Door
}

// Asks remembers when an agent with an inbox asked for its mail: nothing else tells
// whether anybody is there. It is gone with the process.
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

// Describe says of an agent served here by which door it gets its mail, and when it
// last asked for it.
func (r *Roster) Describe(p *control.Participant) {
	if p.Door = r.Door(p.Name.String()); p.Door == configs.DoorInbox {
		p.Asked = r.Asked(p.Name).UTC()
	}
}

// Asked is when an agent with an inbox last asked for its mail, zero for not yet.
func (r *Roster) Asked(name protocol.Name) time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.asked[name]
}
