package cli

import (
	"strings"

	"github.com/parleyfleet/parley/internal/term"
)

// Squeeze says how narrow a column may become in a narrow terminal: Least columns. If Least is 0,
// the column may be left out.
type Squeeze struct {
	Column int
	Least  int
	// Cut shortens a cell; nil: it is cut at its end.
	Cut func(cell string, width int) string
}

// Table shows `t`. If its lines would be wider than the terminal, columns become narrower in the
// order of `squeezes`, each only as much as is needed. If that is not enough, the rest is taken
// from t.Flexible.
func (v View) Table(t term.Table, squeezes ...Squeeze) {
	for _, s := range squeezes {
		over := lineWidth(t) - v.Out.Width
		if v.Out.Width < 1 || over <= 0 {
			break
		}
		s.apply(t, over)
	}
	v.Out.Table(t)
}

func (s Squeeze) apply(t term.Table, over int) {
	if s.Least < 1 {
		for _, row := range t.Rows {
			row[s.Column] = ""
		}
		return
	}
	cut := s.Cut
	if cut == nil {
		cut = term.Cut
	}
	width := max(s.Least, columnWidth(t, s.Column)-over)
	for _, row := range t.Rows {
		if term.Width(row[s.Column]) > width {
			row[s.Column] = cut(row[s.Column], width)
		}
	}
}

// columnWidth is the width of a column; 0 if the column is empty and left out.
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

// DayWidth is the width of the day with which ShortForm begins.
const DayWidth = len("2006-01-02")

// ToDay shortens a time to its day.
func ToDay(cell string, _ int) string {
	day, _, _ := strings.Cut(cell, " ")
	return day
}

// ToEnd shortens the name of a folder at its beginning, because its end tells it from others.
func ToEnd(cell string, width int) string {
	runes := []rune(cell)
	for i := range runes {
		if rest := "…" + string(runes[i+1:]); term.Width(rest) <= width {
			return rest
		}
	}
	return ""
}
