package promptlog

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

var began = time.Date(2026, 5, 23, 19, 0, 0, 0, time.UTC)

func open(t testing.TB, dir string) *Log {
	t.Helper()
	l, err := Open(dir, func() time.Time { return began })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() }) // the test has often closed it by then
	return l
}

func pathOf(n int) protocol.Path {
	return protocol.NewPath("adfe0356-0f71-49a9-80a0-fb76883cd974", began, uint32(n))
}

// aPrompt returns a prompt of an agent with a long profile.
func aPrompt(n int) prompt.Prompt {
	return prompt.Build(prompt.Request{
		Agent: "mawjs", Profile: &protocol.Actor{Body: strings.Repeat("You think clearly. ", 200)}, Fence: fmt.Sprintf("%032d", n),
		Message: prompt.ShownMessage{Path: pathOf(n), From: "nat", At: began, Body: fmt.Sprintf("question %d\xff\n\n", n)},
	})
}

func keep(t testing.TB, l *Log, n, attempt int) prompt.Prompt {
	t.Helper()
	p := aPrompt(n)
	if err := l.Keep(Given{Path: pathOf(n), Agent: "mawjs", Attempt: attempt, Tier: "opus", Input: "prompt", LeftOut: 3}, p); err != nil {
		t.Fatal(err)
	}
	return p
}

func find(t testing.TB, l *Log, n, attempt int) (Given, bool) {
	t.Helper()
	g, ok, err := l.Find(pathOf(n), "mawjs", attempt)
	if err != nil {
		t.Fatal(err)
	}
	return g, ok
}

func sizeOf(t *testing.T, dir string) (size int64, files int) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %o: what agents are given is for their operator", e.Name(), info.Mode().Perm())
		}
		size += info.Size()
	}
	return size, len(entries)
}

// A prompt that was given is found byte for byte, after another start too, and each attempt has its
// own.
func TestWhatWasGivenIsFound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "prompts")
	l := open(t, dir)
	if _, ok := find(t, l, 1, 0); ok {
		t.Error("found before anything was given")
	}
	first := keep(t, l, 1, 1)
	keep(t, l, 2, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir)
	bare := prompt.Prompt{Text: "bare\x00\n", Parts: []prompt.Part{{Kind: prompt.Message, Text: "bare\x00\n"}}}
	if err := l.Keep(Given{Path: pathOf(1), Agent: "mawjs", Retry: 1, Attempt: 2}, bare); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		attempt int
		text    string
	}{{0, bare.Text}, {1, first.Text}, {2, bare.Text}} {
		if g, ok := find(t, l, 1, c.attempt); !ok || g.Text() != c.text {
			t.Errorf("attempt %d: %v, %q", c.attempt, ok, g.Text())
		}
	}
	g, _ := find(t, l, 1, 1)
	if g.Agent != "mawjs" || g.Tier != "opus" || g.Input != "prompt" || g.LeftOut != 3 || !g.Time.Equal(began) || g.Path != pathOf(1) {
		t.Errorf("given: %+v", g)
	}
	would := Parts(first)
	for i, p := range g.Parts {
		if p != would[i] {
			t.Errorf("part %d is kept as %+v, was %+v", i, p, would[i])
		}
	}
	if _, ok := find(t, l, 1, 3); ok {
		t.Error("found an attempt that was not made")
	}
	if _, ok, err := l.Find(pathOf(1), "other", 0); ok || err != nil {
		t.Errorf("found what another agent was given: %v, %v", ok, err)
	}
}

// Parts that prompts have in common are kept once. It prevents: a thousand runs of one agent store
// its profile a thousand times.
func TestWhatPromptsHaveInCommonIsKeptOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "prompts")
	l := open(t, dir)
	for n := range 1000 {
		keep(t, l, n, 1)
	}
	if size, _ := sizeOf(t, dir); size > 1000*1500 {
		t.Errorf("1,000 prompts of %d bytes take %d", len(aPrompt(1).Text), size)
	}
	for _, n := range []int{0, 500, 999} {
		if g, ok := find(t, l, n, 1); !ok || g.Text() != aPrompt(n).Text {
			t.Errorf("prompt %d is not as it was given: %v", n, ok)
		}
	}
}

// The oldest prompts are let go, and what is left can be read. It prevents: a disk that is full of
// prompts one day.
func TestTheOldestAreLetGo(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "prompts")
	l := open(t, dir)
	l.fileSize, l.most = 10_000, 40_000
	for n := range 200 {
		keep(t, l, n, 1)
	}
	if size, files := sizeOf(t, dir); size > l.most+10_000 || files < 3 || files > 5 {
		t.Errorf("%d bytes in %d files, allowed are %d", size, files, l.most)
	}
	if _, ok := find(t, l, 0, 0); ok {
		t.Error("the oldest is there")
	}
	gone := true
	for n := range 200 {
		g, ok := find(t, l, n, 0)
		if ok && g.Text() != aPrompt(n).Text {
			t.Errorf("prompt %d is not as it was given", n)
		}
		if gone = gone && !ok; !gone && !ok {
			t.Errorf("prompt %d is gone and an older one is not", n)
		}
	}
	if gone {
		t.Error("all are gone")
	}
}

// It prevents: a crash in the middle of a write hides all prompts that are given afterwards.
func TestHalfARecordIsCutOff(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "prompts")
	l := open(t, dir)
	keep(t, l, 1, 1)
	keep(t, l, 2, 1)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	file := l.file(1)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(data[:len(data)-5], 0, 0), 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir)
	if _, ok := find(t, l, 2, 0); ok {
		t.Error("found half a prompt")
	}
	keep(t, l, 3, 1)
	for _, n := range []int{1, 3} {
		if g, ok := find(t, l, n, 0); !ok || g.Text() != aPrompt(n).Text {
			t.Errorf("prompt %d: %v", n, ok)
		}
	}
	// A file of another form is left alone, and another file is begun.
	if err := os.WriteFile(l.file(2), []byte("of a later version"), 0o600); err != nil {
		t.Fatal(err)
	}
	l = open(t, dir)
	keep(t, l, 4, 1)
	if _, ok := find(t, l, 4, 0); !ok {
		t.Error("nothing is kept behind a file of another form")
	}
	if _, ok := find(t, l, 3, 0); !ok {
		t.Error("nothing is found before a file of another form")
	}
}

// A file that cannot be removed is no reason to keep nothing. It prevents: a prompt is lost because
// somebody reads the oldest file at that moment.
func TestWhatCannotBeRemovedHoldsNothingUp(t *testing.T) {
	l := open(t, filepath.Join(t.TempDir(), "prompts"))
	l.fileSize, l.most = 1, 1 // a file for each
	if err := os.MkdirAll(filepath.Join(l.file(1), "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		keep(t, l, n, 1)
		if g, ok := find(t, l, n, 0); !ok || g.Text() != aPrompt(n).Text {
			t.Errorf("prompt %d: %v", n, ok)
		}
	}
	if files, err := l.files(); err != nil || len(files) != 2 {
		t.Errorf("files %v, %v", files, err)
	}
}

func FuzzRecords(f *testing.F) {
	l := open(f, filepath.Join(f.TempDir(), "prompts"))
	keep(f, l, 1, 1)
	keep(f, l, 2, 1)
	data, err := os.ReadFile(l.file(1))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(magic))
	said := []byte(pathOf(1).String() + "\x00" + `{"parts":[{"kind":"x","hash":"AA=="},{"pieces":["YQ=="]}]}`)
	f.Add(appendRecord([]byte(magic), recordGiven, said))
	f.Add(appendRecord([]byte(magic), recordPart, make([]byte, 40)))
	f.Fuzz(func(t *testing.T, data []byte) {
		end := 0
		for r := range records(data) {
			if r.end <= end || r.end > len(data) {
				t.Fatalf("a record ends at %d after one that ends at %d of %d", r.end, end, len(data))
			}
			end = r.end
			if _, encoded, ok := r.part(); ok {
				decodePieces(encoded)
			}
		}
		if g, ok := findIn(data, pathOf(1), "", 0); ok && g.Path != pathOf(1) {
			t.Errorf("found %s", g.Path)
		}
	})
}

// Whatever a text holds, its pieces put together give the text again.
func FuzzPieces(f *testing.F) {
	f.Add("a fence b fence", "fence")
	f.Add("", "x")
	f.Add("aaaa", "aa")
	f.Fuzz(func(t *testing.T, text, fence string) {
		in, ok := decodePieces(encodePieces(pieces(text, fence)))
		if !ok || join(in, fence) != text {
			t.Errorf("%q with the fence %q became %q, %v", text, fence, join(in, fence), ok)
		}
	})
}
