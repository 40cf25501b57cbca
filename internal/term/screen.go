package term

import (
	"fmt"
	"io"
	"runtime"

	"golang.org/x/term"
)

// Screen is where a program writes to. The zero values of its fields describe a pipe: plain, and
// without a width.
type Screen struct {
	io.Writer
	Terminal bool // a person looks at it
	Color    bool // it shows colour, and the person wants colour
	Width    int  // columns; 0: lines may have any length
}

const (
	defaultWidth = 80
	minWidth     = 40 // below this, nothing readable would be left of a text that is cut to fit
)

// NewScreen finds out what `w` is. Colour is shown only on a terminal, and only if NO_COLOR is not
// set and TERM is not dumb.
func NewScreen(w io.Writer, getenv func(string) string) Screen {
	s := Screen{Writer: w}
	file, ok := w.(interface{ Fd() uintptr })
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return s
	}
	s.Terminal, s.Width = true, defaultWidth
	if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
		s.Width = max(width, minWidth)
	}
	// Only the newer one of the two terminals of Windows understands escapes by default.
	modern := runtime.GOOS != "windows" || getenv("WT_SESSION") != ""
	s.Color = modern && getenv("NO_COLOR") == "" && getenv("TERM") != "dumb"
	return s
}

// IsTerminal reports whether r is a terminal at which someone types.
func IsTerminal(r io.Reader) bool {
	file, ok := r.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(file.Fd()))
}

// Printf writes to the screen. If the screen is gone, that ends the program (SIGPIPE), so there is
// no error to check.
func (s Screen) Printf(format string, args ...any) { fmt.Fprintf(s.Writer, format, args...) }

// Dim returns text with less weight: hints, headings.
func (s Screen) Dim(text string) string { return s.style("2", text) }

// Bold returns text with more weight.
func (s Screen) Bold(text string) string { return s.style("1", text) }

// Good returns text that says that all is well.
func (s Screen) Good(text string) string { return s.style("32", text) }

// Warn returns text that needs attention.
func (s Screen) Warn(text string) string { return s.style("33", text) }

// Bad returns text that says what does not work.
func (s Screen) Bad(text string) string { return s.style("31", text) }

// Colour returns text in one of the colours of scores: green, amber, cyan, gray. For any other
// name, the text stays as it is.
func (s Screen) Colour(name, text string) string {
	code := map[string]string{"green": "32", "amber": "33", "cyan": "36", "gray": "90"}[name]
	if code == "" {
		return text
	}
	return s.style(code, text)
}

func (s Screen) style(code, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Body returns the text of a message as it goes to this screen: with Visible for a person,
// unchanged for a program.
func (s Screen) Body(text string) string {
	if s.Terminal {
		return Visible(text)
	}
	return text
}
