package protocol_test

import (
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// An agent called aux, or a topic called con, made files that no clone on Windows could hold: git
// ended with an error, and nothing was checked out.
func TestCheckFileName(t *testing.T) {
	for name, want := range map[string]bool{
		"aux": false, "AUX.md": false, "con": false, "nul.tar.gz": false, "com1": false, "lpt9.md": false, "com¹": false, "CONIN$": false, "prn .md": false,
		"x.": false, "x ": false, "a:b": false, "a?b": false, "a|b": false, "a\x01b": false, "a\\b": false,
		"auxiliary": true, "com": true, "com10": true, "console.md": true, "x.aux": true, "mawjs": true, "können": true, ".gitkeep": true,
	} {
		if got := protocol.CheckFileName(name) == nil; got != want {
			t.Errorf("CheckFileName(%q): %v", name, got)
		}
	}
}
