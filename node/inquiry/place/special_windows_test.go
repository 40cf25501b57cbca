package place

import "testing"

// special makes nothing: there are no pipes in folders here.
func special(*testing.T, string) {}
