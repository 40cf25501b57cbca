package visible

import "strings"

// Shell is a word in a form that a shell reads as one word. It is quoted if it has more than
// letters, digits and a few signs. So a command that contains the words of others can be copied and
// run.
func Shell(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(Line(word), "'", `'\''`) + "'"
}
