package notebook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/configs"
)

// Work-with W21: what people wrote of a relationship is shown, without parley's own lines and
// without what every new file has. What people wrote for another agent is not shown. Looking makes
// nothing.
func TestProse(t *testing.T) {
	skills, mawjs := agentIn(t, "skills"), agentIn(t, "mawjs")
	other := configs.Agent{Name: "runner", Dir: skills.Dir, RunAs: "somebody"}
	d := newDesk(skills, mawjs, other)
	if got := d.Prose("skills", "mawjs"); got != "" {
		t.Errorf("of no file: %q", got)
	}
	if _, err := os.Stat(filepath.Join(skills.Dir, "ψ")); err == nil {
		t.Error("looking has made a ψ")
	}
	d.books["skills"] = book("skills", "mawjs", 1)
	file := filepath.Join(d.write(t, "skills").Folder, "mawjs", "context.md")
	if got := d.Prose("skills", "mawjs"); got != "" {
		t.Errorf("of a new file: %q", got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(text), "(observed over time)", "Citation-heavy.\n\nConcedes with reservation.", 1) + "\n## Plans\n\nWe meet on Mondays.\n"
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "## Working Style\nCitation-heavy.\nConcedes with reservation.\n## Plans\nWe meet on Mondays."
	if got := d.Prose("skills", "mawjs"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// It prevents: what stands below a later heading is taken for the last one's, such as the style.
	changed = strings.Replace(changed, "\n## Plans", "\nA line at the end.\n\n## Plans", 1)
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := d.Prose("skills", "mawjs"), "Concedes with reservation.\n## Active Disagreements\nA line at the end.\n## Plans"; !strings.Contains(got, want) {
		t.Errorf("got\n%s\nwant in it\n%s\nof the file\n%s", got, want, changed)
	}
	for _, who := range [][2]string{{"mawjs", "skills"}, {"runner", "mawjs"}, {"nobody", "mawjs"}, {"skills", "volt"}} {
		if got := d.Prose(who[0], who[1]); got != "" {
			t.Errorf("%s of %s: %q", who[0], who[1], got)
		}
	}
}
