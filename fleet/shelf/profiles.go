package shelf

import (
	"maps"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

// Profiles are the actor profiles of a record, by path.
type Profiles struct {
	at     map[string]protocol.Actor
	called map[string][]string // sorted paths, by name
}

// NewProfiles are the profiles of a record before its first one.
func NewProfiles() *Profiles {
	return &Profiles{at: map[string]protocol.Actor{}, called: map[string][]string{}}
}

// Set takes in an actor profile at a path of the record.
func (p *Profiles) Set(path string, a protocol.Actor) {
	p.Drop(path)
	p.at[path] = a
	p.called[a.Name] = append(p.called[a.Name], path)
	slices.Sort(p.called[a.Name])
}

// Drop forgets the profile at path.
func (p *Profiles) Drop(path string) {
	a, ok := p.at[path]
	if !ok {
		return
	}
	delete(p.at, path)
	rest := slices.DeleteFunc(p.called[a.Name], func(other string) bool { return other == path })
	if p.called[a.Name] = rest; len(rest) == 0 {
		delete(p.called, a.Name)
	}
}

// At is the profile at path.
func (p *Profiles) At(path string) (a protocol.Actor, ok bool) {
	a, ok = p.at[path]
	return a, ok
}

// Called are the paths of the profiles with that name. The fleet's own take precedence over those
// that come with the program. Two mean that nobody can say which one counts (Crosstalk, "Managing
// actors").
func (p *Profiles) Called(name string) (paths []string) {
	for _, path := range p.called[name] { // "local/…" sorts before "upstream/…"
		if own, _ := protocol.IsActorPath(path); !own && len(paths) > 0 && strings.HasPrefix(paths[0], protocol.LocalActorsDir) {
			break
		}
		paths = append(paths, path)
	}
	return paths
}

// Names are the names that have a profile, sorted.
func (p *Profiles) Names() []string { return slices.Sorted(maps.Keys(p.called)) }
