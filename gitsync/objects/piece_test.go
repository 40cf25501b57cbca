package objects

import (
	"fmt"
	"testing"
)

// A folder may have many versions without a commit. Then nobody knows which one is the newest. It
// prevents that readable messages are left out of a record that is put together, because only the
// first few versions are looked at.
func TestPieceTogetherLooksAtAllWithoutOrder(t *testing.T) {
	const many = 3 * enough
	s := newStore(t)
	var b Builder
	var versions []Hash
	tree := Zero
	for i := range many {
		var err error
		path := fmt.Sprintf("data/channels/c/2026/%02d.md", i)
		if tree, err = s.Update(tree, map[string]Change{path: {Hash: b.Blob([]byte(path))}}, &b); err != nil {
			t.Fatal(err)
		}
		install(t, s, &b)
		b = Builder{}
		versions = append(versions, tree)
	}
	nowhere := func(path string) { t.Errorf("%s is said to be lost", path) }
	all := func(string) bool { return true }
	for _, ordered := range []int{0, 1} { // so many versions at the end are in order
		made, ok := s.Survey(t.Context(), nil).PieceTogether(versions, many-ordered, false, all, nowhere, &b)
		if !ok {
			t.Fatal("nothing is made")
		}
		install(t, s, &b)
		b = Builder{}
		if made != tree {
			t.Errorf("%d in order: made %s, want %s", ordered, made, tree)
		}
	}
}
