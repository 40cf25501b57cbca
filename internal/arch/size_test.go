package arch

import (
	"fmt"
	"strings"
)

// checkLines compares the size of each room with its limit.
func checkLines(folders []*folder, limits []Limit) []Violation {
	lines := make([]int, len(limits))
	for _, dir := range folders {
		at := roomOf(dir.path, limits)
		if at < 0 {
			continue
		}
		for _, f := range dir.files {
			if !f.test {
				lines[at] += dir.fset.File(f.syntax.Pos()).LineCount()
			}
		}
	}
	var found []Violation
	for i, limit := range limits {
		switch {
		case lines[i] > limit.Lines:
			found = append(found, Violation{
				File: limit.Room,
				What: fmt.Sprintf("has %d production lines, %d more than its limit", lines[i], lines[i]-limit.Lines),
				Why:  "the tree only shrinks: take lines away, or raise the limit in internal/arch/lines.go in this commit and say what for",
			})
		case lines[i] < limit.Lines-slack:
			found = append(found, Violation{
				File: limit.Room,
				What: fmt.Sprintf("has %d production lines, and its limit is still %d", lines[i], limit.Lines),
				Why:  "what was taken away does not come back unseen: lower the limit in internal/arch/lines.go",
			})
		}
	}
	return found
}

// roomOf returns the innermost of the limits that holds for a folder, -1 for none.
func roomOf(dir string, limits []Limit) int {
	best := -1
	for i, limit := range limits {
		if (dir == limit.Room || strings.HasPrefix(dir, limit.Room+"/")) && (best < 0 || len(limit.Room) > len(limits[best].Room)) {
			best = i
		}
	}
	return best
}
