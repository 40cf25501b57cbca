package notebook

import (
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// Work-with W41. It prevents: a file says 62% of a score of which every screen says 63%.
func TestFilesRoundAsScreensDo(t *testing.T) {
	if got := percent(protocol.NewScore(0.625)); got != "63%" {
		t.Errorf("2.5 of 4 is %s in a file", got)
	}
}
