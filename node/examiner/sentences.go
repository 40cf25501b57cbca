package examiner

import (
	"slices"
	"strings"
	"unicode"

	"github.com/parleyfleet/parley/internal/pattern"
)

// sentence is a sentence of a text, and what around it matters for it.
type sentence struct {
	text   string // as it stands there, in one line
	line   int    // number of the line in which it begins, from 0
	words  []string
	around map[string]bool // doubts in headings, in the line that leads to it, and beside it
	asks   bool            // it is a question
	hedged bool            // it states nothing: a heading, or a box that is not ticked
}

// denies reports whether the sentence, or what stands around it, may say the contrary of its words.
// A denial that the claim itself has does not count.
func (s sentence) denies(claim map[string]bool) bool {
	no := func(w string) bool { return denial[w] && !claim[w] }
	for w := range s.around {
		if no(w) {
			return true
		}
	}
	return slices.ContainsFunc(s.words, func(w string) bool { return no(doubtOf(w)) })
}

var (
	headingLine = pattern.New(`^\s{0,3}(#{1,6})\s+(.*)$`)
	listItem    = pattern.New(`^\s*(?:[-*+•]|[0-9]{1,3}[.)])\s+(\[[ xX]\]\s+)?`)
	formLine    = pattern.New(`^[\s*#` + "`" + `]*[A-Z][A-Z-]+(?: [A-Z][A-Z-]*){0,2} \|`)
	label       = pattern.New(`\[(?:[^\]\s]{1,80}/)?[APTDC][0-9]{1,6}(?:-[0-9a-f]+)?\]`)
)

// paragraph is a group of lines that belong together.
type paragraph struct {
	lines  []string
	first  int // the number of its first line, from 0
	hedged bool
	around map[string]bool // doubts
}

// sentences are those sentences of a text that its author says. Quotes of others are left out, and
// so are fenced code, and claims and forms of the protocol, which others may have worded.
func sentences(t Text) (all []sentence) {
	whole := map[string]int{} // doubts of the text, and how often each stands in it
	if t.Short {
		for line := range strings.Lines(t.Body) {
			count(whole, wordsOf(line))
		}
	}
	for _, p := range paragraphs(t.Body) {
		if slices.ContainsFunc(p.lines, label.MatchString) {
			continue
		}
		from := len(all)
		all = append(all, p.sentences()...)
		beside := whole
		if !t.Short {
			beside = map[string]int{}
			for _, s := range all[from:] {
				count(beside, s.words)
			}
		}
		for i := from; i < len(all); i++ {
			own := map[string]int{}
			count(own, all[i].words)
			all[i].around = map[string]bool{}
			for w := range p.around {
				all[i].around[w] = true
			}
			for w, n := range beside {
				if n > own[w] {
					all[i].around[w] = true
				}
			}
		}
	}
	return all
}

func count(doubts map[string]int, words []string) {
	for _, w := range words {
		if d := doubtOf(w); d != "" {
			doubts[d]++
		}
	}
}

// paragraphs are the paragraphs of a text, with the words of the headings above each, and of the
// line that leads to a list.
func paragraphs(body string) (all []paragraph) {
	var open *paragraph
	var headings [6][]string
	var lead []string // words of a paragraph that ends with a colon
	end := func() {
		if open == nil {
			return
		}
		if last := strings.TrimSpace(open.lines[len(open.lines)-1]); strings.HasSuffix(last, ":") {
			lead = wordsOf(strings.Join(open.lines, " "))
		}
		all = append(all, *open)
		open = nil
	}
	begin := func(i int) *paragraph {
		end()
		open = &paragraph{first: i, around: map[string]bool{}}
		for _, words := range append(headings[:], lead) {
			for _, w := range words {
				if d := doubtOf(w); d != "" {
					open.around[d] = true
				}
			}
		}
		return open
	}
	fenced, formed := false, false
	for i, line := range strings.Split(strings.ReplaceAll(body, "\r\n", "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		heading, item := headingLine.FindStringSubmatch(line), listItem.FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			end()
			fenced = !fenced
		case fenced:
		case trimmed == "":
			end()
			formed = false
		case formLine.MatchString(line):
			end()
			formed = true
		case formed, strings.HasPrefix(trimmed, ">"):
			end()
		case heading != nil:
			p := begin(i)
			p.lines, p.hedged = []string{heading[2]}, true
			end()
			level := len(heading[1])
			headings[level-1] = wordsOf(heading[2])
			clear(headings[level:])
			lead = nil
		case item != nil:
			p := begin(i)
			p.hedged = strings.HasPrefix(item[1], "[ ]")
			p.lines = []string{line[len(item[0]):]}
		case open != nil:
			open.lines = append(open.lines, line)
		default:
			begin(i).lines = []string{line}
			lead = nil
		}
	}
	end()
	return all
}

// sentences are the sentences of a paragraph. A sentence ends where a mark is followed by a blank
// and then by something that does not begin with a small letter.
func (p paragraph) sentences() (all []sentence) {
	var words []string
	line, from := p.first, p.first
	end := func() {
		text := strings.Join(words, " ")
		if s := (sentence{text: text, line: from, words: wordsOf(text), hedged: p.hedged}); len(s.words) > 0 {
			s.asks = strings.HasSuffix(strings.TrimRight(text, "\"')]}”’*_ "), "?") || strings.HasSuffix(text, "？")
			all = append(all, s)
		}
		words = nil
	}
	for _, l := range p.lines {
		for word := range strings.FieldsSeq(l) {
			if len(words) > 0 && ends(words[len(words)-1]) && !unicode.IsLower([]rune(word)[0]) {
				end()
			}
			if len(words) == 0 {
				from = line
			}
			words = append(words, word)
		}
		line++
	}
	end()
	return all
}

// ends reports whether a sentence may end with that word. It cannot end with "e.g." or "cf.".
func ends(word string) bool {
	word = strings.TrimRight(word, "\"')]}”’*_")
	if strings.HasSuffix(word, ".") {
		stem := strings.TrimRight(word, ".")
		return len(stem) > 2 && !strings.Contains(stem, ".")
	}
	return strings.HasSuffix(word, "!") || strings.HasSuffix(word, "?") || strings.HasSuffix(word, "…")
}
