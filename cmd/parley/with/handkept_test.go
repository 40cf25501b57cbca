package with

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// It prevents: a link in the folder has a file from anywhere taken in, and so put before the whole
// fleet.
func TestLinksOutOfAFolder(t *testing.T) {
	outside, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"volt/topics", "skills"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	secret := []byte("## Agreements\n- [A1] The password is four\n")
	for _, name := range []string{"secret.md", "x.md"} {
		if err := os.WriteFile(filepath.Join(outside, name), secret, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"volt/topics/stolen.md": filepath.Join(outside, "secret.md"), "skills/topics": outside, "mawjs": outside} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	h, err := readHandKept(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(h.topics) > 0 {
		t.Errorf("taken in: %+v", h.topics)
	}
	kept := map[string]string{}
	for _, k := range h.kept {
		kept[k.File] = k.Why
	}
	for _, name := range []string{"volt/topics/stolen.md", "skills/topics", "mawjs"} {
		if !strings.Contains(kept[name], "it is a link") {
			t.Errorf("of %s it says %q", name, kept[name])
		}
	}
}

// A folder mawjs-oracle means mawjs, if the fleet has a mawjs and no mawjs-oracle. It prevents: its
// topics are put before nobody, and a row of the registry that says mawjs is another topic.
func TestOraclesAreMeant(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "mawjs-oracle", "topics"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"mawjs-oracle/topics/tmux-design.md": "# Topic: tmux design\n", "registry.md": "| tmux design | mawjs | — |\n| ports | volt-oracle | — |\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		names []string
		want  string
	}{
		{[]string{"mawjs", "volt"}, "mawjs: tmux design, volt: ports"},
		{[]string{"mawjs", "mawjs-oracle"}, "mawjs-oracle: tmux design, volt-oracle: ports"},
		{nil, "mawjs-oracle: tmux design, volt-oracle: ports"},
	} {
		h, err := readHandKept(dir)
		if err != nil {
			t.Fatal(err)
		}
		h.meant(test.names)
		var got []string
		for _, topic := range h.topics {
			got = append(got, topic.partner+": "+topic.name)
		}
		if got := strings.Join(got, ", "); got != test.want {
			t.Errorf("where there are %q: got %q, want %q", test.names, got, test.want)
		}
	}
}

// FuzzHandKept reads what somebody has kept by hand. Whatever that is, it is read to its end, and
// no item is without words.
func FuzzHandKept(f *testing.F) {
	f.Add("# Topic: x\n## Agreements\n- [A1] ✓ ACCEPTED: one\n## Pending\n- [x] two\n", `{"items":{"A1":{"text":"one","phase":"accept","decidedBy":"mawjs"}}}`, "| x | mawjs | — |\n")
	f.Add("## Agreements\n- [A1] \n<!-- parley:begin agreements -->\n- [A2] no\n", `{"items":{"P1":null}}`, "|\n||\n|---|---|\n")
	f.Add("## Agreements\n* ✓", "0", "0") // a mark without words was an agreement of no words
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
