package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxWord is how many characters of a word count. Of a longer one, such as a key or an encoded
// file, its beginning counts.
const maxWord = 64

// fold makes texts comparable: it removes differences of compatibility forms, of case, and of the
// accents of Latin, Greek and Cyrillic letters. Marks of other scripts stay, because they are
// letters there.
func fold(text string) string {
	text = norm.NFD.String(strings.ToLower(norm.NFKC.String(text)))
	text = strings.Map(func(r rune) rune {
		if r >= 0x0300 && r <= 0x036f {
			return -1
		}
		return r
	}, text)
	return norm.NFC.String(text)
}

// unspaced reports whether a character belongs to a script that writes no spaces between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}

// piece is a run of characters that belong together.
type piece struct {
	text     string
	unspaced bool
}

// cut cuts a text at everything that is no letter, digit or mark, and at the beginning and end of an
// unspaced script. A symbol such as an emoji is a piece by itself. It tells where each piece begins.
func cut(text string, tell func(at int, p piece)) {
	begin, dense := -1, false
	end := func(at int) {
		if begin >= 0 {
			tell(begin, piece{text[begin:at], dense})
		}
		begin = -1
	}
	for at, r := range text {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			is := unspaced(r)
			if begin >= 0 && is != dense && !unicode.IsMark(r) {
				end(at)
			}
			if begin < 0 {
				begin, dense = at, is
			}
		case unicode.Is(unicode.So, r):
			end(at)
			tell(at, piece{string(r), false})
		default:
			end(at)
		}
	}
	end(len(text))
}

// pieces are what cut makes of folded text. Of a long word they have the beginning.
func pieces(text string) (all []piece) {
	cut(text, func(_ int, p piece) { all = append(all, p.short()) })
	return all
}

// short is a piece whose word is not longer than one can be.
func (p piece) short() piece {
	if letters := []rune(p.text); !p.unspaced && len(letters) > maxWord {
		p.text = string(letters[:maxWord])
	}
	return p
}

// pairs are the words of a run of an unspaced script: every two neighbours, and the last character
// alone. So each character begins one of the words.
func pairs(run string) []string {
	characters := clusters(run)
	words := make([]string, 0, len(characters))
	for i := range characters {
		if i+1 < len(characters) {
			words = append(words, characters[i]+characters[i+1])
		} else {
			words = append(words, characters[i])
		}
	}
	return words
}

// clusters are the letters of a run, each with the marks on it, up to maxWord characters. No script
// needs more, and a text of nothing but marks must not become a word of a megabyte.
func clusters(run string) []string {
	var all []string
	begin, end, count := 0, 0, 0
	for at, r := range run {
		if at > 0 && !unicode.IsMark(r) {
			all = append(all, run[begin:end])
			begin, count = at, 0
		}
		if count++; count <= maxWord {
			end = at + utf8.RuneLen(r)
		}
	}
	if run != "" {
		all = append(all, run[begin:end])
	}
	return all
}

func words(text string) []string {
	var all []string
	for _, p := range pieces(fold(text)) {
		if p.unspaced {
			all = append(all, pairs(p.text)...)
		} else {
			all = append(all, p.text)
		}
	}
	return all
}

// WordsOf are the words of a text in a form in which somebody may ask for them: nothing in them has
// a special meaning.
func WordsOf(text string) (all []string) {
	seen := map[string]bool{}
	for _, p := range pieces(fold(text)) {
		if !seen[p.text] {
			seen[p.text] = true
			all = append(all, p.text)
		}
	}
	return all
}
