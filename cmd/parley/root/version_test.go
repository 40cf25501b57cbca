package root

import (
	"runtime/debug"
	"testing"
)

// It prevents: a report of a fault that does not say of which source the program was built.
func TestVersionOfTheBuild(t *testing.T) {
	r := newRun(t)
	info := VersionInfo{Version: "0.2.0", Go: "go1.26.0", Platform: "linux/amd64"}.of(&debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "8fdceb6f4f3a4c452e1c4ac9cca0c21b98cfa9b0"}, {Key: "vcs.time", Value: "2026-11-21T18:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}})
	if err := runVersion(info, r.Program.View()); err != nil {
		t.Fatal(err)
	}
	want := "parley 0.2.0 (go1.26.0 linux/amd64)\ncommit 8fdceb6f4f3a of 2026-11-21, and changes that are not in it\n"
	if got := r.Out.String(); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	if plain := (VersionInfo{}).of(nil); plain != (VersionInfo{}) {
		t.Errorf("%+v", plain)
	}
}
