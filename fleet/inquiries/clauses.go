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
	return n >= 2 && slices.ContainsFunc(Sentences(text), func(s string) bool { return bare(s) == bare(words) })
}

// whole is where words stand in a text and are no part of longer ones; -1 if they do not.
func whole(text, words string) int {
	joins := func(a, b rune) bool { return !noLetter(a) && !noLetter(b) && !unspaced(a) && !unspaced(b) }
	for at := 0; words != ""; at++ {
		i := strings.Index(text[at:], words)
		if i < 0 {
			break
		}
		at += i
		first, _ := utf8.DecodeRuneInString(words)
		last, _ := utf8.DecodeLastRuneInString(words)
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(words):])
		if !joins(before, first) && !joins(last, after) {
			return at
		}
	}
	return -1
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

// besides are what may stand behind the heading of a section.
var besides = []string{"", "shared horizon", "horizon conflicts"}

// letterWords are the words of a text with single blanks between, and nothing else.
func letterWords(text string) string { return strings.Join(strings.FieldsFunc(text, noLetter), " ") }

// strays are what a text has besides its sections: words before the first one, and headings that are
// as high as theirs. The title of the whole may stand before them.
func strays(text string, title string, headings ...string) (faults []string) {
	level, seen, fenced, last := 0, false, false, -1
	for line := range strings.SplitSeq(text, "\n") {
		bare := strings.TrimSpace(line)
		if strings.HasPrefix(bare, "```") {
			fenced = !fenced
		}
		depth := len(bare) - len(strings.TrimLeft(bare, "#"))
		bold := strings.HasPrefix(bare, "**") && strings.HasSuffix(bare, "**") && strings.Count(bare, "**") == 2
		own, tail := headingIn(line, headings)
		head, _ := headingIn(line, []string{title})
		switch {
		case fenced || bare == "":
		case (own != "" || head != "") && tail == "" && !slices.Contains(besides, letterWords(strings.ToLower(bare)[strings.Index(strings.ToLower(bare), strings.ToLower(own+head))+len(own+head):])):
			faults = append(faults, fmt.Sprintf("%.80q says more than its heading", bare))
		case own != "":
			at := slices.Index(headings, own)
			if at < last {
				faults = append(faults, fmt.Sprintf("%q stands in another order", own))
			}
			level, seen, last = depth, true, at
		case !seen && head == "":
			return append(faults, "words stand before its first section")
		case seen && (depth > 0 && (level == 0 || depth <= level) || bold && (level == 0 || last == len(headings)-1) || strings.HasPrefix(bare, "<h") && last == len(headings)-1):
			faults = append(faults, fmt.Sprintf("%.80q is no section of it", bare))
		}
	}
	return faults
}

// nones are words that say that there is nothing, as peers write in their languages.
var nones = strings.Split("none|nothing|no|nil|null|n/a|na|not applicable|none remaining|none left|nothing remains|fully agreed|full agreement|empty|"+
	"keine|keiner|keines|kein|nichts|entfällt|nein|ninguna|ninguno|nada|aucune|aucun|rien|néant|nessuna|nessuno|nessun|nulla|niente|nenhuma|nenhum|"+
	"geen|niets|ingen|inga|inget|ingenting|intet|ei mitään|ei ole|brak|żadne|žádné|žádný|nic|nincs|nincsen|niciuna|nimic|hiçbiri|yok|tidak ada|tiada|"+
	"không|không có|нет|ничего|немає|няма|καμία|κανένα|δεν υπάρχει|τίποτα|ไม่มี|ไม่มีเลย|ไม่มีแล้ว|无|無|没有|沒有|无分歧|無分歧|没有分歧|なし|無し|特になし|ありません|없음|없습니다|"+
	"لا يوجد|لا شيء|אין|कोई नहीं|कुछ नहीं|নেই", "|")

// IsNone reports whether a text says that there is nothing: it is such a word, alone, before a reason
// without an exception, or before the word for what there is none of.
func IsNone(text string) bool {
	alone, reasoned := none(text)
	return alone || reasoned
}

// none tells the two forms of nothing apart: behind `reasoned`, other things may be said.
func none(text string) (alone, reasoned bool) {
	lower := strings.ToLower(strings.TrimFunc(strings.ReplaceAll(text, "\u00a0", " "), func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsSymbol(r) || unicode.IsPunct(r) || unicode.Is(unicode.Cf, r)
	}))
	if lower == "" {
		return strings.ContainsAny(text, "-/\u2013\u2014\u2212\u2205"), false
	}
	for _, none := range nones {
		rest, ok := strings.CutPrefix(lower, none)
		rest = strings.TrimLeft(rest, " ")
		after, _ := utf8.DecodeRuneInString(rest)
		reason := len(none) > len("nil") || none[0] >= utf8.RuneSelf // "no, they differ"
		ok = ok && !limits.MatchString(rest)
		alone = alone || ok && (rest == "" || remains.MatchString(rest))
		reasoned = reasoned || ok && unicode.IsPunct(after) && reason
	}
	return alone, reasoned
}

// remains is what there is none of, behind such a word.
var remains = pattern.New(`^(?:\pL+ ){0,3}(?:di[sv]+er[gsz]|disagree|differen|dissens|dissent|unterschied|abweichung|meinungsver|uneinigkeit|desacuerd|désaccord|disaccord|desacord|point|issue|question|tension|conflict|konflikt)\pL*` +
	`(?: (?:remain\pL*|left|are left|is left|mehr|übrig|exists?|verbleib\pL*|bestehen|persist\pL*|restant\pL*|pendientes?|found|noted))*$` +
	`|^\pL{0,6}(?:分歧|差异|差異|异议|異議|相違|対立)$|^(?:ความ|ข้อ|ประเด็น)(?:เห็น)?(?:ที่)?(?:แตกต่าง|ขัดแย้ง|ต่าง|โต้แย้ง)[\pL\pM]*$`)

// limits are words that show that something is left after all.
var limits = pattern.New(`\b(but|except|however|although|though|apart|beyond|unless|still|only|yet|other than|aber|außer|jedoch|nur|noch|bis auf|pero|excepto|salvo|aunque|sino|mais|sauf|hormis|ma|tranne|eccetto|exceto|porém|maar|behalve|men|utom|ale|oprócz)\b` +
	`|кроме|однако|но |แต่|ยกเว้น|但|除|只|ただし|だが|以外|하지만|제외|다만`)
