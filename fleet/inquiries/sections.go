package inquiries

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Sections are the texts below the named headings. `faults` names the headings that are missing,
// stand twice or have nothing below them. If a heading stands twice, its text is the first one.
func Sections(text string, headings ...string) (sections map[string]string, faults []string) {
	sections, lines := map[string]string{}, map[string][]string{}
	key, fenced := "", false
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if h, tail := headingIn(line, headings); h != "" && !fenced {
			if key = h; lines[h] != nil {
				faults = append(faults, fmt.Sprintf("%q stands twice", h))
				key = ""
				continue
			}
			lines[h] = []string{tail}
			continue
		}
		if key != "" {
			lines[key] = append(lines[key], line)
		}
	}
	for _, h := range headings {
		sections[h] = strings.TrimSpace(strings.Join(lines[h], "\n"))
		switch {
		case lines[h] == nil:
			faults = append(faults, fmt.Sprintf("%q is missing", h))
		case placeholder(sections[h]):
			faults = append(faults, fmt.Sprintf("%q says nothing", h))
		}
	}
	return sections, faults
}

// SectionTexts are the sections of a result.
func SectionTexts(result string) map[string]string {
	sections, _ := Sections(result, ResultSections()...)
	return sections
}

// headingMark is what language models write before the words of a heading: marks of markdown, a
// number.
var headingMark = pattern.New(`^\s{0,3}(#{1,6}\s+)?(?:[0-9]{1,2}[.)]\s+)?(\*\*)?`)

// headingIn says which of the headings a line is, or "" if it is none. `tail` is the part of the
// section that stands on the same line, behind a heading in bold. A line without marks is a heading
// if it has nothing but the heading's words.
func headingIn(line string, headings []string) (heading, tail string) {
	mark := headingMark.FindStringSubmatch(line)
	rest := line[len(mark[0]):]
	for _, h := range headings {
		if len(rest) < len(h) || !strings.EqualFold(rest[:len(h)], h) {
			continue
		}
		after := strings.TrimRight(strings.TrimLeft(rest[len(h):], "*"), " \t")
		switch {
		case after == "" || after == ":" || after == ":**":
			return h, ""
		case mark[2] != "" && strings.HasPrefix(after, ":"):
			return h, strings.TrimLeft(strings.TrimLeft(after[1:], "*"), " \t")
		case mark[1] != "" && strings.IndexAny(after, ":(-\u2013\u2014*") == len(after)-len(strings.TrimLeft(after, " \t")):
			return h, ""
		}
	}
	return "", ""
}

func placeholder(text string) bool {
	bare := strings.ToLower(strings.Trim(text, " \t\n.…*_-[]()<>"))
	return bare == "" || slices.Contains([]string{"tbd", "todo", "n/a", "na", "none yet", "to be determined", "to be done", "lorem ipsum", "xxx"}, bare)
}

// holdsPlace reports whether a line of a list or table, or a cell, is only a placeholder.
func holdsPlace(text string) bool {
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(strings.TrimSpace(line), "-*0123456789.) ")
		for cell := range strings.SplitSeq(line, "|") {
			if bare := strings.ToLower(strings.Trim(cell, " .*_[]()")); bare == "tbd" || bare == "todo" || bare == "to be determined" {
				return true
			}
		}
	}
	return false
}

// evidence finds references to something outside the text: a path, a link, a figure, a line of a
// file, or words in backticks.
var evidence = pattern.New("[A-Za-z0-9_.-]+/[A-Za-z0-9_./-]+|\\b[A-Za-z0-9_-]+\\.[a-z]{1,4}\\b|https?://|[0-9]|`[^`]+`")

// CheckResult is what a result lacks of its form (R57). The preview shows it. Nobody has to write
// the result again because of it. Abstract questions need no evidence.
func CheckResult(text string, abstract bool) []string {
	sections, faults := Sections(text, ResultSections()...)
	for _, h := range ResultSections() {
		switch s := sections[h]; {
		case s == "":
		case !placeholder(s) && holdsPlace(s):
			faults = append(faults, fmt.Sprintf("%q has points that say nothing", h))
		case !abstract && (h == SectionAnalysis || h == SectionAssessment) && !evidence.MatchString(s):
			faults = append(faults, fmt.Sprintf("%q names no evidence", h))
		}
	}
	return faults
}

// quoted reports whether words stand in a text, exactly.
func quoted(text, words string) bool {
	return strings.TrimSpace(words) != "" && strings.Contains(text, words)
}
