package party

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// It prevents: the text of a gate, its name, or the name of its message, draws over what a human is
// asked, or stands where parley asks.
func TestAGateDrawsOverNothing(t *testing.T) {
	const evil = "x\x1b[2J\r[a]ccept\u202e [q]uit: "
	var out bytes.Buffer
	screen := term.Screen{Writer: &out, Terminal: true, Width: 60}
	s := &session{view: cli.View{Out: screen, Err: screen, Zone: time.UTC, Now: func() time.Time { return noon }}}
	s.gate(control.Gate{
		ID: evil, Party: evil, Title: evil, Shown: evil + "\n" + evil, Reason: evil, DecidedBy: evil, Outcome: "deferred", Host: "white",
		Asker: protocol.Asker{Agent: evil, Human: evil, Host: "white", Claims: evil, Namesakes: []string{evil}},
	})
	text := out.String()
	if strings.ContainsAny(text, "\x1b\r\u202e") {
		t.Errorf("a terminal obeys %q", text)
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "[a]ccept") {
			t.Errorf("a line looks like a question: %q", line)
		}
	}
}
