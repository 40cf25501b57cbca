package sessions

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/visible"
)

// Session is one program that acts as an agent. The zero value is one of which nothing is
// known: nobody sees its end.
type Session struct {
	Name    string     // as it calls itself; "" where it is known by its process
	Process process.ID // with which it ends; zero where it is known by its name, or not at all
}

// CheckName refuses what no session may be called: the name is kept for hours, and shown.
func CheckName(name string) error {
	switch {
	case len(name) > maxSessionName:
		return fmt.Errorf("the name of a session is longer than %d bytes", maxSessionName)
	case visible.Line(name) != name:
		return fmt.Errorf("the name of a session has characters that cannot be seen: %s", visible.Line(name))
	}
	return nil
}

// Of is the session of a process that calls: the one that is named, else the program by
// which the calling process was started.
func Of(name string, calls process.ID) Session {
	if name != "" || calls.PID == 0 {
		return Session{Name: name}
	}
	chain, err := process.Ancestry(calls.PID)
	if err != nil || len(chain) == 0 || chain[0] != calls {
		return Session{} // it has ended, or cannot be seen
	}
	for _, above := range chain[1:] {
		switch {
		case above.PID == 1:
			return Session{}
		case !runsOneLine(process.Arguments(above.PID)):
			return Session{Process: above}
		}
	}
	return Session{}
}

// runsOneLine reports whether a program is a shell that was started for one command line,
// as programs start one to run what they are told. It is gone before they are.
func runsOneLine(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	switch filepath.Base(strings.TrimPrefix(argv[0], "-")) {
	case "sh", "ash", "bash", "dash", "fish", "ksh", "zsh":
	default:
		return false
	}
	for _, arg := range argv[1:] {
		switch {
		case !strings.HasPrefix(arg, "-") || arg == "-" || arg == "--":
			return false // a script, or none
		case !strings.HasPrefix(arg, "--") && strings.Contains(arg, "c"):
			return true
		}
	}
	return false
}

// String names the session for people.
func (s Session) String() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Process.PID > 0:
		return fmt.Sprintf("process %d", s.Process.PID)
	}
	return "a session of which nothing is known"
}

// over reports whether the session's process has ended, where it is known by one.
func (s Session) over(alive func(process.ID) bool) bool {
	return s.Process.PID > 0 && !alive(s.Process)
}
