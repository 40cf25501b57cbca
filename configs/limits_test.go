package configs

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestChangeLimits(t *testing.T) {
	l := Limits{Nice: 3, NoNetwork: true}
	for _, text := range []string{"memory=512MB", "cpu=90s", "nice=", "network=", "files=64", "output=1 MiB"} {
		if err := l.Change(text); err != nil {
			t.Fatal(err)
		}
	}
	want := Limits{Memory: 512e6, CPU: 90 * time.Second, Files: 64, Output: 1 << 20}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"memory=512MB", "cpu=1m30s", "files=64", "output=1MiB"}, l.Texts()); diff != "" {
		t.Error(diff)
	}
	for text, says := range map[string]string{
		"memory":     "NAME=VALUE",
		"memroy=2":   "did you mean limits.memory?",
		"gpu=":       `unknown key "limits.gpu"`,
		"memory=2x":  "is not a size",
		"network=no": "neither none nor host",
	} {
		if err := l.Change(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", text, err, says)
		}
	}
	if diff := cmp.Diff(want, l); diff != "" {
		t.Errorf("what was refused has changed it: %s", diff)
	}
}

func TestVariables(t *testing.T) {
	vs := Variables{"HOME", "AWS_*", "X=1=2", "EMPTY="}
	for name, want := range map[string]bool{"HOME": true, "HOMES": false, "AWS_KEY": true, "AWS_": true, "AWS": false, "X": false, "OTHER": false} {
		if got := vs.Let(name); got != want {
			t.Errorf("%s is let: %v, want %v", name, got, want)
		}
	}
	if diff := cmp.Diff([]string{"X=1=2", "EMPTY="}, vs.Values()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"HOME", "AWS_*", "X=…", "EMPTY=…"}, vs.WithoutValues()); diff != "" {
		t.Error(diff)
	}
	if (Variables)(nil).Let("HOME") {
		t.Error("none lets a variable through")
	}
}
