package examiner

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func set(text string) map[string]bool {
	words := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		words[word] = true
	}
	return words
}

var (
	// filler are words that say nothing about the subject of a sentence.
	filler = set("a an and are as at be by for from i in is it of on or that the this to we with you")
	// assent are words that may stand beside a claim in a sentence that states it.
	assent = set("accept accepted agree agreed also and confirm confirmed decided decision i it note noted ok okay remember right so that true we yes ✅ ✓ ✔ x")
	// denial are words with which a sentence may say the contrary of its other words.
	denial = set("abandoned against cannot disagree disagreed drop dropped false hardly incorrect instead longer neither never no none nor not nothing " +
		"reject rejected reverted revoke revoked stop stopped unlike untrue without wrong ❌ ✗ ✘")
	// doubt are words beside which nobody can tell whether a sentence is meant literally.
	doubt = set("allegedly although asked asks but candidate candidates claim claimed claims could doubt draft e.g either example except former formerly " +
		"however hypothesis hypothetical i.e idea ideas if imagine maybe might myth myths only option options perhaps possibly proposal proposals propose " +
		"proposed proposes question questions rarely said says should sometimes suggest suggested suggests suppose supposedly think thinks todo " +
		"unclear unless unsure until used want wants was were whether why would")
)

// doubtOf is a word that makes other words uncertain; "" if `w` does not.
func doubtOf(w string) string {
	switch {
	case strings.HasSuffix(w, "n't"):
		return "not"
	case denial[w], doubt[w]:
		return w
	}
	return ""
}

// What stands around words and does not belong to them.
const (
	opening = "\"'([{“”‘’„«»*_`"
	closing = "\"')]}“”‘’«»*_`.,;:!?…。、，！？：；"
)

// wordsOf are the words of a text in the form in which they are compared: without case, and without
// the marks around them. Signs with a meaning, as in C++ and !=, stay. In scripts without blanks,
// each two neighbouring characters are a word.
func wordsOf(text string) (words []string) {
	text = strings.ReplaceAll(norm.NFC.String(strings.ToLower(norm.NFKC.String(text))), "’", "'")
	for field := range strings.FieldsSeq(text) {
		word := field
		if strings.ContainsFunc(field, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
			word = strings.TrimRight(strings.TrimLeft(field, opening), closing)
		} else if !strings.ContainsFunc(field, unicode.IsSymbol) {
			continue // a dash, a dot, dots
		}
		words = append(words, divided(word)...)
	}
	return words
}

// divided is a word, with its parts in scripts without blanks divided into pairs of characters.
func divided(word string) (words []string) {
	var run, dense []rune
	end := func() {
		if len(run) > 0 {
			words = append(words, string(run))
		}
		for i := range dense {
			words = append(words, string(dense[i:min(len(dense), i+2)]))
		}
		run, dense = nil, nil
	}
	for _, r := range word {
		switch {
		case unspaced(r):
			if len(run) > 0 {
				end()
			}
			dense = append(dense, r)
		case unicode.IsMark(r) && len(dense) > 0:
			dense = append(dense, r)
		default:
			if len(dense) > 0 {
				end()
			}
			run = append(run, r)
		}
	}
	end()
	return words
}

// unspaced are scripts that write no blanks between words.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Tibetan)
}
