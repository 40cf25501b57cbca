package inquiries

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parleyfleet/parley/fleet/inquiries/inquiry"
	"github.com/parleyfleet/parley/protocol"
)

// What language models make of headings is read as headings, and what is no section says so.
func TestSections(t *testing.T) {
	for text, want := range map[string][]string{
		"## One\na\n## Two\nb":                          {"a", "b"},
		"# one\n\na\n\n\n### TWO\n\nb\n":                {"a", "b"},
		"**One**\na\n**Two**:\nb":                       {"a", "b"},
		"1. **One**\na\n2. **Two**\nb":                  {"a", "b"},
		"### One (Shared Horizon)\na\n### Two (x)\nb":   {"a", "b"},
		"## One: what it is\na\n## Two \u2014 so\nb":    {"a", "b"},
		"**One**: a\n**Two:** b\nc":                     {"a", "b\nc"},
		"## **One**\na\n## 2. Two\nb":                   {"a", "b"},
		"One:\na\nTwo\nb":                               {"a", "b"},
		"## One\none: is\n## Ones\n## Two\nb":           {"one: is\n## Ones", "b"},
		"words\n## One\na\n```\n## Two\n```\n## Two\nb": {"a\n```\n## Two\n```", "b"},
		"## One\r\na\r\n## Two\r\nb\r\n":                {"a", "b"},
		"## One\nthe one thing\ntwo words\n## Two\nb":   {"the one thing\ntwo words", "b"},
	} {
		got, faults := Sections(text, "One", "Two")
		if len(faults) > 0 || got["One"] != want[0] || got["Two"] != want[1] {
			t.Errorf("%q is read as %q, %q", text, got, faults)
		}
	}
	for text, want := range map[string]string{
		"## One\na":                       `"Two" is missing`,
		"## One\na\n## Two\n":             `"Two" says nothing`,
		"## One\na\n## Two\nTBD.":         `"Two" says nothing`,
		"## One\na\n## Two\n- n/a":        `"Two" says nothing`,
		"## One\na\n## Two\n…":            `"Two" says nothing`,
		"## One\na\n## Two\nb\n## One\nc": `"One" stands twice`,
	} {
		if _, faults := Sections(text, "One", "Two"); !cmp.Equal(faults, []string{want}) {
			t.Errorf("%q: %q, want %q", text, faults, want)
		}
	}
}

// What a result lacks is flagged: a section, substance, evidence. Abstract questions need none.
func TestWhatAResultLacks(t *testing.T) {
	good := "## Epistemic Contribution\nx\n## Framework Analysis\nin a/b.go\n## Horizon Limits\ny\n## Assessment\n3 of 4\n"
	for change, want := range map[[2]string][]string{
		{"", ""}:                                nil,
		{"## Horizon Limits\ny\n", ""}:          {`"Horizon Limits" is missing`},
		{"in a/b.go", "by feeling"}:             {`"Framework Analysis" names no evidence`},
		{"3 of 4", "| cost | TBD |\n| 3 | 4 |"}: {`"Assessment" has points that say nothing`},
		{"3 of 4", "To be determined"}:          {`"Assessment" says nothing`, `"Assessment" names no evidence`},
	} {
		if diff := cmp.Diff(want, CheckResult(strings.Replace(good, change[0], change[1], 1), false)); diff != "" {
			t.Errorf("%q:\n%s", change, diff)
		}
	}
	if faults := CheckResult(strings.Replace(good, "in a/b.go", "by feeling", 1), true); faults != nil {
		t.Errorf("an abstract question: %q", faults)
	}
}

// The labels of the kinds of tension (R44), and what an inquiry costs (R58).
func TestTopicTextsAndCost(t *testing.T) {
	text := func(kinds ...string) string {
		tension := &inquiry.Tension{}
		for _, k := range kinds {
			tension.Triggers = append(tension.Triggers, protocol.InquiryTrigger{Kind: k, Topic: "Z"})
		}
		return TopicText(tension)
	}
	if text(protocol.TriggerEmergent) != text(protocol.TriggerHorizon) || text(protocol.TriggerStakes) == text(protocol.TriggerHorizon) {
		t.Error("what fits no kind has another label than a horizon")
	}
	if got := text(protocol.TriggerContradiction, protocol.TriggerStakes); strings.Count(got, "\n") != 1 {
		t.Errorf("two tensions of one pair are %q", got)
	}
	if got := Cost(4, 2, 1, 1); got != 7+8+18+1+2 {
		t.Errorf("it costs %d", got)
	}
}

// FuzzSections: sections of any text are parts of it, and a text that is put together of sections is
// read as them.
func FuzzSections(f *testing.F) {
	f.Add("## One\na\n## Two\nb", "x")
	f.Add("```\n**One**\n", "TBD")
	f.Fuzz(func(t *testing.T, text, part string) {
		sections, _ := Sections(text, "One", "Two")
		for h, s := range sections {
			if !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), s) {
				t.Fatalf("%s is %q, which does not stand in %q", h, s, text)
			}
		}
		CheckResult(text, false)
		Paragraphs(text)
		part = strings.Join(strings.Fields(part), " ")
		if h, _ := headingIn(part, []string{"One", "Two"}); h != "" || strings.HasPrefix(part, "```") {
			return
		}
		if sections, _ = Sections("## One\n"+part+"\n## Two\ny", "One", "Two"); sections["One"] != part || sections["Two"] != "y" {
			t.Fatalf("%q is read as %q", part, sections)
		}
	})
}
