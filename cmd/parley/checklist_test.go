package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each line of the parts B (messages) and E (commands) of the checklist of the
// record has a story that names it.
func TestStoriesNameTheChecklist(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "script", "*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	for _, line := range []string{"B5", "B6", "B7", "B8", "B9", "B10", "B11", "B12", "B13", "E38", "E39", "E40"} {
		if !strings.Contains(all.String(), "Crosstalk "+line+":") && !strings.Contains(all.String(), "Crosstalk "+line+",") {
			t.Errorf("no story names line %s", line)
		}
	}
}
