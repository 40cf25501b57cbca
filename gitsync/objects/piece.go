package objects

import (
	"slices"
	"strings"
)

// PieceTogether makes one tree, readable to its last folder, of several versions of it. The first
// versions, as many as unordered says, are in no known order. The others follow, the newest
// first. Where a folder of the newest version cannot be read, its newest readable version takes
// its place. Nothing is ever removed below a path that grows reports. There, what older versions
// have besides is taken in as well. With known, the first version has all that the others had.
// They are read only where one of its folders cannot be. lost is called with each folder whose
// newest version cannot be read. ok is false where no version of the tree can be.
func (v *Survey) PieceTogether(
	versions []Hash, unordered int, known bool, grows func(path string) bool, lost func(path string), b *Builder,
) (tree Hash, ok bool) {
	p := piecing{survey: v, grows: grows, lost: lost, builder: b}
	return p.folder("", versions, unordered, known, 0)
}

// enough is how many versions of a folder without folders are looked at, besides those in
// no order. Each holds what those before it held, but for what hosts wrote at the same
// time.
const enough = 8

type piecing struct {
	survey  *Survey
	grows   func(path string) bool
	lost    func(path string)
	builder *Builder
}

func (p *piecing) folder(prefix string, versions []Hash, unordered int, known bool, depth int) (Hash, bool) {
	if len(versions) > 0 && (known || len(versions) == 1) && p.survey.Folders(versions[0]) {
		return versions[0], true
	}
	var entries []Entry
	below := map[string][]Hash{}       // versions of each folder in this one, as these are
	unorderedBelow := map[string]int{} // how many of them are in no order
	readable, inOrder := 0, 0
	for i, version := range versions {
		if inOrder >= enough && len(below) == 0 {
			break
		}
		old, ok := p.survey.folder(version)
		if !ok || depth > maxDepth {
			known = false
			if readable == 0 {
				p.lost(strings.TrimSuffix(prefix, "/"))
			}
			continue
		}
		readable++
		if i >= unordered {
			inOrder++
		}
		for _, e := range old {
			_, there := findEntry(entries, e.Name, e.Mode.IsDir())
			switch {
			case !there && readable > 1 && !p.grows(prefix+e.Name):
				continue
			case !there:
				i, _ := slices.BinarySearchFunc(entries, e, compareEntries)
				entries = slices.Insert(entries, i, e)
			}
			if e.Mode.IsDir() && !slices.Contains(below[e.Name], e.Hash) {
				below[e.Name] = append(below[e.Name], e.Hash)
				if i < unordered {
					unorderedBelow[e.Name]++
				}
			}
		}
	}
	if readable == 0 {
		return Zero, false
	}
	var whole []Entry
	for _, e := range entries {
		if e.Mode.IsDir() {
			tree, ok := p.folder(prefix+e.Name+"/", below[e.Name], unorderedBelow[e.Name], known, depth+1)
			if !ok {
				continue
			}
			e.Hash = tree
		}
		whole = append(whole, e)
	}
	if len(whole) == 0 && prefix != "" {
		return Zero, false
	}
	return p.builder.tree(p.survey.store.Trees.cache, Zero, whole), true
}
