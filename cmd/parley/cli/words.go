package cli

import (
	"fmt"
	"strings"
)

// Count is a number with its noun: "1 message", "2 messages".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Names lists names in a sentence.
func Names[N ~string](list []N) string {
	words := make([]string, len(list))
	for i, n := range list {
		words[i] = string(n)
	}
	return strings.Join(words, ", ")
}

// ShortHash is the beginning of a hash, in the form in which people quote it.
func ShortHash(hash string) string { return hash[:min(len(hash), 12)] }
