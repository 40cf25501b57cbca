package with

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzHandKept reads what somebody has kept: whatever it is, it is read to its end, and no
// item is without words.
func FuzzHandKept(f *testing.F) {
	f.Add("# Topic: x\n## Agreements\n- [A1] ✓ ACCEPTED: one\n## Pending\n- [x] two\n", `{"items":{"A1":{"text":"one","phase":"accept","decidedBy":"mawjs"}}}`, "| x | mawjs | — |\n")
	f.Add("## Agreements\n- [A1] \n<!-- parley:begin agreements -->\n- [A2] no\n", `{"items":{"P1":null}}`, "|\n||\n|---|---|\n")
	f.Fuzz(func(t *testing.T, topic, state, registry string) {
		dir := t.TempDir()
		topics := filepath.Join(dir, "mawjs", "topics")
		if err := os.MkdirAll(topics, 0o755); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{
			filepath.Join(topics, "x.md"): topic, filepath.Join(topics, "x.state.json"): state, filepath.Join(dir, "registry.md"): registry,
		} {
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		h, err := readHandKept(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, topic := range h.topics {
			for _, it := range topic.items {
				if it.text == "" {
					t.Errorf("an item of %q has no words", topic.name)
				}
			}
		}
	})
}
