package main

import (
	"strings"
	"testing"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
)

// The next step that ls named was to write to oneself.
func TestWhomToTalkToNext(t *testing.T) {
	me := control.Participant{Name: "nat", Kind: "human", Host: "here", Here: true}
	namesake := control.Participant{Name: "nat", Kind: "human", Host: "white"}
	agent := control.Participant{Name: "mawjs", Kind: "agent", Host: "white"}
	for want, people := range map[string][]control.Participant{
		"next: parley agent add NAME --exec 'CMD …'   serve an agent, to talk to\n": {me},
		"next: parley hey nat@white hello   say something\n":                        {me, namesake},
		"next: parley hey mawjs hello   say something\n":                            {me, namesake, agent},
	} {
		r := newRun(t)
		r.People = people
		r.AtTerminal(80)
		if code := r.Do("ls"); code != cli.ExitDone || !strings.HasSuffix(r.Out.String(), "\n"+want) {
			t.Errorf("exit %d, printed %q, want %q last", code, r.Out.String(), want)
		}
	}
}
