package inquiries

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parleyfleet/parley/internal/pattern"
)

// unspaced reports whether a letter is of a script that sets no blanks between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// letters counts the letters and digits of a text. One of a script without blanks counts twice: it
// says as much.
func letters(text string) (n int) {
	for _, r := range text {
		switch {
		case unspaced(r):
			n += 2
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			n++
		}
	}
	return n
}

// clause reports whether words that stand in a text say something there: they are three words and
// eight letters at least, or a whole sentence or point of the text.
func clause(text, words string) bool {
	if !quoted(text, words) {
		return false
	}
	n := letters(words)
	if n >= 8 && (len(strings.FieldsFunc(words, noLetter)) >= 3 || strings.ContainsFunc(words, unspaced)) {
		return true
	}
	return n >= 4 && slices.ContainsFunc(Sentences(text), func(s string) bool { return bare(s) == bare(words) })
}

// Whole is the sentence of a text in which words stand that say too little by themselves to be a
// quote; else it is the words.
func Whole(text, words string) string {
	if quoted(text, words) && !clause(text, words) {
		for _, s := range Sentences(text) {
			if strings.Contains(s, words) && clause(text, s) {
				return s
			}
		}
	}
	return words
}

// bare is a sentence without the marks around it.
func bare(s string) string {
	return strings.TrimFunc(strings.TrimSpace(listMark.Regexp().ReplaceAllString(s, "")), noLetter)
}

func noLetter(r rune) bool { return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) }

// listMark is what stands before the words of a heading, a point of a list or a line of a quote.
var listMark = pattern.New(`^\s*(?:#{1,6}\s+|[-*+•>]\s+|[0-9]{1,3}[.)]\s+)*`)

// ends is where a sentence ends within a line.
var ends = pattern.New(`(?:[.!?…]["'’”»)\]*_]*\s+|[。！？]["'’”»）」]*)`)

// shortened are words whose full stop ends no sentence.
var shortened = strings.Fields("e.g. i.e. cf. vs. etc. approx. no. nr. z.b. d.h. bzw. ca. dr. mr. mrs. st. fig. p. pp. resp.")

// Sentences are the sentences, headings and points of a text, as they stand there. What has no
// letters, such as a rule, is none.
func Sentences(text string) (all []string) {
	for _, block := range blocks(text) {
		from, mark := 0, len(listMark.Regexp().FindString(block))
		for _, at := range append(ends.Regexp().FindAllStringIndex(block[mark:], -1), []int{0, len(block) - mark}) {
			to := mark + at[1]
			words := strings.Fields(block[from:to])
			next, _ := utf8.DecodeRuneInString(block[to:])
			if to < len(block) && (len(words) == 0 || slices.Contains(shortened, strings.ToLower(words[len(words)-1])) || unicode.IsLower(next)) {
				continue
			}
			if s := strings.TrimSpace(block[from:to]); letters(s) > 0 {
				all = append(all, s)
			}
			from = to
		}
	}
	return all
}

// blocks are the paragraphs, headings and points of a text. A paragraph and a point may have several
// lines.
func blocks(text string) (all []string) {
	open := false
	for line := range strings.SplitSeq(text, "\n") {
		begins := listMark.Regexp().FindString(line)
		switch bare := strings.TrimSpace(line); {
		case bare == "":
			open = false
		case open && strings.TrimSpace(begins) == "" && bare[0] != '|':
			all[len(all)-1] += "\n" + line
		default:
			all, open = append(all, line), !strings.HasPrefix(bare, "#")
		}
	}
	return all
}

// strays are what a text has besides its sections: words before the first one, and headings that are
// as high as theirs. The title of the whole may stand before them.
func strays(text string, title string, headings ...string) (faults []string) {
	level, seen, fenced := 0, false, false
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "```") {
			fenced = !fenced
		}
		depth := len(bare) - len(strings.TrimLeft(bare, "#"))
		bold := strings.HasPrefix(bare, "**") && strings.HasSuffix(bare, "**") && strings.Count(bare, "**") == 2
		own, _ := headingIn(line, headings)
		head, _ := headingIn(line, []string{title})
		switch {
		case fenced || bare == "":
		case own != "":
			level, seen = depth, true
		case !seen && head == "":
			return append(faults, "words stand before its first section")
		case seen && (depth > 0 && (level == 0 || depth <= level) || bold && level == 0):
			faults = append(faults, fmt.Sprintf("%.80q is no section of it", bare))
		}
	}
	return faults
}
