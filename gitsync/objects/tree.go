package objects

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// Mode is the mode of a tree's entry, as git writes it in octal.
type Mode uint32

// The modes that this package tells apart.
const (
	ModeDir  Mode = 0o040000
	ModeFile Mode = 0o100644
)

// IsDir reports whether the entry is another tree.
func (m Mode) IsDir() bool { return m&0o170000 == 0o040000 }

// IsFile reports whether the entry is a regular file, executable or not.
func (m Mode) IsFile() bool { return m&0o170000 == 0o100000 }

// isLink reports whether the entry is a commit of another repository.
func (m Mode) isLink() bool { return m&0o170000 == 0o160000 }

// Entry is one name in a tree.
type Entry struct {
	Name string
	Mode Mode
	Hash Hash
}

// compareEntries compares two entries in git's order, in which the name of a tree counts as if it
// ended in "/".
func compareEntries(a, b Entry) int {
	n := min(len(a.Name), len(b.Name))
	if c := cmp.Compare(a.Name[:n], b.Name[:n]); c != 0 {
		return c
	}
	if c := cmp.Compare(a.byteAt(n), b.byteAt(n)); c != 0 {
		return c
	}
	return cmp.Compare(len(a.Name), len(b.Name))
}

func (e Entry) byteAt(i int) byte {
	switch {
	case i < len(e.Name):
		return e.Name[i]
	case e.Mode.IsDir():
		return '/'
	}
	return 0
}

func decodeTree(data []byte) ([]Entry, error) {
	entries := make([]Entry, 0, len(data)/48)
	for len(data) > 0 {
		space := bytes.IndexByte(data, ' ')
		if space < 0 {
			return nil, fmt.Errorf("a tree's entry has no mode")
		}
		mode, err := strconv.ParseUint(string(data[:space]), 8, 32)
		if err != nil {
			return nil, fmt.Errorf("a tree's entry has the mode %q", data[:space])
		}
		data = data[space+1:]
		end := bytes.IndexByte(data, 0)
		if end < 0 || len(data) < end+1+pack.HashBytes {
			return nil, fmt.Errorf("a tree is cut short")
		}
		e := Entry{Name: string(data[:end]), Mode: Mode(mode)}
		copy(e.Hash[:], data[end+1:])
		entries = append(entries, e)
		data = data[end+1+pack.HashBytes:]
	}
	return entries, nil
}

func encodeTree(entries []Entry) []byte {
	out := make([]byte, 0, treeSize(entries))
	for _, e := range entries {
		out = appendEntry(out, e)
	}
	return out
}

func appendEntry(out []byte, e Entry) []byte {
	if e.Mode == ModeFile { // nearly all entries
		out = append(out, "100644 "...)
	} else {
		out = append(strconv.AppendUint(out, uint64(e.Mode), 8), ' ')
	}
	out = append(out, e.Name...)
	out = append(out, 0)
	return append(out, e.Hash[:]...)
}

func treeSize(entries []Entry) int {
	n := 0
	for _, e := range entries {
		n += e.size()
	}
	return n
}

func (e Entry) size() int {
	if e.Mode == ModeFile {
		return len("100644 ") + len(e.Name) + 1 + pack.HashBytes
	}
	digits := 1
	for m := e.Mode >> 3; m > 0; m >>= 3 {
		digits++
	}
	return digits + 1 + len(e.Name) + 1 + pack.HashBytes
}

// isPlain reports whether the bytes of a tree are those that encodeTree makes of it in git's order.
// Some old programs wrote others.
func isPlain(entries []Entry, data []byte) bool {
	return slices.IsSortedFunc(entries, compareEntries) && bytes.Equal(encodeTree(entries), data)
}

// emptyTree is the name that git gives to a tree without entries.
var emptyTree = plumbing.ComputeHash(plumbing.TreeObject, nil)

func findEntry(entries []Entry, name string, dir bool) (int, bool) {
	want := Entry{Name: name, Mode: ModeFile}
	if dir {
		want.Mode = ModeDir
	}
	return slices.BinarySearchFunc(entries, want, compareEntries)
}
