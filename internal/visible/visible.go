// Package visible shows text of any origin in such a form that a reader sees all of it and a
// terminal obeys none of it.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Text returns text of any origin in a form that a terminal shows and does not obey. Control
// characters become their pictures (␛). Bytes that are no UTF-8 become \xff. Characters that are
// invisible, or that turn the direction of writing, become \u202e. Newlines and tabs stay.
func Text(s string) string {
	return render(strings.ReplaceAll(s, "\r\n", "\n"), func(r rune) bool { return r == '\n' || r == '\t' })
}

// Line is Text for text that must stay in its line: it shows newlines and tabs as pictures too.
func Line(s string) string {
	return render(s, func(rune) bool { return false })
}

func render(s string, keep func(rune) bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case keep(r):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case (hidden(r) || misplaced(s[:i], r, s[i+size:])) && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case hidden(r) || misplaced(s[:i], r, s[i+size:]):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// JSON returns JSON with the same meaning, in which some characters that JSON may hold unescaped
// are escapes: DEL, C1 controls, and what Text shows as \u202e.
func JSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r) || r == '\n':
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// hidden reports whether a character is not seen itself but changes how others are seen: format
// characters, C1 controls, line separators. Characters that scripts need to be written at all do
// not count.
func hidden(r rune) bool {
	if r != '\ufe0f' && unicode.Is(unicode.Variation_Selector, r) { // a row of them can carry a sentence
		return true
	}
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u034f', '\u2800': // fillers, the joiner of graphemes, an empty Braille cell
		return true
	case '\u200c', '\u200d', '\u200e', '\u200f', '\u061c', '\u00ad': // joiners, direction marks, soft hyphen
		return false
	case '\u2028', '\u2029':
		return true
	}
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// misplaced reports whether a character that some scripts need stands where none needs it: a mark of
// direction away from letters written from right to left, a selector of colour behind no symbol.
func misplaced(before string, r rune, after string) bool {
	last, _ := utf8.DecodeLastRuneInString(before)
	switch r {
	case '\u200e', '\u200f', '\u061c':
		return mark(last) || !leftwards(lastLetter(before)) && !leftwards(firstLetter(after))
	case '\ufe0f':
		next, _ := utf8.DecodeRuneInString(after)
		return !unicode.In(last, unicode.So, unicode.Sm) && !strings.ContainsRune("‼⁉〰〽ℹ", last) && next != '\u20e3'
	}
	return false
}

func mark(r rune) bool { return r == '\u200e' || r == '\u200f' || r == '\u061c' }

func leftwards(r rune) bool {
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// mostBetween is how many bytes may stand between a mark of direction and the letter it is for.
const mostBetween = 64

func lastLetter(s string) rune {
	s = s[max(0, len(s)-mostBetween):]
	i := strings.LastIndexFunc(s, unicode.IsLetter)
	r, _ := utf8.DecodeRuneInString(s[max(i, 0):])
	return r
}

func firstLetter(s string) rune {
	s = s[:min(len(s), mostBetween)]
	i := strings.IndexFunc(s, unicode.IsLetter)
	r, _ := utf8.DecodeRuneInString(s[max(i, 0):])
	return r
}
