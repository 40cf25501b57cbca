package arch

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
)

// Rules is the architecture of one Go module.
type Rules struct {
	// Module is the import path of the module, as in its go.mod.
	Module string
	// Walls lists the rooms. Every Go file must lie in one.
	Walls []Wall
	// TestThirdParty lists the module paths that any test file may import, in addition to those of
	// its room.
	TestThirdParty []string
	// Folders and Files name everything that may be at the top of the tree.
	Folders, Files []string
	// Names are words that have one meaning only, or that should not be used.
	Names []Name
	// Inits are the files that may declare func init. Each is a program of its own, which the
	// program becomes before the rest of it is initialized.
	Inits []string
	// Limits say how large rooms may be.
	Limits []Limit
}

// Wall says what one room may import. The standard library, the room's own packages and the helpers
// below internal are always allowed. A folder that is named here stands for itself and for
// everything below it.
type Wall struct {
	// Room is the folder that the wall surrounds. If walls are nested, the innermost one holds.
	Room string
	// Parley lists the folders of this module that the room may import.
	Parley []string
	// ThirdParty lists the paths of other modules that the room may import. TestThirdParty lists
	// those that only its tests may import.
	ThirdParty, TestThirdParty []string
	// Pure forbids all that makes the room's result depend on anything but its arguments: input and
	// output, the clock, chance, goroutines. Tests may use all of it.
	Pure bool
	// TestsOnly marks a room that only tests and the room itself may import.
	TestsOnly bool
	// Doors widen the wall for single files.
	Doors []Door
	// Why is the reason for the wall, shown with each violation.
	Why string
}

// Door lets the named files of a room, and only these files, import more of parley.
type Door struct {
	// Files are paths from the top of the tree.
	Files []string
	// Parley lists further folders of this module.
	Parley []string
}

// Violation is one place where the tree breaks the rules.
type Violation struct {
	// File is the path from the top of the tree. Line counts from 1; 0 means the file or folder as
	// a whole.
	File string
	Line int
	// What says what happened there, and Why says why that is forbidden. Both are half sentences.
	What, Why string
}

// String gives the violation as one line: place, what, why.
func (v Violation) String() string {
	place := v.File
	if v.Line > 0 {
		place = fmt.Sprintf("%s:%d", v.File, v.Line)
	}
	return fmt.Sprintf("%s %s (why: %s)", place, v.What, v.Why)
}

// Check reads the tree, whose top is the folder of go.mod, and returns every violation, sorted by
// place. It looks only at what git would track: it leaves out hidden folders, testdata, nested
// modules, and what the top .gitignore names. An error means that the tree could not be read or
// parsed.
func Check(tree fs.FS, rules Rules) ([]Violation, error) {
	packages, err := load(tree, rules.Module)
	if err != nil {
		return nil, fmt.Errorf("cannot read the source tree: %w", err)
	}
	found, err := checkTop(tree, rules)
	if err != nil {
		return nil, fmt.Errorf("cannot read the top folder: %w", err)
	}
	found = append(found, checkWalls(packages, rules)...)
	found = append(found, checkLines(packages, rules.Limits)...)
	for _, p := range packages {
		found = append(found, checkHabits(p, rules.Inits)...)
		found = append(found, checkNames(p, rules.Names)...)
		found = append(found, checkTypes(p)...)
	}
	slices.SortFunc(found, func(a, b Violation) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.What, b.What))
	})
	return slices.Compact(found), nil
}
