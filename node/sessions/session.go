package sessions

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/parleyfleet/parley/internal/process"
	"github.com/parleyfleet/parley/internal/visible"
)

// Session is one program that acts as an agent. The zero value is a session of which nothing is
// known, so that nobody sees its end.
type Session struct {
	Name    string     // the name that it gave itself; "" if it is known by its process
	Process process.ID // the process with which it ends; zero if it is known by its name, or not at all
}

// CheckName returns an error if no session may have that name. Names are kept for hours, and shown.
func CheckName(name string) error {
	switch {
	case len(name) > maxSessionName:
		return fmt.Errorf("the name of a session is longer than %d bytes", maxSessionName)
	case visible.Line(name) != name:
		return fmt.Errorf("the name of a session has characters that cannot be seen: %s", visible.Line(name))
	}
	return nil
}

// Of returns the session of a process that calls: the session with the given name, or else the
// program that started the calling process.
func Of(name string, calls process.ID) Session {
	if name != "" || calls.PID == 0 {
		return Session{Name: name}
	}
	chain, err := process.Ancestry(calls.PID)
	if err != nil || len(chain) == 0 || chain[0] != calls {
		return Session{} // the process has ended, or cannot be seen
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

// runsOneLine reports whether a program is a shell that was started for one command line. Programs
// start such a shell to run what they are told to run. It ends before they do.
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
			return false // a script, or no command
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

func (s Session) over(alive func(process.ID) bool) bool {
	return s.Process.PID > 0 && !alive(s.Process)
}
