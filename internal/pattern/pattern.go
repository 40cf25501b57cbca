// Package pattern has regular expressions that are compiled when they are first used. Compiled at
// the start of the program, all of them cost every command a part of its time, and nearly all
// commands use none.
package pattern

import (
	"regexp"
	"sync"
)

// Pattern is a regular expression. Its zero value is not used.
type Pattern struct{ compiled func() *regexp.Regexp }

// New is the pattern of an expression in Go's syntax. One that is wrong panics at its first use.
func New(expression string) Pattern {
	return Pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })}
}

// Regexp is the compiled expression.
func (p Pattern) Regexp() *regexp.Regexp { return p.compiled() }

// MatchString is that of regexp.Regexp.
func (p Pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

// FindStringSubmatch is that of regexp.Regexp.
func (p Pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }
