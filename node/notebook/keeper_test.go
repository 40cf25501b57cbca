package notebook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// desk is a host with agents that have folders, and what they work on.
type desk struct {
	*Keeper
	books map[string]Book
}

func newDesk(agents ...configs.Agent) *desk {
	d := &desk{books: map[string]Book{}}
	d.Keeper = New(Options{Agents: func() []configs.Agent { return agents }, Book: func(me string) Book { return d.books[me] }})
	return d
}

func (d *desk) write(t *testing.T, agent string) Written {
	t.Helper()
	w, err := d.Write(agent)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var noon = time.Date(2026, 4, 13, 12, 0, 0, 0, time.UTC)

// book has one topic with one partner, and so many agreements.
func book(me, with string, agreements int) Book {
	t := Topic{Topic: control.Topic{Me: me, With: with, Name: "tmux design", Slug: "tmux-design", Opened: "c/2026/first.md", OpenedBy: me, Since: noon, Status: "NEW"}}
	t.State = topics.Sidecar{Topic: t.Slug, Items: map[string]topics.SidecarItem{}}
	for n := range agreements {
		label := fmt.Sprintf("A%d", n+1)
		t.Items = append(t.Items, control.TopicItem{ID: label, Sort: "agreement", Text: "item " + label, By: me, Signed: true, Agreed: true})
		t.State.Items[label] = topics.SidecarItem{Text: "item " + label, Phase: topics.Accepted}
	}
	return Book{Me: me, Partners: []Partner{{Relation: control.Relation{Me: me, With: with, Trust: "uncalibrated", Since: noon}, Topics: []Topic{t}}}}
}

func agentIn(t *testing.T, name string) configs.Agent {
	t.Helper()
	return configs.Agent{Name: protocol.Name(name), Dir: t.TempDir()}
}

// Somebody saves a topic's file while it is written, by each of the ways of editors: what
// was saved at that moment must not be lost.
func TestAnEditorSavesMeanwhile(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file := filepath.Join(dir, "topic.md")
	content := func(n int) Sheet { return book("skills", "mawjs", n).Partners[0].Topics[0].Sheet() }
	if _, err := edit(root, "topic.md", content(0).Render); err != nil {
		t.Fatal(err)
	}
	const saves = 60
	var saving sync.WaitGroup
	saving.Go(func() {
		for n := range saves { // an editor that writes another file and renames it, and sees what it saved
			var old []byte
			for deadline := time.Now().Add(time.Minute); ; {
				var err error
				if old, err = os.ReadFile(file); err != nil {
					t.Error(err)
					return
				}
				if n == 0 || bytes.Contains(old, fmt.Appendf(nil, "\nmy line %d\n", n-1)) {
					break
				}
				if time.Now().After(deadline) {
					t.Errorf("line %d is lost", n-1)
					return
				}
			}
			half := filepath.Join(dir, "topic.md~")
			if err := os.WriteFile(half, append(old, fmt.Sprintf("my line %d\n", n)...), 0o644); err != nil {
				t.Error(err)
				return
			}
			if err := os.Rename(half, file); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for n := range saves {
		if _, err := edit(root, "topic.md", content(n+1).Render); err != nil {
			t.Fatal(err)
		}
	}
	saving.Wait()
	if _, err := edit(root, "topic.md", content(saves).Render); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for n := range saves {
		lacks(t, string(data), fmt.Sprintf("\nmy line %d\n", n), fmt.Sprintf("- [A%d] ✓ ACCEPTED: item A%d\n", n+1, n+1))
	}
}

// A save between reading and writing is found out: it was overwritten.
func TestASaveBetweenReadingAndWriting(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	file := filepath.Join(dir, "topic.md")
	s := sheet("- [A1] one")
	if _, err := edit(root, "topic.md", s.Render); err != nil {
		t.Fatal(err)
	}
	saved := false
	_, err = edit(root, "topic.md", func(existing []byte) []byte {
		next := sheet("- [A1] one", "- [A2] two").Render(existing)
		if !saved {
			saved = true
			if err := os.WriteFile(file, append(existing, "just now\n"...), 0o644); err != nil {
				t.Error(err)
			}
		}
		return next
	})
	if err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(file)
	lacks(t, string(data), "just now", "- [A2] two")
	if left, _ := filepath.Glob(filepath.Join(dir, ".parley-tmp-*")); len(left) > 0 {
		t.Errorf("half-written files are left: %v", left)
	}
}

// Names of partners come from others, and no file leaves the folder for them.
func TestNamesMakeNoPaths(t *testing.T) {
	for _, name := range []string{"..", ".", "../../x", "a/b", `a\b`, "a\x00b", "Mawjs", "con", "archive", "parties", "aux.txt", "", "ไทย", strings.Repeat("x", 200), ".git", "-rf", "com1"} {
		got := folderOf(name)
		if !strings.HasPrefix(got, "name-") || len(got) > maxFolder {
			t.Errorf("the folder of %q is %q", name, got)
		}
	}
	for _, name := range []string{"mawjs", "skills-cli", "white.2", "n_1"} {
		if got := folderOf(name); got != name {
			t.Errorf("the folder of %q is %q", name, got)
		}
	}
	a := agentIn(t, "skills")
	d := newDesk(a)
	d.books["skills"] = book("skills", "../../../x", 1)
	w := d.write(t, "skills")
	for _, file := range w.Files {
		if strings.Contains(file, "..") {
			t.Errorf("%s was written", file)
		}
	}
	if entries, _ := os.ReadDir(a.Dir); len(entries) != 1 {
		t.Errorf("the agent's folder has %v", entries)
	}
}

// A link in the folder that leads out of it is followed by nobody.
func TestLinksOutAreNotFollowed(t *testing.T) {
	a, outside := agentIn(t, "skills"), t.TempDir()
	files := filepath.Join(a.Dir, "ψ", "memory", "collaborations")
	if err := os.MkdirAll(files, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(files, "mawjs")); err != nil {
		t.Skip(err)
	}
	target := filepath.Join(outside, "target")
	if err := os.WriteFile(target, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(files, "registry.md")); err != nil {
		t.Fatal(err)
	}
	d := newDesk(a)
	d.books["skills"] = book("skills", "mawjs", 1)
	if _, err := d.Write("skills"); err == nil {
		t.Error("nothing is said of links that lead out")
	}
	entries, _ := os.ReadDir(outside)
	if data, _ := os.ReadFile(target); string(data) != "precious" || len(entries) != 1 {
		t.Errorf("written through a link: %q, %v", data, entries)
	}
}

// Two agents that share one ψ do not write into each other's files (R30).
func TestTwoAgentsOfOnePsi(t *testing.T) {
	first := agentIn(t, "skills")
	second := configs.Agent{Name: "volt", Dir: first.Dir}
	d := newDesk(first, second)
	d.books["skills"], d.books["volt"] = book("skills", "mawjs", 1), book("volt", "mawjs", 2)
	if at := d.write(t, "skills").Folder; filepath.Base(at) != "collaborations" {
		t.Errorf("the first one's files are in %s", at)
	}
	for range 2 {
		if at := d.write(t, "volt").Folder; filepath.Base(at) != "collaborations@volt" {
			t.Errorf("the second one's files are in %s", at)
		}
	}
	if w := d.write(t, "skills"); len(w.Files) != 0 {
		t.Errorf("%v changed again", w.Files)
	}
}

// What others open makes no folder in somebody's work; what the agent opens does.
func TestOnlyOnesOwnTopicMakesPsi(t *testing.T) {
	a := agentIn(t, "skills")
	d := newDesk(a)
	b := book("skills", "mawjs", 1)
	b.Partners[0].Topics[0].OpenedBy = "mawjs"
	d.books["skills"] = b
	if w := d.write(t, "skills"); w.Folder != "" {
		t.Errorf("made %s", w.Folder)
	}
	if entries, _ := os.ReadDir(a.Dir); len(entries) != 0 {
		t.Errorf("the agent's folder has %v", entries)
	}
	if err := os.Mkdir(filepath.Join(a.Dir, "ψ"), 0o755); err != nil {
		t.Fatal(err)
	}
	if w := d.write(t, "skills"); w.Folder == "" {
		t.Error("a ψ that is there is not used")
	}
}

// A state file that was kept by hand says what the record does not: it was overwritten.
func TestStateFileKeptByHand(t *testing.T) {
	a := agentIn(t, "skills")
	dir := filepath.Join(a.Dir, "ψ", "memory", "collaborations", "mawjs", "topics")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tmux-design.state.json"), []byte(`{"mine":1}`), 0o644); err != nil {
		t.Fatal(err)
	}
	d := newDesk(a)
	d.books["skills"] = book("skills", "mawjs", 1)
	d.write(t, "skills")
	d.write(t, "skills")
	kept, err := filepath.Glob(filepath.Join(a.Dir, "ψ", "memory", "collaborations", "archive", "*.by-hand-*"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("kept are %v, %v", kept, err)
	}
	if data, _ := os.ReadFile(kept[0]); string(data) != `{"mine":1}` {
		t.Errorf("kept is %s", data)
	}
}

// A history is only added to, and a score that is there is not added again, whoever wrote it.
func TestHistoryIsOnlyAddedTo(t *testing.T) {
	p := book("skills", "mawjs", 0).Partners[0]
	p.Topics[0].History = []topics.Sample{{At: noon, By: "mawjs", Topic: "tmux-design", Raw: 0.95, Lambda: 0.01}, {At: noon.Add(time.Hour), By: "mawjs", Topic: "tmux-design", Raw: 0.5, Lambda: 0.1}}
	hand := `{"ts":"2026-04-13T14:00:00+02:00","partner":"mawjs","topic":"tmux-design","raw":0.95,"lambda":0.01}` + "\ntorn"
	more := string(p.History([]byte(hand)))
	want := "\n" + `{"ts":"2026-04-13T13:00:00Z","partner":"mawjs","topic":"tmux-design","raw":0.5,"lambda":0.1,"source":"skills"}` + "\n"
	if more != want {
		t.Errorf("added is\n%s, not\n%s", more, want)
	}
	if again := p.History([]byte(hand + more)); len(again) > 0 {
		t.Errorf("added again: %s", again)
	}
}
