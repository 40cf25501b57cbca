package term

import (
	"slices"
	"strings"
)

const gap = "  "

// Table is rows of cells under a heading. Each cell is shown as by Line, whoever wrote its text.
type Table struct {
	Heading []string
	Rows    [][]string
	// Flexible is the column that is cut if a line would not fit.
	Flexible int
	// Style styles the last cell of a row, as it is shown and perhaps cut; nil: the cell stays
	// plain. It must not change the width.
	Style func(row int, cell string) string
	// Paint styles the cells of one more column, in the same way.
	Paint Paint
}

// Paint styles the cells of a column of a table; the zero value styles none.
type Paint struct {
	Column int
	Style  func(row int, cell string) string
}

// Table writes `t` with aligned columns, each as wide as its widest cell. The last column is not
// padded. Columns without any text are left out.
func (s Screen) Table(t Table) {
	t.Rows = slices.Clone(t.Rows)
	for i, row := range t.Rows {
		t.Rows[i] = make([]string, len(row))
		for j, cell := range row {
			t.Rows[i][j] = Line(cell)
		}
	}
	widths := t.widths()
	if s.Width > 0 {
		s.fit(widths, t.Flexible)
	}
	if len(t.Heading) > 0 {
		s.Printf("%s\n", s.Dim(line(t.Heading, widths, func(_ int, title string) string { return title })))
	}
	for i, row := range t.Rows {
		s.Printf("%s\n", line(row, widths, func(column int, cell string) string {
			switch {
			case t.Style != nil && column == len(row)-1:
				return t.Style(i, cell)
			case t.Paint.Style != nil && column == t.Paint.Column:
				return t.Paint.Style(i, cell)
			}
			return cell
		}))
	}
}

// widths returns the width of each column; 0 if the column has no text in any row.
func (t Table) widths() []int {
	var widths []int
	for _, row := range t.Rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Width(cell))
		}
	}
	for i, title := range t.Heading {
		if i < len(widths) && widths[i] > 0 {
			widths[i] = max(widths[i], Width(title))
		}
	}
	return widths
}

// fit makes the flexible column narrower by what the line is too wide.
func (s Screen) fit(widths []int, flexible int) {
	const least = 8
	total := -len(gap)
	for _, w := range widths {
		if w > 0 {
			total += w + len(gap)
		}
	}
	if over := total - s.Width; over > 0 && flexible < len(widths) {
		widths[flexible] = max(least, widths[flexible]-over)
	}
}

// line is cells at the widths of their columns, each as `style` has it.
func line(cells []string, widths []int, style func(column int, cell string) string) string {
	var shown []string
	for i, cell := range cells {
		if i < len(widths) && widths[i] > 0 {
			cell = strings.TrimRight(Cut(cell, widths[i]), " ")
			shown = append(shown, style(i, cell)+strings.Repeat(" ", max(0, widths[i]-Width(cell))))
		}
	}
	return strings.TrimRight(strings.Join(shown, gap), " ")
}
