package main

import (
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
	json     bool
	command  func(words string) string // as the person would type it
	agent    string                    // whom PARLEY_AGENT names
}

const (
	timeForm  = "2006-01-02 15:04:05 -07:00"
	shortForm = "2006-01-02 15:04 -07:00"
	clockForm = "01-02 15:04:05 -07:00"
	// minuteForm is clockForm where columns are few.
	minuteForm = "01-02 15:04 -07:00"
)

// writeJSON prints one line.
func (v view) writeJSON(value any) error { return control.WriteJSON(v.out, value) }

// next names the next useful command, to a person, and what it is good for where
// that fits into the line.
func (v view) next(command, why string) {
	if !v.out.Terminal {
		return
	}
	line := "next: " + v.command(command)
	if whole := line + "   " + why; term.Width(whole) <= v.out.Width {
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

// sender is "name@host" where the host is known.
func sender(m control.Message) string {
	if m.Host == "" {
		return m.From
	}
	return m.From + "@" + m.Host.String()
}

// wideEnough is the width from which full paths leave room for the text.
const wideEnough = 150

// narrow reports whether the screen is a terminal with few columns.
func (v view) narrow() bool { return v.out.Terminal && v.out.Width < wideEnough }

// path is what a person can give to read or reply: the whole path, or in a
// narrow terminal the eight hex digits of its name (R2).
func (v view) path(p protocol.Path) string { return v.pathFrom(p, wideEnough) }

// pathFrom is path for lines in which whole paths need a terminal of that width.
func (v view) pathFrom(p protocol.Path, wide int) string {
	if v.out.Terminal && v.out.Width < wide && p.Strict() && len(p.Suffix()) == 8 {
		return p.Suffix()
	}
	return p.String()
}
