package cli

import (
	"io"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// View is how answers are shown: on which screens, in which time zone, and as JSON or for people.
type View struct {
	Out, Err term.Screen
	Zone     *time.Location
	Now      func() time.Time
	JSON     bool
	Command  func(words string) string // returns a command as the person would type it
	agent    string                    // the agent that PARLEY_AGENT names
}

// The forms of a time: whole, in a table, in a line that shows seconds, and in a line that has few
// columns. In a list at a terminal, the day and the zone are left out for times of today.
const (
	TimeForm   = "2006-01-02 15:04:05 -07:00"
	ShortForm  = "2006-01-02 15:04 -07:00"
	ClockForm  = "01-02 15:04:05 -07:00"
	MinuteForm = "01-02 15:04 -07:00"
)

// WriteJSON prints a value as JSON, in one line.
func (v View) WriteJSON(value any) error { return writeJSON(v.Out, value) }

// writeJSON writes one line. A terminal does not obey it, whoever wrote what is in it.
func writeJSON(to term.Screen, value any) error {
	if !to.Terminal {
		return control.WriteJSON(to, value)
	}
	var line strings.Builder
	if err := control.WriteJSON(&line, value); err != nil {
		return err
	}
	_, err := io.WriteString(to, term.JSON(line.String()))
	return err
}

// Next names the next useful command to a person. It says what the command is good for, if that
// fits into the line.
func (v View) Next(command, why string) {
	if !v.Out.Terminal {
		return
	}
	line := term.Line("next: " + v.Command(command))
	if whole := line + "   " + term.Line(why); term.Width(whole) <= v.Out.Width {
		line = whole
	}
	v.Out.Printf("%s\n", v.Out.Dim(line))
}

// Steps lists pairs of a command and what it is good for.
func (v View) Steps(pairs ...string) {
	var t term.Table
	for i := 0; i+1 < len(pairs); i += 2 {
		t.Rows = append(t.Rows, []string{" ", v.Command(pairs[i]), pairs[i+1]})
	}
	t.Style = func(_ int, cell string) string { return v.Out.Dim(cell) }
	screen := v.Out
	screen.Width = 0 // a command that is cut could not be copied
	screen.Table(t)
}

// At is a time for people: in the local zone, with its offset (R18).
func (v View) At(t time.Time, form string) string {
	if t.IsZero() {
		return "never"
	}
	return t.In(v.Zone).Format(form)
}

// Stamp is a time in a list. For a person, it leaves out what is clear anyway: the day and the zone
// of today and, in few columns, the year of this year. Piped output is for programs, and may be
// read on another day. There it is RFC 3339, to the second, in the local zone with its offset
// (R18).
func (v View) Stamp(t time.Time, form string) string {
	if t.IsZero() {
		return v.At(t, form)
	}
	if !v.Out.Terminal {
		return v.At(t, time.RFC3339)
	}
	today := v.At(t, time.DateOnly) == v.At(v.Now(), time.DateOnly)
	thisYear := v.At(t, "2006") == v.At(v.Now(), "2006")
	switch {
	case today && form == ClockForm:
		return v.At(t, "15:04:05")
	case today:
		return v.At(t, "15:04")
	case form == MinuteForm && !thisYear:
		return v.At(t, ShortForm)
	case form == ClockForm && !thisYear:
		return v.At(t, TimeForm)
	}
	return v.At(t, form)
}

// LineForm is the form of the time in a list of messages.
func (v View) LineForm() string {
	if v.Narrow() {
		return MinuteForm
	}
	return ShortForm
}

// wideEnough is the width from which on full paths leave room for the text.
const wideEnough = 150

// Narrow reports whether the screen is a terminal with few columns.
func (v View) Narrow() bool { return v.Out.Terminal && v.Out.Width < wideEnough }

// ID is the name of a message in a list. It can be given to read or reply. It is the eight hex
// digits of the message's name, or its path if the name has another form (R2).
func (v View) ID(p protocol.Path) string { return word(p.Short()) }

// word is a path as one word of a command that can be copied. Whoever may push can give a file any
// name: with spaces, signs that a shell obeys, or signs that turn the direction of writing.
func word(path string) string { return ShellWord(term.Line(path)) }

// Path is ID at a terminal with few columns. Elsewhere it is the whole path, which stays unique.
func (v View) Path(p protocol.Path) string {
	if v.Narrow() {
		return v.ID(p)
	}
	return word(p.String())
}

// Named is the text with which a person named a message. If the text is a path, it is shown as by
// Path.
func (v View) Named(text string) string {
	if p, err := protocol.ParsePath(text); err == nil {
		return v.Path(p)
	}
	return term.Line(text)
}

// AtOrEmpty is a time in the given form; "" if the time is zero.
func (v View) AtOrEmpty(t time.Time, form string) string {
	if t.IsZero() {
		return ""
	}
	return v.At(t, form)
}

// StampOrEmpty is a time as a cell of a table; "" if the time is zero.
func (v View) StampOrEmpty(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return v.Stamp(t, ShortForm)
}
