package carrier

import (
	"path/filepath"
	"testing"
)

func TestClean(t *testing.T) {
	here, err := filepath.Abs("x/y")
	if err != nil {
		t.Fatal(err)
	}
	for remote, want := range map[string]string{
		"": "", "https://h/x": "https://h/x", "git@h:x.git": "git@h:x.git", "x/y": here, "./a:b/../x": "",
	} {
		got, err := Clean(remote)
		if err != nil {
			t.Errorf("Clean(%q): %v", remote, err)
		}
		if want != "" && got != want {
			t.Errorf("Clean(%q) = %q, want %q", remote, got, want)
		}
	}
}
