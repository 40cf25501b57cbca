package merge

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMergeFile(t *testing.T) {
	const base = "---\nname: a\nrole: one\nactors:\n  x: 1\n  y: 2\n  z: 3\n---\n\nfirst\n\nlast\n"
	edit := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(base) }
	for _, c := range []struct {
		name, base, first, second, want string
		clashes                         []string
	}{
		{"neighbouring fields", base, edit("name: a", "name: b"), edit("role: one", "role: two"),
			edit("name: a", "name: b", "role: one", "role: two"), nil},
		{"the same field", base, edit("role: one", "role: two"), edit("role: one", "role: three", "name: a", "name: b"),
			edit("role: one", "role: two", "name: a", "name: b"), []string{"role"}},
		{"parts of one field", base, edit("x: 1", "x: 7"), edit("z: 3", "z: 9"), edit("x: 1", "x: 7", "z: 3", "z: 9"), nil},
		{"one part of one field", base, edit("x: 1", "x: 7"), edit("x: 1", "x: 8", "z: 3", "z: 9"), edit("x: 1", "x: 7", "z: 3", "z: 9"), []string{"actors"}},
		{"a field and the text", base, edit("role: one", "role: two"), edit("first", "FIRST"), edit("role: one", "role: two", "first", "FIRST"), nil},
		{"two places of the text", base, edit("first", "FIRST"), edit("last", "LAST"), edit("first", "FIRST", "last", "LAST"), nil},
		{"one place of the text", base, edit("first", "FIRST"), edit("first", "1st"), edit("first", "FIRST"), []string{theText}},
		{"a field gone here", base, edit("role: one\n", ""), edit("name: a", "name: b"), edit("role: one\n", "", "name: a", "name: b"), nil},
		{"a field gone here and changed there", base, edit("role: one\n", ""), edit("role: one", "role: two"),
			edit("role: one", "role: two"), []string{"role"}},
		{"new fields of both", base, edit("role: one", "role: one\np: 1"), edit("role: one", "role: one\nq: 2"),
			edit("role: one", "role: one\nq: 2\np: 1"), nil},
		{"both made it", "", "---\na: 1\nb: 2\n---\n", "---\na: 1\nc: 3\n---\n", "---\na: 1\nc: 3\nb: 2\n---\n", nil},
		{"no frontmatter", "one\ntwo\nthree\n", "ONE\ntwo\nthree\n", "one\ntwo\nTHREE\n", "ONE\ntwo\nTHREE\n", nil},
		{"no text", "\x00", "\x00a", "\x00b", "\x00a", []string{theText}},
		{"a key twice", "---\na: 1\n---\n", "---\na: 1\na: 2\n---\n", "---\na: 3\n---\n", "---\na: 1\na: 2\n---\n", []string{theText}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, clashes := File([]byte(c.base), []byte(c.first), []byte(c.second))
			if diff := cmp.Diff(c.want, string(got)); diff != "" {
				t.Errorf("merged (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.clashes, clashes); diff != "" {
				t.Errorf("clashes (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzMergeFile checks what holds for all files: an unchanged side says nothing,
// two sides that agree are right, and no line comes from nowhere.
func FuzzMergeFile(f *testing.F) {
	f.Add([]byte("---\na: 1\n---\nx\n"), []byte("---\na: 2\n---\nx\n"), []byte("---\na: 1\nb: 3\n---\ny\n"))
	f.Fuzz(func(t *testing.T, base, first, second []byte) {
		for _, c := range [][3][]byte{{first, base, first}, {base, first, first}, {first, first, first}} {
			if got, clashes := File(base, c[0], c[1]); !bytes.Equal(got, c[2]) || clashes != nil {
				t.Errorf("%q and %q from %q: %q, %v", c[0], c[1], base, got, clashes)
			}
		}
		merged, clashes := File(base, first, second)
		lines := map[string]bool{"": true}
		for _, from := range [][]byte{base, first, second} {
			for line := range strings.SplitAfterSeq(string(from), "\n") {
				lines[strings.TrimRight(line, "\r\n")] = true
			}
		}
		for line := range strings.SplitAfterSeq(string(merged), "\n") {
			if !lines[strings.TrimRight(line, "\r\n")] && bytes.HasSuffix(first, []byte("\n")) && bytes.HasSuffix(second, []byte("\n")) {
				t.Errorf("%q is in none of the three; %q", line, clashes)
			}
		}
	})
}
