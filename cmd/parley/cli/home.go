package cli

import (
	"errors"
	"os"
	"strings"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// HomeDir is the home that --home or PARLEY_HOME names, or else the home that is usual on the
// system.
func (p *Program) HomeDir() (configs.Home, error) { return configs.FindHome(p.home, p.Getenv) }

// Client returns the node of the home. No connection is made before the first call.
func (p *Program) Client() (control.Service, error) {
	socket, err := p.Socket()
	if err != nil {
		return nil, err
	}
	return p.handled(p.Connect(socket))
}

// Socket is the socket of the node that is asked.
func (p *Program) Socket() (string, error) { return configs.FindSocket(p.home, p.Getenv) }

// Here is the session of Claude Code beneath which this runs, as it says by the environment; its id
// is "" if there is none. Other programs say nothing of the kind.
func (p *Program) Here() control.SessionEventRequest {
	return control.SessionEventRequest{
		Program: "claude", Session: p.Getenv("CLAUDE_CODE_SESSION_ID"), Event: control.SessionThere,
		Ring: control.SessionBell{Socket: p.Getenv("CLAUDE_CODE_MESSAGING_SOCKET")},
	}
}

// Configured reports whether "parley init" was run for the home.
func Configured(home configs.Home) bool {
	_, err := os.Stat(home.Config())
	return err == nil
}

// NotConfigured says that a home has no configuration. `cannot` says what is not possible because
// of that. The hint says what "parley init" would do about it.
func NotConfigured(home configs.Home, cannot string) *control.Error {
	foreign := new(configs.HomeError)
	if errors.As(home.Check(), &foreign) {
		return control.Errorf(control.KindRefused, "name another folder with --home DIR", "%s%v", cannot, foreign)
	}
	if draft, err := configs.Load(home.Draft()); err == nil {
		return control.Errorf(control.KindNotFound, configs.UnfinishedHint(draft), "%sthe node at %s is half made: that was cut short", cannot, home.Dir)
	}
	if _, err := os.Stat(home.Record()); err == nil {
		return control.Errorf(control.KindNotFound, configs.LostHint, "%s%s holds a record and no config.yaml", cannot, home.Dir)
	}
	return control.Errorf(control.KindNotFound, BeginHint, "%sthere is no node at %s yet", cannot, home.Dir)
}

// BeginHint is the hint where no home is yet: on a first machine, and on a further one.
const BeginHint = "parley init; on a further machine of a fleet: parley join"

// CopiedHome returns an error if a home is a copy of another one; nil for every other home.
// `cannot` says what is not done with a copy.
func CopiedHome(home configs.Home, cannot string) *control.Error {
	copied := new(configs.CopiedError)
	if _, err := home.CheckOrigin(); !errors.As(err, &copied) {
		return nil
	}
	return control.Errorf(control.KindConflict, copied.Hint(), "%s: %v", cannot, copied)
}

// NoNodeRuns reports whether an error says that no node runs.
func NoNodeRuns(err error) bool {
	e := control.AsError(err)
	return e.Kind == control.KindUnavailable && strings.HasPrefix(e.Hint, "parley up")
}

// WarnOfLine says what is wrong with an invitation line among the words of a command. It says nothing
// of any other text.
func WarnOfLine(p *Program, text string) {
	if strings.HasPrefix(text, protocol.InviteScheme) {
		p.View().Note("note: other users of this machine can read the line while this command runs, and the shell keeps it: without it, the command asks for the line")
	}
}
