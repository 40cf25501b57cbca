package term

import (
	"strings"

	"github.com/mattn/go-runewidth"
)

// widths measures by the Unicode standard alone: the same text must have the same layout in every
// locale.
func widths() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

// Width is how many columns `s` takes in a terminal.
func Width(s string) int { return widths().StringWidth(s) }

// Cut shortens `s` to at most `width` columns. If something is cut off, it ends in "…".
func Cut(s string, width int) string {
	if width < 1 {
		return ""
	}
	return widths().Truncate(s, width, "…")
}

// Pad fills `s` with spaces up to `width` columns.
func Pad(s string, width int) string {
	return s + strings.Repeat(" ", max(0, width-Width(s)))
}
