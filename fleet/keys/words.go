package keys

import (
	"slices"

	"github.com/parleyfleet/parley/protocol"
)

// words is what hosts have said of themselves and of each other: every signed word, whether its
// file won its path or not. So a stranger who claims the path of a host's word cannot make it
// unsaid, and keys alone can decide which file wins.
type words struct {
	joins       map[protocol.Name][]*File // by timestamp
	agents      map[protocol.Name][]*File // these and those below, in the order of their paths
	vouches     map[Signer][]*File
	named       map[protocol.Name]bool // the hosts for which anybody has vouched
	rotations   map[Signer][]*File
	rotated     map[protocol.HostKey][]*File // the rotations, by the key that they introduce
	revocations map[Signer][]*File
	humans      map[protocol.Name][]*File // what a host says of the keys of its humans
}

func newWords() words {
	return words{
		joins: map[protocol.Name][]*File{}, agents: map[protocol.Name][]*File{},
		vouches: map[Signer][]*File{}, named: map[protocol.Name]bool{}, rotations: map[Signer][]*File{}, rotated: map[protocol.HostKey][]*File{}, revocations: map[Signer][]*File{},
		humans: map[protocol.Name][]*File{},
	}
}

func (w *words) add(it *File) {
	who := it.Signer()
	switch it.Act {
	case protocol.ActHostJoin:
		w.joins[it.Host] = inserted(w.joins[it.Host], it, byTimestamp)
	case protocol.ActHostAgents:
		w.agents[it.Host] = inserted(w.agents[it.Host], it, ByPath)
	case protocol.ActHostVouch:
		w.vouches[who] = inserted(w.vouches[who], it, ByPath)
		for _, k := range it.Word.(protocol.Vouch).Knows {
			w.named[k.Host] = true
		}
	case protocol.ActHostRotate:
		w.rotations[who] = inserted(w.rotations[who], it, ByPath)
		named := protocol.HostKey{Host: it.Host, Key: it.Word.(protocol.Rotation).Key}
		w.rotated[named] = inserted(w.rotated[named], it, ByPath)
	case protocol.ActHostRevoke:
		w.revocations[who] = inserted(w.revocations[who], it, ByPath)
	case protocol.ActHumanKey:
		w.humans[it.Host] = inserted(w.humans[it.Host], it, ByPath)
	case protocol.ActHumanRevoke:
		of := it.Word.(protocol.HumanEnd).Of
		w.humans[of] = inserted(w.humans[of], it, ByPath)
	}
}

func (w *words) all() []*File {
	var all []*File
	for _, of := range []map[protocol.Name][]*File{w.joins, w.agents, w.humans} {
		for _, list := range of {
			all = append(all, list...)
		}
	}
	for _, of := range []map[Signer][]*File{w.vouches, w.rotations, w.revocations} {
		for _, list := range of {
			all = append(all, list...)
		}
	}
	return all
}

func inserted(list []*File, it *File, order func(a, b *File) int) []*File {
	i, _ := slices.BinarySearchFunc(list, it, order)
	return slices.Insert(list, i, it)
}
