package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wantPage compares a page of the reference with what it is generated from, or writes it
// where that is asked for.
func wantPage(t *testing.T, name, want string) {
	t.Helper()
	file := filepath.Join(docsRoot, "docs", "reference", name)
	if *update && !t.Failed() {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference/%s is not what it is generated from; run go test ./cmd/parley -update\n%s", name, diff)
	}
}
