package objects

import (
	"slices"
	"strings"
)

// PieceTogether makes one tree, readable to its last folder, of several versions of it. The first
// versions are in no known order. unordered is how many these are. The others follow, the newest
// first. If a folder of the newest version cannot be read, its newest readable version takes its
// place.
//
// grows reports whether a path is one below which nothing is ever removed. What only older versions
// have at such a path is taken in as well. known says that the first version has all that the
// others have. They are then read only if one of its folders cannot be read. PieceTogether calls
// lost with each folder whose newest version cannot be read. ok is false if no version of the tree
// can be read.
func (v *Survey) PieceTogether(
	versions []Hash, unordered int, known bool, grows func(path string) bool, lost func(path string), b *Builder,
) (tree Hash, ok bool) {
	p := piecing{survey: v, grows: grows, lost: lost, builder: b}
	return p.folder("", versions, unordered, known, 0)
}

// enough is how many of the ordered versions of a folder are read if the folder has no folders in
// it. Each version holds what the older ones held, except for what hosts wrote at the same time.
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
	below := map[string][]Hash{}       // versions of each folder in this one, in the order of versions
	seen := map[string]map[Hash]bool{} // the same, to look them up
	unorderedBelow := map[string]int{} // how many of these versions are in no order
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
			if e.Mode.IsDir() && !seen[e.Name][e.Hash] {
				if seen[e.Name] == nil {
					seen[e.Name] = map[Hash]bool{}
				}
				seen[e.Name][e.Hash] = true
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
