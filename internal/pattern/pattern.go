// Package pattern has regular expressions that are compiled when they are first used. If all of
// them were compiled at the start of the program, that would take time from every command, and
// nearly all commands use none.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. Its zero value cannot be used.
type Pattern struct{ compiled func() *regexp.Regexp }

// New makes a pattern of an expression in Go's syntax. A wrong expression panics when it is first
// used.
func New(expression string) Pattern {
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// Regexp is the compiled expression.
func (p Pattern) Regexp() *regexp.Regexp { return p.compiled() }

// MatchString is like regexp.Regexp.MatchString.
func (p Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindAllIndex is like regexp.Regexp.FindAllIndex.
func (p Pattern) FindAllIndex(data []byte, n int) [][]int { return p.compiled().FindAllIndex(data, n) }

// FindStringSubmatch is like regexp.Regexp.FindStringSubmatch.
func (p Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }
