package visible

import "strings"

// Shell is a word as a shell takes it: quoted where it has more than letters, digits and
// a few signs. A command in which others' words stand can be copied and run.
func Shell(word string) string {
	plain := func(r rune) bool {
		return r == '-' || r == '_' || r == '.' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(Line(word), "'", `'\''`) + "'"
}
