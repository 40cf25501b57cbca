package people

import (
	"cmp"
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// SetHostFile takes in what a host file of the record says. It counts only for hosts without a key,
// which are those of other programs.
func (d *Directory) SetHostFile(path string, h protocol.HostState) { d.files[path] = h }

// DropHostFile forgets the host file at path.
func (d *Directory) DropHostFile(path string) { delete(d.files, path) }

// hostFile is what a host file says of that host.
func (d *Directory) hostFile(alias protocol.Name) (protocol.HostState, bool) {
	h, ok := d.files[d.hostFiles()[alias]]
	return h, ok
}

// hostFiles are the paths of the files that count, by alias. If there are several for one host, the
// one that is called after the host counts, else the first by path. The order in which they came
// does not matter.
func (d *Directory) hostFiles() map[protocol.Name]string {
	counts := map[protocol.Name]string{}
	for path, h := range d.files {
		other, several := counts[h.Host]
		if named := protocol.HostFilePath(h.Host); !several || path == named || path < other && other != named {
			counts[h.Host] = path
		}
	}
	return counts
}

// OtherPrograms are the hosts without a key that host files name, by alias. Other programs run
// their agents.
func (d *Directory) OtherPrograms() []protocol.HostState {
	var all []protocol.HostState
	for alias, path := range d.hostFiles() {
		if _, joined := d.ring().Host(alias); !joined {
			all = append(all, d.files[path])
		}
	}
	slices.SortFunc(all, func(a, b protocol.HostState) int { return cmp.Compare(a.Host, b.Host) })
	return all
}
