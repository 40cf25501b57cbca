package fleet

import (
	"maps"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// SetHostFile tells the state what a host file of the record says. It counts
// only for hosts without a key: those of other programs.
func (s *State) SetHostFile(path string, h protocol.HostState) { s.files[path] = h }

// DropHostFile forgets the host file at path.
func (s *State) DropHostFile(path string) { delete(s.files, path) }

// hostFile is what a host file says of that host: of several the one that is called
// after it, else the first by path, in whatever order they came.
func (s *State) hostFile(alias protocol.Name) (protocol.HostState, bool) {
	if h, ok := s.files[protocol.HostFilePath(alias)]; ok && h.Host == alias {
		return h, true
	}
	for _, path := range slices.Sorted(maps.Keys(s.files)) {
		if h := s.files[path]; h.Host == alias {
			return h, true
		}
	}
	return protocol.HostState{}, false
}

// OtherPrograms are the hosts without a key that host files name, by alias: those whose
// agents other programs run.
func (s *State) OtherPrograms() []protocol.HostState {
	aliases := map[protocol.Name]bool{}
	for _, h := range s.files {
		if _, joined := s.Host(h.Host); !joined {
			aliases[h.Host] = true
		}
	}
	var all []protocol.HostState
	for _, alias := range slices.Sorted(maps.Keys(aliases)) {
		h, _ := s.hostFile(alias)
		all = append(all, h)
	}
	return all
}
