package arch

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// checkWalls checks every file against the wall of its room. It also checks every helper package
// under internal that a room uses against that room's wall: else a helper could be a way around the
// wall.
func checkWalls(folders []*folder, rules Rules) []Violation {
	var found []Violation
	for _, dir := range folders {
		wall, ok := rules.wallOf(dir.path)
		for _, f := range dir.files {
			if !ok {
				found = append(found, Violation{
					File: f.path,
					What: "lies in no room: no wall is drawn around " + dir.path,
					Why:  "code outside the rooms could import anything; draw its wall in internal/arch/walls_test.go",
				})
				continue
			}
			found = append(found, checkImports(f, wall, rules)...)
			if wall.Pure && !f.test {
				found = append(found, checkPure(dir, f, wall.Room, wall.Why)...)
			}
		}
	}
	for _, wall := range rules.Walls {
		found = append(found, checkBorrowed(folders, wall, rules)...)
	}
	return found
}

// wallOf gives the innermost wall around a folder.
func (r Rules) wallOf(dir string) (Wall, bool) {
	best, ok := Wall{}, false
	for _, wall := range r.Walls {
		if within(dir, wall.Room) && len(wall.Room) >= len(best.Room) {
			best, ok = wall, true
		}
	}
	return best, ok
}

// checkImports checks the imports of one file against the wall of its room.
func checkImports(f *file, wall Wall, rules Rules) []Violation {
	parley, thirdParty := slices.Concat([]string{wall.Room}, wall.Parley, []string{helpers}), wall.ThirdParty
	for _, door := range wall.Doors {
		if slices.Contains(door.Files, f.path) {
			parley = slices.Concat(parley, door.Parley)
		}
	}
	if f.test {
		thirdParty = slices.Concat(thirdParty, wall.TestThirdParty, rules.TestThirdParty)
	}
	var found []Violation
	for _, one := range f.imports {
		what, why := "", wall.Why
		if own, ok := rules.ownFolder(one.path); ok {
			if to, ok := rules.wallOf(own); ok && to.TestsOnly && !f.test && to.Room != wall.Room {
				what, why = fmt.Sprintf("imports %s, which only tests may import", one.path), to.Why
			} else if !withinAny(own, parley) {
				what = fmt.Sprintf("imports %s: of parley, %s may import %s", one.path, wall.Room, only(parley))
			}
		} else if isThirdParty(one.path) && !withinAny(one.path, thirdParty) {
			what = fmt.Sprintf("imports %s: of other modules, %s may import %s", one.path, room(wall.Room, f.test), only(thirdParty))
		}
		if what != "" {
			found = append(found, Violation{File: f.path, Line: one.line, What: what, Why: why})
		}
	}
	return found
}

// checkBorrowed checks the helper packages that a room reaches against what the room promises:
// which other modules it imports, and whether it is pure.
func checkBorrowed(folders []*folder, wall Wall, rules Rules) []Violation {
	if within(wall.Room, helpers) {
		return nil
	}
	var found []Violation
	for _, dir := range borrowed(folders, wall, rules) {
		why := fmt.Sprintf("%s uses it, and %s", wall.Room, wall.Why)
		for _, f := range dir.files {
			if f.test {
				continue
			}
			for _, one := range f.imports {
				if _, own := rules.ownFolder(one.path); !own && isThirdParty(one.path) && !withinAny(one.path, wall.ThirdParty) {
					found = append(found, Violation{File: f.path, Line: one.line, Why: why,
						What: fmt.Sprintf("imports %s for %s, which may import %s", one.path, wall.Room, only(wall.ThirdParty))})
				}
			}
			if wall.Pure {
				found = append(found, checkPure(dir, f, dir.path, why)...)
			}
		}
	}
	return found
}

// borrowed lists the helper folders that the files of a room import, directly or through other
// helpers. Tests do not count.
func borrowed(folders []*folder, wall Wall, rules Rules) []*folder {
	byPath, queue := map[string]*folder{}, []*folder{}
	for _, dir := range folders {
		byPath[dir.path] = dir
		if own, ok := rules.wallOf(dir.path); ok && own.Room == wall.Room {
			queue = append(queue, dir)
		}
	}
	var reached []*folder
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		for _, f := range dir.files {
			for _, one := range f.imports {
				own, ok := rules.ownFolder(one.path)
				next := byPath[own]
				if f.test || !ok || next == nil || !within(own, helpers) || slices.Contains(reached, next) {
					continue
				}
				reached = append(reached, next)
				queue = append(queue, next)
			}
		}
	}
	return reached
}

// helpers is the folder of packages that are made for parley's own use only.
const helpers = "internal"

// ownFolder gives the folder of a package of this module.
func (r Rules) ownFolder(importPath string) (string, bool) {
	if importPath == r.Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, r.Module+"/")
}

// isThirdParty tells other modules from the standard library. Paths of the standard library have no
// dot in their first element.
func isThirdParty(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return strings.Contains(first, ".")
}

func within(name, top string) bool {
	return name == top || strings.HasPrefix(name, top+"/")
}

func withinAny(name string, tops []string) bool {
	return slices.ContainsFunc(tops, func(top string) bool { return within(name, top) })
}

func room(name string, test bool) string {
	if test {
		return "tests of " + name
	}
	return name
}

func only(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return "only " + strings.Join(slices.Compact(names), ", ")
}

// lastElement guesses the name of the package at an import path: the last element that is no major
// version.
func lastElement(importPath string) string {
	base := path.Base(importPath)
	if len(base) > 1 && base[0] == 'v' && strings.Trim(base[1:], "0123456789") == "" {
		base = path.Base(path.Dir(importPath))
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(base, "go-"), ".")
	return strings.TrimSuffix(name, "-go")
}
