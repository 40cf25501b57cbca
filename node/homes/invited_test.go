package homes

import (
	"strings"
	"testing"
)

// It prevents: a host that invites has a newcomer's human paste a command of its own.
func TestTheRemoteThatAHubNamesIsNoCommand(t *testing.T) {
	hint := tryRemote("https://eve:secret7@example.org/$(touch x);y\u202e")
	if !strings.Contains(hint, `git ls-remote 'https://…@example.org/$(touch x);y\u202e'`) {
		t.Error(hint)
	}
}
