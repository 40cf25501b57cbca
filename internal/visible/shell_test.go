package visible

import "testing"

func TestShell(t *testing.T) {
	for word, want := range map[string]string{
		"mawjs": "mawjs", "tmux design": "'tmux design'", "x$(touch y)": "'x$(touch y)'", "it's": `'it'\''s'`, "": "''", "a;b": "'a;b'", "a/b.md": "a/b.md",
	} {
		if got := Shell(word); got != want {
			t.Errorf("Shell(%q) = %s, want %s", word, got, want)
		}
	}
}
