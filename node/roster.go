package node

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// roster is the agents that are served here.
type roster struct {
	serving sync.Mutex // held while somebody changes them, here and in the home

	mu     sync.Mutex                  // guards what follows
	agents []configs.Agent             // by name; another slice after every change
	asked  map[protocol.Name]time.Time // when those with an inbox last asked for their mail
}

// all are the agents, by name. Nobody changes what it returns.
func (r *roster) all() []configs.Agent {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.agents
}

// set has these agents be served.
func (r *roster) set(agents []configs.Agent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents = agents
}

// put has an agent be served as it is now.
func (r *roster) put(a configs.Agent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	others := slices.DeleteFunc(slices.Clone(r.agents), func(b configs.Agent) bool { return b.Name == a.Name })
	r.agents = append(others, a)
	slices.SortFunc(r.agents, func(a, b configs.Agent) int { return cmp.Compare(a.Name, b.Name) })
}

// remove has an agent be served no more.
func (r *roster) remove(name protocol.Name) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.agents = slices.DeleteFunc(slices.Clone(r.agents), func(a configs.Agent) bool { return a.Name == name })
}

// find is the agent of that name.
func (r *roster) find(name string) (a configs.Agent, served bool) {
	for _, a := range r.all() {
		if a.Name.String() == name {
			return a, true
		}
	}
	return a, false
}

// get is the agent of that name, or says that it is not served here.
func (r *roster) get(name string) (configs.Agent, error) {
	a, served := r.find(name)
	if !served {
		return a, errNotServed(name)
	}
	return a, nil
}

func errNotServed(name string) error {
	return control.Errorf(control.KindNotFound, "see: parley agent list", "no agent called %q is served here", name)
}

// serves reports whether an agent of this name is served here.
func (r *roster) serves(name string) bool {
	_, served := r.find(name)
	return served
}

// since says since when an agent is served here.
func (r *roster) since(name protocol.Name) (since time.Time, served bool) {
	a, served := r.find(name.String())
	return a.Added, served
}

// count is how many agents are served here.
func (r *roster) count() int { return len(r.all()) }

func (r *roster) names() []protocol.Name {
	var names []protocol.Name
	for _, a := range r.all() {
		names = append(names, a.Name)
	}
	return names
}

// door is by which door an agent served here gets its mail, "" for everybody else.
func (r *roster) door(name string) string {
	a, _ := r.find(name)
	return a.Door
}

// asks remembers when an agent with an inbox asked for its mail: nothing else tells
// whether anybody is there. It is gone with the process.
func (r *roster) asks(name string, now time.Time) {
	if r.door(name) != configs.DoorInbox {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked == nil {
		r.asked = map[protocol.Name]time.Time{}
	}
	r.asked[protocol.Name(name)] = now
}

// describe says of an agent served here by which door it gets its mail, and when it
// last asked for it.
func (r *roster) describe(p *control.Participant) {
	if p.Door = r.door(p.Name.String()); p.Door == configs.DoorInbox {
		r.mu.Lock()
		defer r.mu.Unlock()
		p.Asked = r.asked[p.Name].UTC()
	}
}
