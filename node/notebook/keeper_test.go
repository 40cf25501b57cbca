package notebook

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/protocol"
	"github.com/rs/zerolog"
)

// desk is a host whose agents have folders, and what these agents work on.
type desk struct {
	*Keeper
	books    map[string]Book
	messages feed.Feeds[protocol.Path]
	asked    []string // the agents whose books were asked for, each with the channels
	wrong    []string // what was told
}

func newDesk(agents ...configs.Agent) *desk {
	d := &desk{books: map[string]Book{}}
	d.Keeper = New(Options{
		Agents: func() []configs.Agent { return agents }, Messages: &d.messages, Log: zerolog.Nop(),
		Book: func(me string, changed []protocol.ChannelID) Book {
			d.asked = append(d.asked, fmt.Sprint(me, changed))
			return d.books[me]
		},
		Concerned: func(c protocol.ChannelID) []string {
			return map[protocol.ChannelID][]string{tmuxChannel: {"skills", "mawjs"}, portChannel: {"volt", "mawjs"}}[c]
		},
		Wrong: func(about, text string) { d.wrong = append(d.wrong, about+"; "+text) },
	})
	return d
}

const (
	tmuxChannel protocol.ChannelID = "11111111-1111-4111-8111-111111111111"
	portChannel protocol.ChannelID = "22222222-2222-4222-8222-222222222222"
	elsewhere   protocol.ChannelID = "33333333-3333-4333-8333-333333333333"
)

func (d *desk) write(t *testing.T, agent string) Written {
	t.Helper()
	w, err := d.Write(agent)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var noon = time.Date(2026, 4, 13, 12, 0, 0, 0, time.UTC)

// first is the message that opened the topic of a book.
var first = protocol.NewPath("adfe0356-0f71-49a9-80a0-fb76883cd974", noon, 1)

// book returns a book of one topic with one partner, and so many agreements.
func book(me, with string, agreements int) Book {
	t := Topic{Topic: control.Topic{Head: topic.Head{Name: "tmux design", Slug: "tmux-design", Opened: first, Since: noon}, Me: me, With: with, OpenedBy: me, Status: "NEW"}}
	t.State = topics.Sidecar{Topic: t.Slug.String(), Items: map[string]topics.SidecarItem{}}
	for n := range agreements {
		label := fmt.Sprintf("A%d", n+1)
		t.Items = append(t.Items, control.TopicItem{Item: topic.Item{Label: protocol.Label(label), Sort: topic.Agreement, By: me, Signed: true}, Text: "item " + label, Agreed: true})
		t.State.Items[label] = topics.SidecarItem{Text: "item " + label, Phase: topic.Accepted}
	}
	return Book{Me: me, Partners: []Partner{{Relation: control.Relation{Me: me, With: with, Trust: "uncalibrated", Since: noon}, Topics: []Topic{t}}}}
}

func agentIn(t *testing.T, name string) configs.Agent {
	t.Helper()
	return configs.Agent{Name: protocol.Name(name), Dir: t.TempDir()}
}

// Somebody saves a topic's file while it is written, in each of the ways in which editors save. It
// prevents: what was saved at that moment is lost.
func TestAnEditorSavesMeanwhile(t *testing.T) {
	t.Parallel()
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
		for n := range saves { // this editor writes another file and renames it, and sees what it saved
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

// A save between reading and writing is noticed. It prevents: it is overwritten.
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

// The names of partners come from others. No name has a file leave the folder.
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

// Nobody follows a link in the folder that leads out of it.
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

// A topic that others open makes no folder where an agent works. A topic that the agent opens does.
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

// A person's line may look like parley's own line that says of which term a file is. It prevents:
// the file is put away at each write, and with it the person's words.
func TestAPersonsLineOfARecord(t *testing.T) {
	a := agentIn(t, "skills")
	d := newDesk(a)
	d.books["skills"] = book("skills", "mawjs", 1)
	folder := d.write(t, "skills").Folder
	file := filepath.Join(folder, "mawjs", "topics", "tmux-design.md")
	const line = "**Record**: c/2026/another.md\n"
	whole, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"before all":     line + string(whole),
		"behind all":     string(whole) + "\n" + line,
		"in the head":    strings.Replace(string(whole), "**Record**: ", line+"**Record**: ", 1),
		"in its place":   strings.Replace(string(whole), "**Record**: "+first.String()+"\n", line, 1),
		"in a section":   strings.Replace(string(whole), "- [A1]", line+"- [A1]", 1),
		"without a head": line + "my words\n",
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			d.write(t, "skills")
			if w := d.write(t, "skills"); len(w.Files) > 0 {
				t.Errorf("written again are %v", w.Files)
			}
			files := everything(t, folder)
			if at := find(files, line); !slices.Equal(at, []string{"mawjs/topics/tmux-design.md"}) {
				t.Errorf("the line stands in %v", at)
			}
			lacks(t, files["mawjs/topics/tmux-design.md"], "**Record**: "+first.String()+"\n")
		})
	}
}

// A person who saves a topic's file after it was put away finds what they saved in the archive.
// Each write puts away only what is there.
func TestASaveAfterATopicWasPutAway(t *testing.T) {
	a := agentIn(t, "skills")
	d := newDesk(a)
	b := book("skills", "mawjs", 1)
	d.books["skills"] = b
	folder := d.write(t, "skills").Folder
	file := filepath.Join(folder, "mawjs", "topics", "tmux-design.md")
	edited, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b.Partners[0].Topics[0].Over = noon
	d.write(t, "skills")
	if err := os.WriteFile(file, append(edited, "my late words\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	d.write(t, "skills")
	if w := d.write(t, "skills"); len(w.Files) > 0 {
		t.Errorf("written again are %v", w.Files)
	}
	files := everything(t, folder)
	if at := find(files, "my late words"); !slices.Equal(at, []string{"archive/tmux-design_20260413-2.md"}) {
		t.Errorf("what was saved late stands in %v", at)
	}
	if at := find(files, "# Topic: tmux design"); len(at) != 2 {
		t.Errorf("the topic's sheet stands in %v", at)
	}
}

// It prevents: a kill between the exchange of two files and the reading of what was there leaves a
// person's words for ever in a file that nobody sees.
func TestWhatAKillLeft(t *testing.T) {
	a := agentIn(t, "skills")
	d := newDesk(a)
	d.books["skills"] = book("skills", "mawjs", 1)
	folder := d.write(t, "skills").Folder
	topic := filepath.Join(folder, "mawjs", "topics")
	sheet, err := os.ReadFile(filepath.Join(topic, "tmux-design.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".parley-tmp-tmux-design.md-77-0":         string(sheet) + "my words\n",
		".parley-tmp-tmux-design.md-77-1":         string(sheet),
		".parley-tmp-tmux-design.md-77-2":         string(sheet[:len(sheet)/2]),
		".parley-tmp-tmux-design.md-77-3":         "",
		".parley-tmp-tmux-design.state.json-77-0": `{"half":`,
		".parley-tmp-of-another":                  "not ours",
	} {
		if err := os.WriteFile(filepath.Join(topic, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	d.write(t, "skills") // one node does it once, at its start
	if left, _ := filepath.Glob(filepath.Join(topic, ".parley-tmp-*")); len(left) != 6 {
		t.Errorf("left is %v", left)
	}
	again := newDesk(a)
	again.books = d.books
	if w := again.write(t, "skills"); !slices.Equal(w.Files, []string{"mawjs/topics/tmux-design.md.saved-1"}) {
		t.Errorf("written are %v", w.Files)
	}
	if left, _ := filepath.Glob(filepath.Join(topic, ".parley-tmp-*")); len(left) != 1 {
		t.Errorf("left is %v", left)
	}
	if at := find(everything(t, folder), "my words"); !slices.Equal(at, []string{"mawjs/topics/tmux-design.md.saved-1"}) {
		t.Errorf("what a person saved stands in %v", at)
	}
}

// A message of a topic writes the files only of the agents whose topic it is. It prevents: a
// message of any topic writes the files of all agents.
func TestOnlyFilesOfATopicThatChangedAreWritten(t *testing.T) {
	d := newDesk(agentIn(t, "skills"), agentIn(t, "volt"))
	d.books["skills"], d.books["volt"] = book("skills", "mawjs", 1), book("volt", "mawjs", 1)
	all := []string{"skills[]", "volt[]"}
	skills, volt := fmt.Sprintf("skills[%s]", tmuxChannel), fmt.Sprintf("volt[%s]", portChannel)
	for name, c := range map[string]struct {
		in     []protocol.ChannelID
		missed bool
		want   []string
	}{
		"one of a topic":    {in: []protocol.ChannelID{tmuxChannel}, want: []string{skills}},
		"several":           {in: []protocol.ChannelID{tmuxChannel, elsewhere, tmuxChannel}, want: []string{skills}},
		"none of any topic": {in: []protocol.ChannelID{elsewhere}},
		"two of two's":      {in: []protocol.ChannelID{portChannel, tmuxChannel}, want: []string{skills, volt}},
		"some were missed":  {in: []protocol.ChannelID{elsewhere}, missed: true, want: all},
	} {
		t.Run(name, func(t *testing.T) {
			d.asked, d.wrong = nil, nil
			var paths []protocol.Path
			for n, channel := range c.in {
				paths = append(paths, protocol.NewPath(channel, noon, uint32(n)))
			}
			d.after(nil, true)
			if !slices.Equal(d.asked, all) {
				t.Errorf("at the start %v were written", d.asked)
			}
			d.asked = nil
			d.after(paths, c.missed)
			if !slices.Equal(d.asked, c.want) {
				t.Errorf("%v were written, not %v", d.asked, c.want)
			}
		})
	}
}

// The files of an agent that is added are written at the next message, whatever that message is
// about. So are the files of an agent that could not be written as a whole. All tries tell what is
// wrong once.
func TestWhatIsWrongIsToldOnce(t *testing.T) {
	a := agentIn(t, "skills")
	d := newDesk(a)
	d.books["skills"] = book("skills", "mawjs", 1)
	folder := filepath.Join(a.Dir, "ψ", "memory", "collaborations")
	pipe := filepath.Join(folder, "registry.md")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := fifo(pipe); err != nil {
		t.Skip(err)
	}
	d.after([]protocol.Path{protocol.NewPath(elsewhere, noon, 1)}, false) // the agent was added just now
	for range 3 {
		d.after([]protocol.Path{protocol.NewPath(tmuxChannel, noon, 2)}, false)
	}
	about := "files of collaborations of skills"
	want := []string{about + "; the " + about + ": cannot write registry.md: registry.md is a named pipe, no plain file: move it away"}
	if !slices.Equal(d.wrong, want) {
		t.Errorf("told is %q, not %q", d.wrong, want)
	}
	if len(d.asked) != 4 || slices.ContainsFunc(d.asked, func(s string) bool { return s != "skills[]" }) {
		t.Errorf("written were %v", d.asked)
	}
	if _, err := os.Stat(filepath.Join(folder, "mawjs", "topics", "tmux-design.md")); err != nil {
		t.Errorf("for one file the others were not written: %v", err)
	}
	if err := os.Remove(pipe); err != nil {
		t.Fatal(err)
	}
	d.write(t, "skills") // as a sweep does
	if want = append(want, about+"; "); !slices.Equal(d.wrong, want) {
		t.Errorf("told is %q, not %q", d.wrong, want)
	}
}

// If what happens in one topic gives an agent its first folder, the agent gets the files of all
// topics.
func TestTheFirstFolderHasAll(t *testing.T) {
	a := agentIn(t, "skills")
	d := newDesk(a)
	b := book("skills", "mawjs", 1)
	b.Partners[0].Topics[0].OpenedBy = "mawjs"
	d.books["skills"] = b
	d.after(nil, true)
	if err := os.Mkdir(filepath.Join(a.Dir, "ψ"), 0o755); err != nil {
		t.Fatal(err)
	}
	d.asked = nil
	for range 2 {
		d.after([]protocol.Path{protocol.NewPath(tmuxChannel, noon, 1)}, false)
	}
	if want := []string{"skills[]", fmt.Sprintf("skills[%s]", tmuxChannel)}; !slices.Equal(d.asked, want) {
		t.Errorf("written were %v, not %v", d.asked, want)
	}
}

// Files of topics and partners in which nothing happened are not even read.
func TestWhatStaysIsNotTouched(t *testing.T) {
	a := agentIn(t, "skills")
	d := newDesk(a)
	b := book("skills", "mawjs", 1)
	other := b.Partners[0].Topics[0]
	other.Slug, other.Name, other.Stays = "ports", "ports", true
	b.Partners[0].Topics = append(b.Partners[0].Topics, other)
	b.Partners = append(b.Partners, Partner{Relation: control.Relation{Me: "skills", With: "volt"}, Topics: []Topic{other}, Stays: true})
	d.books["skills"] = b
	w := d.write(t, "skills")
	want := []string{"mawjs/context.md", "mawjs/topics/tmux-design.state.json", "mawjs/topics/tmux-design.md", "registry.md"}
	if !slices.Equal(w.Files, want) {
		t.Errorf("written are %v, not %v", w.Files, want)
	}
	rows, err := os.ReadFile(filepath.Join(w.Folder, "registry.md"))
	if err != nil {
		t.Fatal(err)
	}
	lacks(t, string(rows), "| ports | mawjs |", "| tmux design | mawjs |")
}

// A state file that was kept by hand says what the record does not. It prevents: it is overwritten.
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

// scored returns a partner that has scored twice.
func scored() Partner {
	p := book("skills", "mawjs", 0).Partners[0]
	p.Topics[0].History = []topic.Sample{{At: noon, By: "mawjs", Topic: "tmux-design", Raw: 0.95, Lambda: 0.01}, {At: noon.Add(time.Hour), By: "mawjs", Topic: "tmux-design", Raw: 0.5, Lambda: 0.1}}
	return p
}

const (
	firstScore  = `{"ts":"2026-04-13T12:00:00Z","partner":"mawjs","topic":"tmux-design","raw":0.95,"lambda":0.01,"source":"skills"}` + "\n"
	secondScore = `{"ts":"2026-04-13T13:00:00Z","partner":"mawjs","topic":"tmux-design","raw":0.5,"lambda":0.1,"source":"skills"}` + "\n"
)

func lacking(t *testing.T, existing string) string {
	t.Helper()
	more, err := scored().History(strings.NewReader(existing))
	if err != nil {
		t.Fatal(err)
	}
	return string(more)
}

// Work-with W136: a history is only added to. A score that is there is not added again, whoever
// wrote it.
func TestHistoryIsOnlyAddedTo(t *testing.T) {
	hand := `{"ts":"2026-04-13T14:00:00+02:00","partner":"mawjs","topic":"tmux-design","raw":0.95,"lambda":0.01}` + "\n"
	for name, existing := range map[string]struct{ file, more string }{
		"none":                {"", firstScore + secondScore},
		"one by hand":         {hand, secondScore},
		"no end of line":      {strings.TrimSuffix(hand, "\n"), "\n" + secondScore},
		"somebody's cut line": {hand + "torn", "\n" + secondScore},
		"a line too long":     {hand + strings.Repeat("x", 3*maxLine), "\n" + secondScore},
		"all":                 {secondScore + strings.Repeat("y", 2*maxLine) + "\n" + hand, ""},
	} {
		t.Run(name, func(t *testing.T) {
			more := lacking(t, existing.file)
			if more != existing.more {
				t.Errorf("added is\n%s, not\n%s", more, existing.more)
			}
			if again := lacking(t, existing.file+more); again != "" {
				t.Errorf("added again: %s", again)
			}
		})
	}
}

// A node that was killed at any byte of a line completes the line. It prevents: a line that no
// program can read.
func TestACutLineOfAHistoryIsCompleted(t *testing.T) {
	for n := range len(firstScore + secondScore) {
		cut := (firstScore + secondScore)[:n]
		whole := strings.TrimSuffix(cut+lacking(t, cut), "\n") + "\n" // a line that lacks its end alone says all
		if whole != firstScore+secondScore && whole != secondScore+firstScore {
			t.Fatalf("%q was made\n%s", cut, whole)
		}
	}
}

// It prevents: a history of more than 16 MiB is refused, and no score is ever added.
func TestALargeHistory(t *testing.T) {
	a := agentIn(t, "skills")
	d := newDesk(a)
	d.books["skills"] = Book{Me: "skills", Partners: []Partner{scored()}}
	file := filepath.Join(d.write(t, "skills").Folder, "mawjs", "sync.history.jsonl")
	large := firstScore + strings.Repeat(strings.Repeat("z", 1000)+"\n", maxSheet/1000)
	if err := os.WriteFile(file, []byte(large), 0o644); err != nil {
		t.Fatal(err)
	}
	d.write(t, "skills")
	data, err := os.ReadFile(file)
	if err != nil || string(data) != large+secondScore {
		t.Errorf("the history ends with %q, %v", data[max(0, len(data)-300):], err)
	}
}

func FuzzHistory(f *testing.F) {
	f.Add(firstScore + "torn")
	f.Add(firstScore[:20])
	f.Fuzz(func(t *testing.T, existing string) {
		more, err := scored().History(strings.NewReader(existing))
		if err != nil {
			t.Fatal(err)
		}
		again, err := scored().History(strings.NewReader(existing + string(more)))
		if err != nil || len(again) > 0 {
			t.Fatalf("%q is added again to %q, %v", again, existing, err)
		}
		for _, line := range []string{firstScore, secondScore} {
			if bytes.Contains(more, []byte(line)) && !strings.Contains("\n"+existing+string(more), "\n"+line) {
				t.Fatalf("%q is no line of its own behind %q", line, existing)
			}
		}
	})
}

// It prevents: in a burst, the keeper of the files reads the topic of a channel for each message.
// That took a tenth of what the node had for the burst.
func TestABurstInAChannelIsOneQuestion(t *testing.T) {
	asked := 0
	k := New(Options{Agents: func() []configs.Agent { return nil }, Concerned: func(protocol.ChannelID) []string {
		asked++
		return []string{"skills", "mawjs"}
	}})
	var burst []protocol.Path
	for n := range uint32(500) {
		for _, channel := range []protocol.ChannelID{"talk", "other", "topic"} {
			burst = append(burst, protocol.NewPath(channel, noon, n))
		}
	}
	if k.after(burst, false); asked != 3 {
		t.Errorf("for 500 messages in each of three channels it was asked %d times, want 3", asked)
	}
}
