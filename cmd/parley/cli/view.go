package cli

import (
	"io"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/agentprogram/install"
	"github.com/parleyfleet/parley/internal/span"
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
	path     string                    // the folders in which the shell looks for programs
	alone    bool                      // PARLEY_NO_HINTS: no next command is named
}

// Located is a command line with the whole path of its program, if the line names the program alone
// and the shell finds it. The node's PATH may be another one.
func (v View) Located(line string) string {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	if strings.ContainsAny(name, `/\=`) || ShellWord(name) != name {
		return line
	}
	if found := install.LookPath(name, v.path); found != "" {
		return strings.TrimSpace(ShellWord(found) + " " + rest)
	}
	return line
}

// A time has one form on all screens: day, clock and zone. A list has it to the minute, and of
// times of today only the clock. Lines in the order of time have the day above them (see Days).
const (
	TimeForm  = span.Moment
	ShortForm = "2006-01-02 15:04 -07:00"
	ClockForm = "15:04"
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
	if !v.Out.Terminal || v.alone {
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
// of today. Piped output is for programs, and may be read on another day. There it is RFC 3339, to
// the second, in the local zone with its offset (R18).
func (v View) Stamp(t time.Time) string {
	switch {
	case !v.Out.Terminal && !t.IsZero():
		return v.At(t, time.RFC3339)
	case v.At(t, time.DateOnly) == v.At(v.Now(), time.DateOnly):
		return v.At(t, ClockForm)
	}
	return v.At(t, ShortForm)
}

// Days shows lines in the order of time with the clock alone, so that they stay in columns. At a
// terminal, a day that is not that of the line before stands above in a line of its own, with its
// zone. The first line is taken to be of today.
type Days struct{ day string }

// Clock is the time with which the next line begins, in the form `clock`; in piped output, in the
// form `whole`. It is "" if the time is zero.
func (d *Days) Clock(v View, t time.Time, clock, whole string) string {
	switch {
	case t.IsZero():
		return ""
	case !v.Out.Terminal:
		return v.At(t, whole)
	}
	const dayForm = "2006-01-02 -07:00"
	if d.day == "" {
		d.day = v.At(v.Now(), dayForm)
	}
	if day := v.At(t, dayForm); day != d.day {
		d.day = day
		v.Out.Printf("%s\n", v.Out.Dim(day))
	}
	return v.At(t, clock)
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
	return v.Stamp(t)
}
