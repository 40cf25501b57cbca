package door

import (
	"strings"
	"testing"
)

// The longest argument that the system takes is given to the command. A longer one is refused
// before it is tried.
func TestLongestArgument(t *testing.T) {
	s := newSwitchboard(t)
	longest := strings.Repeat("x", maxArgument-1)
	if got := runToEnd(t, s.filling(longest, "tell", "{prompt}")); got.Output != `"`+longest+"\"\n\"\"" {
		t.Errorf("got %d bytes, %s", len(got.Output), got.Problem())
	}
	got := runToEnd(t, s.filling(longest+"x", "tell", "{prompt}"))
	if got.Failure != NotStarted || !strings.Contains(got.Detail, "(at most 128 KiB each)") {
		t.Errorf("got %v: %s", got.Failure, got.Detail)
	}
}
