// Package browser drives a headless Chromium in tests, by playwright-core, and looks at pages with
// axe-core. Both come from npm by exact version, with the programs of internal/testkit/programs.
package browser

import (
	"bufio"
	_ "embed" // the program that drives it
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parleyfleet/parley/internal/testkit/programs"
)

//go:embed drive.mjs
var driver string

// Browser is a Chromium with a profile of its own. It ends with the test.
type Browser struct {
	t   testing.TB
	in  *json.Encoder
	out *bufio.Scanner
}

// Open starts a Chromium. The test skips where there is none.
func Open(t testing.TB) *Browser {
	t.Helper()
	dir := os.Getenv(programs.Variable)
	chromium, err := exec.LookPath("chromium")
	switch {
	case dir == "":
		t.Skip("needs playwright-core and axe-core: set " + programs.Variable + " to a folder with what internal/testkit/programs/package.json names")
	case err != nil:
		t.Skip("needs Chromium: it is not in PATH")
	}
	file := filepath.Join(t.TempDir(), "drive.mjs")
	if err := os.WriteFile(file, []byte(driver), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", file, dir, chromium)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close() // it ends its browser, and itself
		_ = cmd.Wait()
	})
	b := &Browser{t: t, in: json.NewEncoder(in), out: bufio.NewScanner(out)}
	b.out.Buffer(nil, 16<<20)
	return b
}

// Word is what a browser is told to do: what, and what it needs for that.
type Word struct {
	Do       string `json:"do"`
	At       string `json:"at,omitempty"`       // an address, or a selector
	Text     string `json:"text,omitempty"`     // what is typed, awaited or run
	File     string `json:"file,omitempty"`     // of a picture
	Dark     bool   `json:"dark,omitempty"`     // the colours of the window
	Width    int    `json:"width,omitempty"`    // of the window
	Height   int    `json:"height,omitempty"`   // of the window
	Stranger bool   `json:"stranger,omitempty"` // in another profile, which nobody has let in
}

// Answer is what came of it.
type Answer struct {
	Status int      `json:"status"` // of a page
	Text   string   `json:"text"`   // what stands there
	Paint  float64  `json:"paint"`  // milliseconds until the first content of a page was painted
	Bytes  int      `json:"bytes"`  // what was loaded for a page
	Links  []string `json:"links"`  // where a page leads to
	Wrong  []string `json:"wrong"`  // what the browser's console, its layout or axe said of a page
	Failed string   `json:"failed"` // why it could not be done
}

// Try has the browser do something.
func (b *Browser) Try(w Word) (a Answer) {
	b.t.Helper()
	if err := b.in.Encode(w); err != nil {
		b.t.Fatalf("the browser hears nothing: %v", err)
	}
	if !b.out.Scan() {
		b.t.Fatalf("the browser says nothing of %+v: %v", w, b.out.Err())
	}
	if err := json.Unmarshal(b.out.Bytes(), &a); err != nil {
		b.t.Fatalf("the browser says %q: %v", b.out.Text(), err)
	}
	return a
}

// Do has the browser do something that must succeed.
func (b *Browser) Do(w Word) Answer {
	b.t.Helper()
	a := b.Try(w)
	if a.Failed != "" {
		b.t.Fatalf("the browser cannot %s %s: %s", w.Do, w.At, a.Failed)
	}
	return a
}

// Go loads a page, and fails if it or the browser finds fault with it.
func (b *Browser) Go(at string) Answer {
	b.t.Helper()
	a := b.Do(Word{Do: "go", At: at})
	b.t.Logf("%s: %d, first paint %.0f ms, %d bytes", at, a.Status, a.Paint, a.Bytes)
	return a
}

// Click clicks on an element, and Type types into one.
func (b *Browser) Click(selector string) { b.t.Helper(); b.Do(Word{Do: "click", At: selector}) }

// Type types a text into a field, in place of what stands there.
func (b *Browser) Type(selector, text string) {
	b.t.Helper()
	b.Do(Word{Do: "type", At: selector, Text: text})
}

// Await waits until an element says a text.
func (b *Browser) Await(selector, text string) {
	b.t.Helper()
	b.Do(Word{Do: "await", At: selector, Text: text})
}

// Run runs an expression on the page, and returns its value as JSON.
func (b *Browser) Run(expression string) string {
	b.t.Helper()
	return b.Do(Word{Do: "run", Text: expression}).Text
}

// Look looks at the page that is loaded, in both colours and in the width of a phone, and returns what
// is wrong with it. If `folder` is not "", it keeps three pictures there.
func (b *Browser) Look(folder, name string) (wrong []string) {
	b.t.Helper()
	for _, w := range []Word{{Text: "light", Width: 1280, Height: 860}, {Text: "dark", Dark: true, Width: 1280, Height: 860}, {Text: "phone", Width: 390, Height: 800}} {
		w.Do = "look"
		if folder != "" {
			w.File = filepath.Join(folder, fmt.Sprintf("%s-%s.png", name, w.Text))
		}
		for _, one := range b.Do(w).Wrong {
			wrong = append(wrong, strings.Join([]string{name, w.Text, one}, ": "))
		}
	}
	return wrong
}
