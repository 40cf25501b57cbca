package configs

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// isText reports whether s can stand in a file that people edit: valid UTF-8
// without control characters, except tabs and line ends.
func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\uFEFF' || r == '\uFFFE' || r == '\uFFFF')
	})
}

// isLine reports whether s is text of one line without tabs.
func isLine(s string) bool { return isText(s) && !strings.ContainsAny(s, "\n\t") }

// shellWord quotes s for a command that a person is asked to copy.
func shellWord(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+:,@%", r)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
