package fleet

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/protocol"
)

// words is what hosts have said of themselves and of each other: every signed word,
// whichever file won its path. A stranger who claims the path of a host's word
// cannot unsay it, and who wins can be decided by the keys alone.
type words struct {
	joins       map[protocol.Name][]*Item // by timestamp
	agents      map[protocol.Name][]*Item // these and the others in the order of their paths
	vouches     map[signer][]*Item
	named       map[protocol.Name]bool // the hosts that anybody has vouched for
	rotations   map[signer][]*Item
	rotated     map[protocol.HostKey][]*Item // the rotations by the key that they name
	revocations map[signer][]*Item
}

func newWords() words {
	return words{
		joins: map[protocol.Name][]*Item{}, agents: map[protocol.Name][]*Item{},
		vouches: map[signer][]*Item{}, named: map[protocol.Name]bool{}, rotations: map[signer][]*Item{}, rotated: map[protocol.HostKey][]*Item{}, revocations: map[signer][]*Item{},
	}
}

// add keeps a word.
func (w *words) add(it *Item) {
	who := signer{it.Host, it.Key}
	switch it.Act {
	case protocol.ActHostJoin:
		w.joins[it.Host] = inserted(w.joins[it.Host], it, byTimestamp)
	case protocol.ActHostAgents:
		w.agents[it.Host] = inserted(w.agents[it.Host], it, byPath)
	case protocol.ActHostVouch:
		w.vouches[who] = inserted(w.vouches[who], it, byPath)
		for _, k := range it.word.(protocol.Vouch).Knows {
			w.named[k.Host] = true
		}
	case protocol.ActHostRotate:
		w.rotations[who] = inserted(w.rotations[who], it, byPath)
		named := protocol.HostKey{Host: it.Host, Key: it.word.(protocol.Rotation).Key}
		w.rotated[named] = inserted(w.rotated[named], it, byPath)
	case protocol.ActHostRevoke:
		w.revocations[who] = inserted(w.revocations[who], it, byPath)
	}
}

// all are the words in no order.
func (w *words) all() []*Item {
	var all []*Item
	for _, of := range []map[protocol.Name][]*Item{w.joins, w.agents} {
		for _, list := range of {
			all = append(all, list...)
		}
	}
	for _, of := range []map[signer][]*Item{w.vouches, w.rotations, w.revocations} {
		for _, list := range of {
			all = append(all, list...)
		}
	}
	return all
}

func inserted(list []*Item, it *Item, order func(a, b *Item) int) []*Item {
	i, _ := slices.BinarySearchFunc(list, it, order)
	return slices.Insert(list, i, it)
}

// byTimestamp orders joins by what stands in them alone. Their place would depend
// on which of other contested files count, and that on the keys which the joins
// decide.
func byTimestamp(a, b *Item) int { return cmp.Or(a.Timestamp.Compare(b.Timestamp), byPath(a, b)) }

// byPath is the order in which one host wrote: its paths strictly rise.
func byPath(a, b *Item) int { return cmp.Or(a.Path.Compare(b.Path), strings.Compare(a.Hash, b.Hash)) }

// readHostAct parses what a message of the system channel says of a host. Only a
// host's own signed word counts; anything else there is mail.
func (s *State) readHostAct(it *Item) error {
	act := it.Act
	if !act.HostWord() {
		return nil
	}
	if !it.sealed || it.Path.Channel() != s.system || it.Type != protocol.TypeText {
		it.Act = protocol.ActHey
		return nil
	}
	w, err := protocol.ParseHostWord(act, it.Body)
	if err != nil {
		return fmt.Errorf("the %s is malformed: %w", act, err)
	}
	if h, says := w.(protocol.HostState); w.Speaker() != it.Host || says && act == protocol.ActHostJoin && h.Key != it.Key {
		return &RefusedError{fmt.Errorf("the %s speaks for another host or key than it is signed by", act)}
	}
	if r, rotates := w.(protocol.Rotation); rotates {
		if err := r.Check(s.recordID, it.Key); err != nil {
			return &RefusedError{fmt.Errorf("the %s does not hold: %w", act, err)}
		}
	}
	it.word = w
	return nil
}
