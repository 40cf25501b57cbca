package main

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/spf13/cobra"
)

var update = flag.Bool("update", false, "write generated files anew")

const docsRoot = "../.."

// The reference is generated from the commands themselves, so that it cannot lie.
func TestReferenceIsUpToDate(t *testing.T) {
	wantPage(t, "commands.md", renderReference(root.New(testProgram())))
}

func testProgram() *cli.Program {
	return cli.New(strings.NewReader(""), io.Discard, io.Discard, func(string) string { return "" })
}

func renderReference(tree *cobra.Command) string {
	var b strings.Builder
	b.WriteString("# Commands\n\nGenerated from the program's own help by `go test ./cmd/parley -update`.\n")
	renderCommand(&b, tree)
	for _, cmd := range tree.Commands() { // those that help shows with --all alone
		if cmd.Hidden && cmd.Short != "" && cmd.Name() != "help" && cmd.Name() != "completion" {
			renderCommand(&b, cmd)
		}
	}
	b.WriteString("\n## Older names\n\nThese go on working:\n\n| older | today |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(root.OlderNames())) {
		fmt.Fprintf(&b, "| parley %s | parley %s |\n", name, root.OlderNames()[name])
	}
	return b.String()
}

func renderCommand(b *strings.Builder, cmd *cobra.Command) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n```\n%s\n```\n", cmd.CommandPath(), strings.TrimSpace(text), cmd.UseLine())
	if flags := cmd.LocalFlags().FlagUsages(); flags != "" {
		fmt.Fprintf(b, "\n```\n%s```\n", flags)
	}
	if cmd.Example != "" {
		fmt.Fprintf(b, "\nFor example:\n\n```sh\n%s\n```\n", unindent(cmd.Example))
	}
	for _, sub := range cmd.Commands() {
		if !sub.Hidden && sub.Name() != "help" && sub.Name() != "completion" {
			renderCommand(b, sub)
		}
	}
}

func unindent(text string) string {
	return regexp.MustCompile(`(?m)^  `).ReplaceAllString(text, "")
}

// pages returns the texts that a person reads.
func pages(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(docsRoot, "docs", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	deeper, err := filepath.Glob(filepath.Join(docsRoot, "docs", "*", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	found = append(found, deeper...)
	for _, name := range []string{"README.md", "AGENTS.md", "CHANGELOG.md"} {
		found = append(found, filepath.Join(docsRoot, name))
	}
	return found
}

func TestLinksInDocsResolve(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)]*)?\)`)
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}

// A command line in the documentation names commands and flags that exist.
func TestCommandsInDocsExist(t *testing.T) {
	checked := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fenced(string(text)) {
			checked += checkCommands(t, page, block)
		}
	}
	if checked < 20 {
		t.Errorf("only %d command lines were found: the pattern is wrong", checked)
	}
}

// Who follows a page is told when a step does not come about. It prevents: a loop of the tutorial
// that waits for ever, and says nothing.
func TestNoPageWaitsForEver(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range fenced(string(text)) {
			if loop := regexp.MustCompile(`(?m)^\s*(until|while) .*`).FindString(block); loop != "" {
				t.Errorf("%s waits without an end: %s", page, loop)
			}
		}
	}
}

// The picture in README.md is drawn anew only when a maintainer asks for it. It prevents: a renamed
// command stays in the picture, or the SVG is no XML, of which a viewer shows nothing at all.
func TestPictureOfASession(t *testing.T) {
	const largest = 40 << 10 // bytes; README.md is to open at once
	page := filepath.Join(docsRoot, "docs", "session.svg")
	picture, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if len(picture) > largest {
		t.Errorf("%s has %d bytes, at most %d are wanted", page, len(picture), largest)
	}
	var text strings.Builder
	seen := map[string]bool{}
	for d := xml.NewDecoder(bytes.NewReader(picture)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%s is no XML: %v", page, err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			seen[token.Name.Local] = true
		case xml.CharData:
			text.Write(token)
		}
	}
	for _, name := range []string{"title", "desc", "text"} {
		if !seen[name] {
			t.Errorf("%s has no element %s", page, name)
		}
	}
	for _, name := range []string{"script", "image", "foreignObject"} {
		if seen[name] {
			t.Errorf("%s has an element %s: it is to stand alone", page, name)
		}
	}
	if n := checkCommands(t, page, text.String()); n < 8 {
		t.Errorf("%s shows only %d command lines", page, n)
	}
}

var (
	commandLine = regexp.MustCompile(`(?m)^(?:[a-z-]*\$ )?(?:PARLEY_[A-Z]+=\S+ )*parley ([a-z-][^\n]*)$`)
	flagName    = regexp.MustCompile(`(?:^|\s)(--[a-z][a-z-]*)`)
)

// checkCommands checks each command line in a text of a page, and counts those that exist.
func checkCommands(t *testing.T, page, text string) (checked int) {
	t.Helper()
	for _, m := range commandLine.FindAllStringSubmatch(text, -1) {
		words, _, _ := strings.Cut(m[1], " '")
		words, _, _ = strings.Cut(words, ` "`)
		words, _, _ = strings.Cut(words, "  #")
		tree := root.New(testProgram())
		cmd, _, err := tree.Find(cli.Today(tree, strings.Fields(words)))
		if err != nil || cmd.Name() == "parley" && !strings.HasPrefix(words, "-") {
			t.Errorf("%s: parley %s: no such command", page, m[1])
			continue
		}
		checked++
		for _, f := range flagName.FindAllStringSubmatch(words, -1) {
			name := strings.TrimPrefix(f[1], "--")
			if cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && name != "help" {
				t.Errorf("%s: parley %s: no flag %s", page, m[1], f[1])
			}
		}
	}
	return checked
}

// fenced returns the blocks of code in a page.
func fenced(text string) []string {
	var blocks []string
	for i, part := range strings.Split(text, "```") {
		if i%2 == 1 {
			blocks = append(blocks, part)
		}
	}
	return blocks
}

// wantPage compares a page of the reference with what it is generated from. With -update it writes
// the page.
func wantPage(t *testing.T, name, want string) {
	t.Helper()
	file := filepath.Join(docsRoot, "docs", "reference", name)
	if *update && !t.Failed() {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference/%s is not what it is generated from; run go test ./cmd/parley -update\n%s", name, diff)
	}
}
