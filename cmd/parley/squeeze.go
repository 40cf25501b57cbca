package main

import (
	"strings"

	"github.com/parleyfleet/parley/internal/term"
)

// squeeze says how much of a column a narrow terminal must leave: least columns,
// none for one that may be left out.
type squeeze struct {
	column int
	least  int
	// cut shortens a cell; nil: at its end.
	cut func(cell string, width int) string
}

// table shows t. Where its lines would be wider than the terminal, columns give
// way in the order of squeezes, each no more than is needed; what is then still
// too much is taken from t.Flexible.
func (v view) table(t term.Table, squeezes ...squeeze) {
	for _, s := range squeezes {
		over := lineWidth(t) - v.out.Width
		if v.out.Width < 1 || over <= 0 {
			break
		}
		s.apply(t, over)
	}
	v.out.Table(t)
}

func (s squeeze) apply(t term.Table, over int) {
	if s.least < 1 {
		for _, row := range t.Rows {
			row[s.column] = ""
		}
		return
	}
	cut := s.cut
	if cut == nil {
		cut = term.Cut
	}
	width := max(s.least, columnWidth(t, s.column)-over)
	for _, row := range t.Rows {
		if term.Width(row[s.column]) > width {
			row[s.column] = cut(row[s.column], width)
		}
	}
}

// columnWidth is the width of a column, 0 where it is empty throughout and left
// out.
func columnWidth(t term.Table, column int) int {
	width := 0
	for _, row := range t.Rows {
		width = max(width, term.Width(row[column]))
	}
	if width > 0 && column < len(t.Heading) {
		width = max(width, term.Width(t.Heading[column]))
	}
	return width
}

// lineWidth is the width of the table's widest line.
func lineWidth(t term.Table) int {
	const gap = 2
	width := -gap
	for column := range t.Heading {
		if w := columnWidth(t, column); w > 0 {
			width += w + gap
		}
	}
	return width
}

// dayWidth is the width of the day with which shortForm begins.
const dayWidth = len("2006-01-02")

// toDay shortens a time to the day with which it begins.
func toDay(cell string, _ int) string {
	day, _, _ := strings.Cut(cell, " ")
	return day
}

// toEnd shortens the name of a folder from its beginning, because its end tells
// it from others.
func toEnd(cell string, width int) string {
	runes := []rune(cell)
	for i := range runes {
		if rest := "…" + string(runes[i+1:]); term.Width(rest) <= width {
			return rest
		}
	}
	return ""
}
