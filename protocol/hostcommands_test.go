package protocol_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// It prevents: a command that somebody pushed into a host file, and nobody is told of.
func TestCommandsInAHostFile(t *testing.T) {
	const key = "count: 1"
	for text, want := range map[string]string{
		seedHostFile: "junior-developer senior-developer",
		strings.ReplaceAll(seedHostFile, "\n", "\r\n"):                                           "junior-developer senior-developer",
		update(t, seedHostFile, hostState()):                                                     "",
		"---\nalias: a\nactors:\n  one:\n    default: {cli: x, count: 1}\n  two: {d: {}}\n---\n": "one",
		"---\nalias: a\nactors: {one: {default: 3}, two: {x: , y: run}}\n---\n":                  "two",
		"---\nalias: a\nactors: cli\ncli: x\n---\n":                                              "",
		"---\nalias: a\nactors: [cli, x]\n---\n":                                                 "",
		"no host file":                                                                           "",
		"---\n[\n---\n":                                                                          "",
	} {
		if got := protocol.HostFileCommands([]byte(text)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("got %q, want %q, of\n%s", got, want, text)
		}
	}
	told := strings.Replace(update(t, "", hostState()), key, "cli: touch x, "+key, 1)
	if got := protocol.HostFileCommands([]byte(told)); len(got) != 1 {
		t.Errorf("got %q, want one, of\n%s", got, told)
	}
}
