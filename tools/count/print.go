package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// line is one entry of a list: its numbers, the first of which orders the list, and the thing to
// which they belong.
type line struct {
	numbers []int
	of      string
}

// list prints the first lines of a list, largest first, then by name.
func list(out io.Writer, title string, most int, lines []line) {
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(slices.Compare(b.numbers, a.numbers), strings.Compare(a.of, b.of))
	})
	fmt.Fprintf(out, "%s\n", title)
	for _, l := range lines[:min(most, len(lines))] {
		for _, n := range l.numbers {
			fmt.Fprintf(out, "%7d", n)
		}
		fmt.Fprintf(out, "  %s\n", l.of)
	}
	fmt.Fprintln(out)
}

func (t *tree) print(out io.Writer, most int, names []string) {
	var types, folders, exported, holds, skips []line
	files, lines, callerHolds, skipped := 0, 0, 0, 0
	for name, s := range t.types {
		types = append(types, line{[]int{len(s.methods), s.fields}, name})
	}
	for dir, f := range t.folders {
		folders = append(folders, line{[]int{f.files, f.lines}, dir})
		exported = append(exported, line{[]int{len(f.names), len(f.methods)}, dir})
		if f.callerHolds > 0 {
			holds = append(holds, line{[]int{f.callerHolds}, dir})
		}
		if f.skips > 0 {
			skips = append(skips, line{[]int{f.skips}, dir})
		}
		files, lines = files+f.files, lines+f.lines
		callerHolds, skipped = callerHolds+f.callerHolds, skipped+f.skips
	}
	list(out, "methods and fields of types", most, types)
	list(out, fmt.Sprintf("production files and lines of folders (all: %d files, %d lines)", files, lines), most, folders)
	list(out, "exported names of packages, and methods of exported types", most, exported)
	list(out, fmt.Sprintf("comments that say \"The caller holds\" (all: %d)", callerHolds), most, holds)
	list(out, fmt.Sprintf("skips in tests and scripts (all: %d)", skipped), most, skips)
	for _, name := range names {
		var in []string
		for _, file := range slices.Sorted(maps.Keys(t.words)) {
			if t.words[file].has(words(name)) {
				in = append(in, file)
			}
		}
		fmt.Fprintf(out, "production files that mention %q (all: %d)\n", name, len(in))
		for _, file := range in {
			fmt.Fprintf(out, "  %s\n", file)
		}
		fmt.Fprintln(out)
	}
}

// has reports whether the words stand in one of the texts, one after the other.
func (s set) has(words string) bool {
	for text := range s {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}
