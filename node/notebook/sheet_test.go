package notebook

import (
	"bytes"
	"strings"
	"testing"
)

func sheet(lines ...string) Sheet {
	return Sheet{Title: "Topic: tmux design", Sections: []Section{
		{Name: "head", Lines: []string{"**Created**: 2026-04-13"}},
		{Name: "agreements", Heading: "Agreements", Lines: lines, Do: "To propose it: parley work-with mawjs \"tmux design\" --agree \"…\""},
		{Heading: "Notes", Lines: []string{"(yours)"}},
		{Name: "pending", Heading: "Pending", Lines: []string{"- [ ] [P1] Define scope and goals"}},
	}}
}

func render(t *testing.T, s Sheet, existing string) string {
	t.Helper()
	once := s.Render([]byte(existing))
	if twice := s.Render(once); !bytes.Equal(once, twice) {
		t.Fatalf("rendering again changes the file from\n%s\nto\n%s", once, twice)
	}
	return string(once)
}

func lacks(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in the file:\n%s", want, text)
		}
	}
}

// A person's prose stays in the file as it was, wherever it stands. It prevents: a file that is
// written anew loses it (W11).
func TestProseSurvives(t *testing.T) {
	file := string(sheet("- [A1] one").Render(nil))
	file = strings.Replace(file, "(yours)", "my *own* words  \n\n\n```\n# code\n```", 1) + "\n\nat the end"
	file = "---\nfront: matter\n---\n" + file
	got := render(t, sheet("- [A1] one", "- [A2] two"), file)
	lacks(t, got, "---\nfront: matter\n---\n", "my *own* words  \n\n\n```\n# code\n```", "\n\nat the end\n", "- [A1] one\n- [A2] two\n<!-- parley:end agreements -->")
	if strings.Contains(got, "Not taken in") {
		t.Errorf("what parley wrote is said not to be taken in:\n%s", got)
	}
}

// Lines that somebody writes into a section are moved below it, with the command that would do what
// they want.
func TestWordsInASectionAreNotTakenIn(t *testing.T) {
	file := string(sheet("- [A1] one", "- [A2] two").Render(nil))
	file = strings.Replace(file, "- [A1] one", "- [A1] one, but better\n- I also want this", 1)
	got := render(t, sheet("- [A1] one", "- [A2] two"), file)
	lacks(t, got, "- [A1] one\n- [A2] two\n<!-- parley:end agreements -->\n\n> Not taken in: parley writes the part above from the record. To propose it: parley work-with",
		"- [A1] one, but better\n- I also want this\n")
	if again := string(sheet("- [A3] three").Render([]byte(got))); strings.Count(again, "I also want this") != 1 {
		t.Errorf("it is there more than once:\n%s", again)
	}
}

// If an editor saves an old copy, parley's old lines come back. They are not taken for a person's
// words.
func TestAnOldCopyIsReplaced(t *testing.T) {
	old := string(sheet("- [A1] [spec] one").Render(nil)) + "\nmine\n"
	got := render(t, sheet("- [A1] ✓ ACCEPTED: one"), old)
	lacks(t, got, "- [A1] ✓ ACCEPTED: one", "\nmine\n")
	if strings.Contains(got, "[spec]") {
		t.Errorf("the old line is kept as if a person had written it:\n%s", got)
	}
}

// A file that was kept by hand gets the sections below its headings, and loses nothing.
func TestHandKeptFile(t *testing.T) {
	hand := "# Topic: tmux design\n\n**Created**: 2026-01-01\n\n## Agreements\n- [A1] by hand\n\n## Checkpoints\nmine"
	got := render(t, sheet("- [A1] one"), hand)
	lacks(t, got, "# Topic: tmux design\n\n<!-- parley:begin head", "## Agreements\n\n<!-- parley:begin agreements", "- [A1] by hand\n\n## Checkpoints\nmine\n",
		"## Pending\n\n<!-- parley:begin pending")
}

// Marks that were damaged are put right, and nothing that a person wrote is lost.
func TestDamagedMarks(t *testing.T) {
	whole := string(sheet("- [A1] one").Render(nil)) + "\nmine\n"
	for name, change := range map[string][2]string{
		"no end":      {"<!-- parley:end agreements -->\n", ""},
		"no begin":    {"<!-- parley:begin agreements " + lineHash("- [A1] one") + " -->\n", ""},
		"two":         {"## Notes", "<!-- parley:begin agreements -->\nsecond\n<!-- parley:end agreements -->\n## Notes"},
		"end first":   {"# Topic", "<!-- parley:end agreements -->\n# Topic"},
		"no heading":  {"## Agreements", ""},
		"line breaks": {"\n", "\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			damaged := strings.ReplaceAll(whole, change[0], change[1])
			if damaged == whole {
				t.Fatal("nothing was damaged")
			}
			got := render(t, sheet("- [A1] one"), damaged)
			lacks(t, got, "mine", "- [A1] one", "(yours)")
			for _, mark := range []string{"<!-- parley:begin agreements", "<!-- parley:end agreements"} {
				if strings.Count(got, mark) != 1 {
					t.Errorf("%q stands %d times in the file:\n%s", mark, strings.Count(got, mark), got)
				}
			}
			if name == "two" {
				lacks(t, got, "second")
			}
		})
	}
}

func FuzzRender(f *testing.F) {
	f.Add(string(sheet("- [A1] one").Render(nil)), "two")
	f.Add("# Topic\n## Agreements\n<!-- parley:begin agreements 00000000 -->\nx", "<!-- parley:end agreements -->")
	f.Fuzz(func(t *testing.T, existing, item string) {
		s := sheet("- [A1] " + inLine(item))
		once := s.Render([]byte(existing))
		if twice := s.Render(once); !bytes.Equal(once, twice) {
			t.Fatalf("rendering again changes %q to %q", once, twice)
		}
		if lacksWords(once, []byte(existing)) {
			t.Fatalf("%q has not all words of %q", once, existing)
		}
		own := map[string]bool{}
		for line := range strings.SplitSeq(existing, "\n") {
			if m := beginning.FindStringSubmatch(line); m != nil {
				for _, hash := range strings.Fields(m[2]) {
					own[hash] = true
				}
			}
		}
		kept := map[string]bool{}
		for line := range strings.SplitSeq(string(once), "\n") {
			kept[line] = true
		}
		for line := range strings.SplitSeq(existing, "\n") {
			mark := beginning.MatchString(line) || ending.MatchString(line)
			if !mark && strings.TrimSpace(line) != "" && !own[lineHash(line)] && !kept[line] {
				t.Fatalf("%q is lost from\n%q\nin\n%q", line, existing, once)
			}
		}
	})
}
