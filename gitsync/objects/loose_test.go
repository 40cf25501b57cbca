package objects

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/parleyfleet/parley/gitsync/objects/pack"
)

// A damaged object does not count as too large because of what its header says. It prevents: damage
// that is never mended.
func TestDamagedLooseObjectIsNotLarge(t *testing.T) {
	for what, text := range map[string]string{
		"a small one":              fmt.Sprintf("blob %d\x00small", pack.MaxObject+1),
		"one of less than nothing": "blob -1\x00small",
	} {
		if _, _, err := decodeLoose(bytes.NewReader(deflate([]byte(text))), pack.MaxObject); pack.IsLarge(err) || !errors.Is(err, pack.ErrCorrupt) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
