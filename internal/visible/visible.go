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
// invisible, or that turn the direction of writing, become \u202e, except where a script or an emoji
// needs them. Newlines and tabs stay.
func Text(s string) string {
	return render(strings.ReplaceAll(s, "\r\n", "\n"), false)
}

// Line is Text for text that must stay in its line, such as a name: it shows newlines and tabs as
// pictures too, and writes out all characters that are invisible. Otherwise two names could look the
// same.
func Line(s string) string {
	return render(s, true)
}

func render(s string, line bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		escaped := hidden(r) || helper(r) && (line || misplaced(s[:i], r, s[i+size:]))
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !line && (r == '\n' || r == '\t'):
			b.WriteRune(r)
		case r < ' ':
			b.WriteRune('␀' + r)
		case r == 0x7f:
			b.WriteRune('␡')
		case escaped && r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		case escaped:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// JSON returns JSON with the same meaning, in which some characters that JSON may hold unescaped
// are escapes: DEL, C1 controls, and what Line shows as \u202e.
func JSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case !hidden(r) && !helper(r) || r == '\n':
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

// hidden reports whether a character is not seen itself, and no script needs it to be written: format
// characters, C1 controls, line separators, fillers, an empty Braille cell.
func hidden(r rune) bool {
	switch {
	case helper(r):
		return false
	case r == '\u2028', r == '\u2029', r == '\u2800':
		return true
	}
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r)
}

// helper reports whether a character that is not seen itself has a place in some scripts or emoji:
// joiners, direction marks, the selector of colour.
func helper(r rune) bool {
	return r == '\u200c' || r == '\u200d' || mark(r) || r == '\ufe0f'
}

// misplaced reports whether a helper stands where it has no place: a mark of direction away from
// letters written from right to left, a selector of colour behind no symbol, a joiner neither behind a
// letter of a script whose letters join nor between two symbols.
func misplaced(before string, r rune, after string) bool {
	before, after = " "+before[max(0, len(before)-mostBetween):], after[:min(len(after), mostBetween)]+" "
	last, _ := utf8.DecodeLastRuneInString(before)
	next, _ := utf8.DecodeRuneInString(after)
	switch r {
	case '\u200e', '\u200f', '\u061c':
		return mark(last) || !leftwards(lastLetter(before)) && !leftwards(firstLetter(after))
	case '\ufe0f':
		return !unicode.In(last, unicode.So, unicode.Sm) && !strings.ContainsRune("‼⁉〰〽ℹ", last) && next != '\u20e3'
	case '\u200c', '\u200d':
		emoji := r == '\u200d' && (last == '\ufe0f' || unicode.In(last, unicode.So, unicode.Sk)) && unicode.In(next, unicode.So, unicode.Sm)
		return !emoji && !unicode.In(last, joining...)
	}
	return false
}

// joining are the scripts in which a joiner changes the form of letters.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil,
	unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

func mark(r rune) bool { return r == '\u200e' || r == '\u200f' || r == '\u061c' }

func leftwards(r rune) bool {
	return unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
}

// mostBetween is how many bytes on each side of a helper are looked at: so many may stand between a mark
// of direction and the letter it is for.
const mostBetween = 64

func lastLetter(s string) rune {
	i := strings.LastIndexFunc(s, unicode.IsLetter)
	r, _ := utf8.DecodeRuneInString(s[max(i, 0):])
	return r
}

func firstLetter(s string) rune {
	i := strings.IndexFunc(s, unicode.IsLetter)
	r, _ := utf8.DecodeRuneInString(s[max(i, 0):])
	return r
}
