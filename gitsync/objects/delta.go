package objects

import "github.com/parleyfleet/parley/gitsync/objects/pack"

const (
	// deltaLeast is how many bytes a tree must have to be stored as a delta.
	deltaLeast = 200
	// deltaDepth bounds the length of the chains of deltas that are written. To read the tree at
	// the end of a chain, all its deltas are applied.
	deltaDepth = 64
)

// treeDelta returns the delta that git applies to the bytes of the tree old to get the bytes of
// new. The delta copies what both have and inserts the rest. Both trees are in git's order, so
// treeDelta walks through them once.
func treeDelta(old, new []Entry) []byte {
	d := pack.NewDelta(treeSize(old), treeSize(new))
	at := 0 // where old[0] begins in the bytes of the old tree
	for _, e := range new {
		for len(old) > 0 && old[0] != e && compareEntries(old[0], e) < 0 {
			at += old[0].size()
			old = old[1:]
		}
		switch {
		case len(old) == 0 || old[0].Name != e.Name || old[0].Mode != e.Mode:
			d.Insert(appendEntry(nil, e))
			continue
		case old[0].Hash == e.Hash:
			d.Copy(at, e.size())
		default:
			d.Copy(at, e.size()-pack.HashBytes)
			d.Insert(e.Hash[:])
		}
		at += e.size()
		old = old[1:]
	}
	return d.Bytes()
}
