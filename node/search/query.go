package search

import (
	"errors"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/search/query"

	"github.com/parleyfleet/parley/protocol"
)

// Query says what to find. Words and filters narrow it; at least one is needed.
type Query struct {
	// Words must all occur, whatever their case and accents. In quotes, "two words" have to follow
	// each other; -word must not occur; word* is the beginning of a word.
	Words   string
	Any     bool // one of the words is enough; a message with more of them comes first
	Written bool // only what is in the index already: what waits is not written first
	From    string
	Channel protocol.ChannelID
	Since   time.Time
	Limit   int // the most hits that are returned; 0 = 20
}

// ErrNothingAsked says that a query has neither words nor filters.
var ErrNothingAsked = errors.New("there is nothing to search for: give words, or say from whom, where or since when")

// wish is one part of a query's words.
type wish struct {
	text   string
	not    bool
	prefix bool
}

// parse takes the words of a query apart. A quote that is never closed ends with the text.
func parse(text string) []wish {
	var wishes []wish
	for text = strings.TrimSpace(text); text != ""; text = strings.TrimSpace(text) {
		var w wish
		if rest, ok := strings.CutPrefix(text, "-"); ok {
			w.not, text = true, rest
		}
		if rest, ok := strings.CutPrefix(text, `"`); ok {
			w.text, text, _ = strings.Cut(rest, `"`)
		} else {
			at := strings.IndexFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\r\n\u3000", r) })
			if at < 0 {
				at = len(text)
			}
			w.text, text = text[:at], text[at:]
			w.text, w.prefix = strings.CutSuffix(w.text, "*")
		}
		wishes = append(wishes, w)
	}
	return wishes
}

// build makes the library's query.
func (q Query) build() (query.Query, error) {
	all := bleve.NewBooleanQuery()
	asked, excluded := false, false
	var some []query.Query
	for _, w := range parse(q.Words) {
		sought := w.query()
		switch {
		case sought == nil:
		case w.not:
			all.AddMustNot(sought)
			excluded = true
		case q.Any:
			some = append(some, sought)
		default:
			all.AddMust(sought)
			asked = true
		}
	}
	if len(some) > 0 {
		all.AddMust(bleve.NewDisjunctionQuery(some...))
		asked = true
	}
	for field, value := range map[string]string{fieldFrom: q.From, fieldChannel: q.Channel.String()} {
		if value != "" {
			term := bleve.NewTermQuery(value)
			term.SetField(field)
			all.AddMust(term)
			asked = true
		}
	}
	if !q.Since.IsZero() {
		since := float64(q.Since.UnixMilli())
		after := bleve.NewNumericRangeQuery(&since, nil)
		after.SetField(fieldAt)
		all.AddMust(after)
		asked = true
	}
	switch {
	case !asked && !excluded:
		return nil, ErrNothingAsked
	case !asked:
		all.AddMust(bleve.NewMatchAllQuery())
	}
	return all, nil
}

// query is what the library has to find for one wish; nil for a wish without any letters.
func (w wish) query() query.Query {
	var parts []query.Query
	found := pieces(fold(w.text))
	var terms []string
	for i, p := range found {
		last := i == len(found)-1
		if !p.unspaced {
			terms = append(terms, p.text)
			continue
		}
		run := pairs(p.text)
		if len(run) > 1 {
			run = run[:len(run)-1] // the last character is a word by itself only at the end of a run
		} else if !last {
			continue // one character between others is found with those around it
		}
		terms = append(terms, run...)
		if len(run) == 1 && len(clusters(p.text)) == 1 {
			w.prefix = true // every pair with this character at the front begins with it
		}
		if !last {
			parts = append(parts, phrase(terms, false))
			terms = nil
		}
	}
	if len(terms) > 0 {
		parts = append(parts, phrase(terms, w.prefix))
	}
	if len(parts) == 0 {
		return nil
	}
	return bleve.NewConjunctionQuery(parts...)
}

// phrase finds words that follow each other. With `open`, the last one only has to be the beginning
// of a word.
func phrase(terms []string, open bool) query.Query {
	last := terms[len(terms)-1]
	if !open {
		return query.NewPhraseQuery(terms, fieldWords)
	}
	begins := bleve.NewPrefixQuery(last)
	begins.SetField(fieldWords)
	if len(terms) == 1 {
		return begins
	}
	return bleve.NewConjunctionQuery(query.NewPhraseQuery(terms[:len(terms)-1], fieldWords), begins)
}
