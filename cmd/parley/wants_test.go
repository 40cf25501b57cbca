package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
)

// wantPrinted runs a command line, at a terminal of that width where it is above zero,
// and compares what it prints, with an empty line before it.
func (r *run) wantPrinted(t *testing.T, width int, line []string, want string) {
	t.Helper()
	if width > 0 {
		r.atTerminal(width)
	}
	if code := r.do(line...); code != cli.ExitDone {
		t.Errorf("%q: exit %d, %s", line, code, r.err.String())
	}
	if diff := cmp.Diff(want, "\n"+r.out.String()); diff != "" {
		t.Errorf("%q printed (-want +got):\n%s", line, diff)
	}
}

// wantAsked runs a command line and compares the one thing that it asks the node.
func (r *run) wantAsked(t *testing.T, line []string, want string) {
	t.Helper()
	if code := r.do(line...); code != cli.ExitDone {
		t.Errorf("%q: exit %d, %s", line, code, r.err.String())
	}
	if diff := cmp.Diff([]string{want}, r.asked); diff != "" {
		t.Errorf("%q asks (-want +got):\n%s", line, diff)
	}
}

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
