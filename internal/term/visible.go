package term

import "github.com/parleyfleet/parley/internal/visible"

// Visible returns text of any origin in a form that a terminal shows and does not obey. Newlines
// and tabs stay.
func Visible(s string) string { return visible.Text(s) }

// Line is Visible for text that must stay in its line: it shows newlines and tabs as pictures too.
func Line(s string) string { return visible.Line(s) }

// Shell is a word in a form that a shell reads as one word; see visible.Shell.
func Shell(s string) string { return visible.Shell(s) }

// JSON returns JSON with the same meaning that a terminal does not obey.
func JSON(s string) string { return visible.JSON(s) }
