package shelf

import (
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// Profiles are the actor profiles of a record, by path.
type Profiles struct {
	at map[string]protocol.Actor
}

// NewProfiles are the profiles of a record before its first one.
func NewProfiles() *Profiles { return &Profiles{map[string]protocol.Actor{}} }

// Set takes in an actor profile at a path of the record.
func (p *Profiles) Set(path string, a protocol.Actor) { p.at[path] = a }

// Drop forgets the profile at path.
func (p *Profiles) Drop(path string) { delete(p.at, path) }

// Of is the actor profile with that name, and its path. The fleet's own profile takes precedence
// over the one that comes with the program.
func (p *Profiles) Of(name string) (a protocol.Actor, path string, ok bool) {
	for _, path := range p.paths() {
		if p.at[path].Name == name {
			return p.at[path], path, true
		}
	}
	return protocol.Actor{}, "", false
}

// Names are the names that have a profile, sorted.
func (p *Profiles) Names() []string {
	var names []string
	for _, a := range p.at {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Clash returns an error if two profiles of the same folder have the same name. As long as there
// are two, no agent is run, because nobody could say who it is (Crosstalk, "Managing actors").
func (p *Profiles) Clash() error {
	type key struct {
		local bool
		name  string
	}
	first := map[key]string{}
	for _, path := range p.paths() {
		local, _ := protocol.IsActorPath(path)
		k := key{local, p.at[path].Name}
		if other, taken := first[k]; taken {
			return fmt.Errorf("two actor profiles are called %q: %s and %s", k.name, other, path)
		}
		first[k] = path
	}
	return nil
}

// paths are the paths of the profiles, the fleet's own first.
func (p *Profiles) paths() []string {
	var paths []string
	for path := range p.at {
		paths = append(paths, path)
	}
	slices.Sort(paths) // "local/…" sorts before "upstream/…"
	return paths
}
