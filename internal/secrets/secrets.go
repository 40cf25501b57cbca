// Package secrets finds tokens and private keys in texts by their published forms: the prefix, the
// characters and the length that a provider gives them. It guesses at nothing: a password that has
// no such form is not found.
package secrets

import (
	"fmt"
	"slices"
	"strings"
)

// Found is a secret in a text: what it is, where it stands in bytes, and in which line, from 1 on.
type Found struct {
	Kind       string
	Begin, End int
	Line       int
}

// leastDistinct is how many different characters a secret has behind its prefix at least. What has
// fewer is a placeholder, such as "ghp_xxxx…".
const leastDistinct = 8

// leastBehind is how many bytes every form has behind its prefix, but that of private keys.
const leastBehind = 16

// Any reports whether a text has what a secret begins with. It is quick, and most texts have none.
func Any(text string) bool {
	return slices.ContainsFunc(rules, func(r rule) bool {
		return slices.ContainsFunc(r.prefixes, func(prefix string) bool { return strings.Contains(text, prefix) })
	})
}

// Find returns the secrets in a text, in their order.
func Find(text string) []Found {
	var all []Found
	for _, r := range rules {
		for _, prefix := range r.prefixes {
			for at := 0; ; {
				i := strings.Index(text[at:], prefix)
				if i < 0 {
					break
				}
				begin := at + i
				at = begin + len(prefix)
				if n := r.length(text, begin, prefix); n > 0 {
					all = append(all, Found{Kind: r.kind, Begin: begin, End: begin + n, Line: 1 + strings.Count(text[:begin], "\n")})
					at = max(at, begin+n)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b Found) int { return a.Begin - b.Begin })
	end := 0
	return slices.DeleteFunc(all, func(f Found) bool { // two rules may fit the same words
		within := f.Begin < end
		end = max(end, f.End)
		return within
	})
}

// length is how long the secret is that begins there; 0 if there is none.
func (r rule) length(text string, begin int, prefix string) int {
	behind := text[begin+len(prefix):]
	switch {
	case begin > 0 && isWord(text[begin-1]) && isWord(prefix[0]): // in the middle of a word
		return 0
	case !strings.HasSuffix(prefix, " ") && (len(behind) < leastBehind || strings.ContainsAny(behind[:leastBehind], " \n\t\"'")): // too short; most words end here
		return 0
	}
	m := r.form.Regexp().FindStringIndex(text[begin:])
	if m == nil || distinct(text[begin+len(prefix):begin+m[1]]) < leastDistinct || strings.HasSuffix(text[begin:begin+m[1]], "EXAMPLE") {
		return 0
	}
	return m[1]
}

func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

func distinct(s string) (n int) {
	var seen [256]bool
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n
}

// Mask returns a text with the kind of each secret in its place, and how many these were.
func Mask(text string) (masked string, count int) {
	var b strings.Builder
	end := 0
	for _, f := range Find(text) {
		b.WriteString(text[end:f.Begin])
		fmt.Fprintf(&b, "[secret: %s]", strings.ToLower(f.Kind))
		end = f.End
		count++
	}
	b.WriteString(text[end:])
	return b.String(), count
}

// A is a kind with its article: "a GitHub token".
func A(kind string) string {
	if strings.ContainsRune("AEIO", rune(kind[0])) {
		return "an " + kind
	}
	return "a " + kind
}
