package notebook

import (
	"strings"

	"github.com/parleyfleet/parley/internal/visible"
)

// inLine is somebody's text as it stands in a line of a sheet. It can be no mark, no new line, and
// nothing that a terminal obeys.
func inLine(text string) string {
	return strings.ReplaceAll(visible.Line(strings.Join(strings.Fields(text), " ")), "<!--", "<\\!--")
}

// inCell is inLine for a cell of a table.
func inCell(text string) string { return strings.ReplaceAll(inLine(text), "|", `\|`) }
