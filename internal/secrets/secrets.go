// Package secrets finds tokens and private keys in texts by their published forms: the prefix, the
// characters and the length that a provider gives them. It guesses at nothing: a password that has
// no such form is not found.
package secrets

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
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

// decided is in how many bytes every form but that of private keys shows whether it fits. It bounds
// the work for a text with many starts in one word.
const decided = 1024

// start is how a secret begins.
type start struct {
	rule   *rule
	prefix string
}

// starts are all starts, by their first byte.
var starts = sync.OnceValue(func() (by [256][]start) {
	for i := range rules {
		for _, prefix := range rules[i].prefixes {
			by[prefix[0]] = append(by[prefix[0]], start{&rules[i], prefix})
		}
	}
	return by
})

// Find returns the secrets in a text, in their order.
func Find(text string) []Found { return slices.Collect(each(text)) }

// each goes through a text once. What looks like the start of a secret is rare, and only there is the
// form of the secret looked at.
func each(text string) iter.Seq[Found] {
	return func(yield func(Found) bool) {
		by := starts()
		for at := 0; at < len(text); at++ {
			longest := Found{}
			for _, s := range by[text[at]] {
				if !strings.HasPrefix(text[at:], s.prefix) {
					continue
				}
				if n := s.length(text, at); n > longest.End-longest.Begin { // two rules may fit the same words
					longest = Found{Kind: s.rule.kind, Begin: at, End: at + n}
				}
			}
			if longest.End == 0 {
				continue
			}
			longest.Line = 1 + strings.Count(text[:at], "\n")
			if !yield(longest) {
				return
			}
			at = longest.End - 1
		}
	}
}

// length is how long the secret is that begins there; 0 if there is none.
func (s start) length(text string, begin int) int {
	prefix := s.prefix
	behind := text[begin+len(prefix):]
	switch {
	case begin > 0 && isWord(text[begin-1]) && isWord(prefix[0]): // in the middle of a word
		return 0
	case !strings.HasSuffix(prefix, " ") && (len(behind) < leastBehind || strings.ContainsAny(behind[:leastBehind], " \n\t\"'")): // too short; most words end here
		return 0
	}
	whole, form := text[begin:], s.rule.form.Regexp()
	if !strings.HasSuffix(prefix, " ") && !form.MatchString(whole[:min(len(whole), decided)]) {
		return 0
	}
	m := form.FindStringIndex(whole)
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
	if strings.ContainsRune("AEIOaeio", rune(kind[0])) {
		return "an " + kind
	}
	return "a " + kind
}
