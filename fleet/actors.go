package fleet

import (
	"fmt"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// SetActor tells the state of an actor profile at a path of the record.
func (s *State) SetActor(path string, a protocol.Actor) { s.actors[path] = a }

// DropActor forgets the profile at path.
func (s *State) DropActor(path string) { delete(s.actors, path) }

// Profile is the actor profile of that name and its path: the fleet's own stands
// before the one that comes with the program.
func (s *State) Profile(name string) (a protocol.Actor, path string, ok bool) {
	for _, path := range s.actorPaths() {
		if s.actors[path].Name == name {
			return s.actors[path], path, true
		}
	}
	return protocol.Actor{}, "", false
}

// Profiles are the names that have a profile, sorted.
func (s *State) Profiles() []string {
	var names []string
	for _, a := range s.actors {
		names = append(names, a.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// ProfileClash says which two profiles of the same folder have one name. While
// there are such, no agent is run: nobody could say who it is (Crosstalk,
// "Managing actors").
func (s *State) ProfileClash() error {
	type key struct {
		local bool
		name  string
	}
	first := map[key]string{}
	for _, path := range s.actorPaths() {
		local, _ := protocol.IsActorPath(path)
		k := key{local, s.actors[path].Name}
		if other, taken := first[k]; taken {
			return fmt.Errorf("two actor profiles are called %q: %s and %s", k.name, other, path)
		}
		first[k] = path
	}
	return nil
}

// actorPaths are the paths of the profiles, the fleet's own first.
func (s *State) actorPaths() []string {
	var paths []string
	for path := range s.actors {
		paths = append(paths, path)
	}
	slices.Sort(paths) // "local/…" sorts before "upstream/…"
	return paths
}
