package main

import (
	"io"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// view is how answers are shown: where, in whose time zone, as JSON or for
// people.
type view struct {
	out, err term.Screen
	zone     *time.Location
	now      func() time.Time
	json     bool
	command  func(words string) string // as the person would type it
	agent    string                    // whom PARLEY_AGENT names
}

// The forms of a time: whole, in a table, in a line that shows seconds, and in a line
// where columns are few. A list at a terminal leaves day and zone of today away.
const (
	timeForm   = "2006-01-02 15:04:05 -07:00"
	shortForm  = "2006-01-02 15:04 -07:00"
	clockForm  = "01-02 15:04:05 -07:00"
	minuteForm = "01-02 15:04 -07:00"
)

// writeJSON prints one line.
func (v view) writeJSON(value any) error { return writeJSON(v.out, value) }

// writeJSON writes one line that a terminal does not obey, whoever wrote what is in it.
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

// next names the next useful command, to a person, and what it is good for where
// that fits into the line.
func (v view) next(command, why string) {
	if !v.out.Terminal {
		return
	}
	line := term.Line("next: " + v.command(command))
	if whole := line + "   " + term.Line(why); term.Width(whole) <= v.out.Width {
		line = whole
	}
	v.out.Printf("%s\n", v.out.Dim(line))
}

// steps lists pairs of a command and what it is good for.
func (v view) steps(pairs ...string) {
	var t term.Table
	for i := 0; i+1 < len(pairs); i += 2 {
		t.Rows = append(t.Rows, []string{" ", v.command(pairs[i]), v.out.Dim(pairs[i+1])})
	}
	screen := v.out
	screen.Width = 0 // a command that was cut could not be copied
	screen.Table(t)
}

// at is a time for people: local, with its offset (R18).
func (v view) at(t time.Time, form string) string {
	if t.IsZero() {
		return "never"
	}
	return t.In(v.zone).Format(form)
}

// stamp is a time in a list. A person is spared what goes without saying, day and zone
// today, in few columns the year of this year; what is piped may be read another day.
func (v view) stamp(t time.Time, form string) string {
	if t.IsZero() {
		return v.at(t, form)
	}
	today := v.out.Terminal && v.at(t, time.DateOnly) == v.at(v.now(), time.DateOnly)
	thisYear := v.at(t, "2006") == v.at(v.now(), "2006")
	switch {
	case today && form == clockForm:
		return v.at(t, "15:04:05")
	case today:
		return v.at(t, "15:04")
	case form == minuteForm && !thisYear:
		return v.at(t, shortForm)
	case form == clockForm && !thisYear:
		return v.at(t, timeForm)
	}
	return v.at(t, form)
}

// lineForm is the form of the time in a list of messages.
func (v view) lineForm() string {
	if v.narrow() {
		return minuteForm
	}
	return shortForm
}

// wideEnough is the width from which full paths leave room for the text.
const wideEnough = 150

// narrow reports whether the screen is a terminal with few columns.
func (v view) narrow() bool { return v.out.Terminal && v.out.Width < wideEnough }

// id is what a message is called in a list, and what can be given to read or reply: the
// eight hex digits of its name, or its path where the name has another form (R2).
func (v view) id(p protocol.Path) string {
	if p.Strict() && len(p.Suffix()) == 8 {
		return p.Suffix()
	}
	return p.String()
}

// path is id at a terminal with few columns, else the whole path, which stays unique.
func (v view) path(p protocol.Path) string {
	if v.narrow() {
		return v.id(p)
	}
	return p.String()
}

// named is what a person called a message, with a path as v.path has it.
func (v view) named(text string) string {
	if p, err := protocol.ParsePath(text); err == nil {
		return v.path(p)
	}
	return text
}

// atOrEmpty is a time in the given form, empty where there is none.
func (v view) atOrEmpty(t time.Time, form string) string {
	if t.IsZero() {
		return ""
	}
	return v.at(t, form)
}

// stampOrEmpty is a time as a cell of a table, empty where there is none.
func (v view) stampOrEmpty(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return v.stamp(t, shortForm)
}
