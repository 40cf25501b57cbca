package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/internal/testkit/clitest"
	"github.com/parleyfleet/parley/node/control"
)

// It prevents: a text that begins with a dash is refused as a flag that does not exist. Language
// models write such texts: a list item, a rule, a negative number.
func TestTextsThatBeginWithADash(t *testing.T) {
	for _, test := range []struct {
		line []string
		want string // the text that is asked for; "" for none
	}{
		{[]string{"hey", "calc", "- a list item"}, "- a list item"},
		{[]string{"hey", "calc", "---"}, "---"},
		{[]string{"hey", "calc", "--- a/file\n+++ b/file"}, "--- a/file\n+++ b/file"},
		{[]string{"hey", "calc", "-5 + 3"}, "-5 + 3"},
		{[]string{"hey", "calc", "-5", "+", "3"}, "-5 + 3"},
		{[]string{"hey", "calc", "--flag-like text"}, "--flag-like text"},
		{[]string{"hey", "calc", "--flag-like", "text"}, "--flag-like text"},
		{[]string{"hey", "calc", "--wiat 10s is a slip"}, "--wiat 10s is a slip"},
		{[]string{"hey", "calc", "-hello"}, "-hello"},
		{[]string{"hey", "calc", "-=x", "--=y", "-", "--", "--wait"}, "-=x --=y - --wait"},
		{[]string{"hey", "--", "calc", "- x", "--as", "me"}, "- x --as me"},
		{[]string{"--home", "/tmp", "hey", "calc", "- x", "--request", "- r"}, "- x"},
		{[]string{"hey", "--wait", "10s", "calc", "- x"}, "- x"},
		{[]string{"hey", "calc", "- x", "--wait", "10s"}, "- x"},
		{[]string{"hey", "calc", "- x", "--wait=10s", "- y"}, "- x - y"},
		{[]string{"wormhole", "white:calc", "-1"}, "-1"},
		{[]string{"broadcast", "- all"}, "- all"},
		{[]string{"broadcast", "-1", "degree"}, "-1 degree"},
		{[]string{"send", "--to", "calc", "- x"}, "- x"},
		{[]string{"send", "- x", "--to", "calc"}, "- x"},
		{[]string{"reply", "b2c3d4e5", "-1"}, "-1"},
		{[]string{"memory", "add", "--subject", "- s", "- x"}, "- x"},
		{[]string{"memory", "supersede", "b2c3d4e5", "-1"}, "-1"},
		{[]string{"agent", "test", "calc", "-1"}, "-1"},
		{[]string{"search", "release", "-notes"}, "release -notes"},
		{[]string{"search", "-n5", "-notes", "-n", "6"}, "-notes"},
		{[]string{"search", "-n=5", "-next"}, "-next"},
	} {
		r := newRun(t)
		if code := r.Do(test.line...); code != cli.ExitDone && r.Err.String() != "nothing was found\n" {
			t.Errorf("%q: exit %d, %s", test.line, code, r.Err.String())
			continue
		}
		if quoted := jsonText(test.want); !strings.Contains(r.Asked[0], ":"+quoted) {
			t.Errorf("%q asked %s, want the text %s", test.line, r.Asked[0], quoted)
		}
	}
}

func jsonText(s string) string {
	rec := &clitest.Recorder{}
	rec.Note("", s)
	return strings.TrimPrefix(rec.Asked[0], " ")
}

// A flag of parley that stands after the text stays a flag.
func TestFlagsAfterADashedText(t *testing.T) {
	r := newRun(t)
	clitest.On(r, control.Wait, clitest.Message("42"))
	if code := r.Do("hey", "calc", "- one", "--as", "nat", "--wait", "10s", "--json"); code != cli.ExitDone {
		t.Fatalf("exit %d, %s", code, r.Err.String())
	}
	if !slices.ContainsFunc(r.Asked, func(s string) bool { return strings.HasPrefix(s, "wait ") && strings.Contains(s, "10000000000") }) {
		t.Errorf("asked %q: want a wait of 10s", r.Asked)
	}
	if !strings.Contains(r.Asked[0], `"as":"nat"`) || !strings.HasPrefix(r.Out.String(), "{") {
		t.Errorf("asked %s, printed %s", r.Asked[0], r.Out.String())
	}
}

func TestHelpOfACommandThatTakesText(t *testing.T) {
	for _, line := range [][]string{{"hey", "--help"}, {"hey", "calc", "text", "--help"}, {"hey", "-h"}} {
		r := newRun(t)
		if code := r.Do(line...); code != cli.ExitDone || !strings.HasPrefix(r.Out.String(), "Say something") || len(r.Asked) > 0 {
			t.Errorf("%q: exit %d, asked %q, printed %q", line, code, r.Asked, r.Out.String())
		}
	}
}

// FuzzSortText checks that no word of a text is lost, whatever it looks like, and that flags keep
// their values.
func FuzzSortText(f *testing.F) {
	f.Add("- item", "--wait", "10s")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		r := newRun(t)
		sorted, err := cli.SortText(root.New(r.Program), []string{"hey", "calc", a, b, c})
		if err != nil {
			return
		}
		counted := slices.Clone(sorted)
		for _, word := range []string{"hey", "calc", a, b, c} {
			if i := slices.Index(counted, word); i >= 0 {
				counted = slices.Delete(counted, i, i+1)
			} else if word != "--" {
				t.Errorf("%q is lost in %q", word, sorted)
			}
		}
		if diff := cmp.Diff([]string{"--"}, counted); diff != "" && !slices.Contains([]string{a, b, c}, "--") {
			t.Errorf("%q %q %q became %q", a, b, c, sorted)
		}
	})
}
