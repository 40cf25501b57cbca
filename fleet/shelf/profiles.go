package shelf

import (
	"maps"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/protocol"
)

// Profiles are the actor profiles of a record, by path.
type Profiles struct{ at map[string]protocol.Actor }

// NewProfiles are the profiles of a record before its first one.
func NewProfiles() *Profiles {
	return &Profiles{map[string]protocol.Actor{}}
}

// Set takes in an actor profile at a path of the record.
func (p *Profiles) Set(path string, a protocol.Actor) { p.at[path] = a }

// Drop forgets the profile at path.
func (p *Profiles) Drop(path string) { delete(p.at, path) }

// At is the profile at path.
func (p *Profiles) At(path string) (a protocol.Actor, ok bool) {
	a, ok = p.at[path]
	return a, ok
}

// Called are the paths of the profiles with that name. The fleet's own take precedence over those
// that come with the program. Two mean that nobody can say which one counts (Crosstalk, "Managing
// actors").
func (p *Profiles) Called(name string) (paths []string) {
	for _, path := range slices.Sorted(maps.Keys(p.at)) { // "local/…" sorts before "upstream/…"
		if p.at[path].Name != name {
			continue
		}
		if own, _ := protocol.IsActorPath(path); !own && len(paths) > 0 && strings.HasPrefix(paths[0], protocol.LocalActorsDir) {
			break
		}
		paths = append(paths, path)
	}
	return paths
}

// Names are the names that have a profile, sorted.
func (p *Profiles) Names() []string {
	names := each.Of(slices.Collect(maps.Values(p.at)), func(a protocol.Actor) string { return a.Name })
	slices.Sort(names)
	return slices.Compact(names)
}
