package arch

import (
	"os"
	"testing"
)

// TestParley holds parley's own tree against its rules.
func TestParley(t *testing.T) {
	found, err := Check(os.DirFS("../.."), Parley())
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}
