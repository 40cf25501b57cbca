package search

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Query says what to find. Words and filters narrow it; at least one is needed.
type Query struct {
	// Words must all occur, whatever their case and accents. In quotes, "two words" have to follow
	// each other; -word must not occur; word* is the beginning of a word.
	Words   string
	Any     bool // one of the words is enough; a message with more of them comes first
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

// plan is a query that is ready to be held against lines.
type plan struct {
	wanted, unwanted [][]phrase // of each wish, all that must occur
	any              bool
	from, channel    []byte
	since            int64
}

// phrase is a run of words as a line has them, spaces included.
type phrase []byte

func (q Query) build() (plan, error) {
	p := plan{any: q.Any, channel: []byte(q.Channel.String()), since: math.MinInt64}
	for _, w := range parse(q.Words) {
		sought := w.phrases()
		switch {
		case len(sought) == 0:
		case w.not:
			p.unwanted = append(p.unwanted, sought)
		default:
			p.wanted = append(p.wanted, sought)
		}
	}
	if q.From != "" {
		p.from = []byte(names(q.From))
	}
	if !q.Since.IsZero() {
		p.since = q.Since.UnixMilli()
	} else if len(p.wanted)+len(p.unwanted)+len(p.from)+len(p.channel) == 0 {
		return p, ErrNothingAsked
	}
	return p, nil
}

// match reports whether a line is one that is looked for, and how often it has each of the words.
func (p plan) match(e entry) (counts []int, ok bool) {
	if e.at < p.since || len(p.channel) > 0 && !bytes.Equal(e.channel, p.channel) || !bytes.Contains(e.from, p.from) {
		return nil, false
	}
	for _, wish := range p.unwanted {
		if occurs(wish, e.words) > 0 {
			return nil, false
		}
	}
	ok = len(p.wanted) == 0
	for i, wish := range p.wanted {
		n := occurs(wish, e.words)
		switch {
		case n == 0 && !p.any:
			return nil, false
		case n == 0:
			continue
		case counts == nil:
			counts = make([]int, len(p.wanted))
		}
		counts[i], ok = n, true
	}
	return counts, ok
}

// occurs is how often a text has all of the phrases.
func occurs(wish []phrase, words []byte) int {
	least := math.MaxInt
	for _, p := range wish {
		n := 0
		for rest := words; ; n++ {
			at := bytes.Index(rest, p)
			if at < 0 {
				break
			}
			rest = rest[at+len(p)-1:] // the space behind it may be the one before the next
		}
		if least = min(least, n); least == 0 {
			return 0
		}
	}
	return least
}

// phrases are what a text must have for one wish; none for a wish without any letters.
func (w wish) phrases() (all []phrase) {
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
			all = append(all, phrase(" "+strings.Join(terms, " ")+" "))
			terms = nil
		}
	}
	if len(terms) == 0 {
		return all
	}
	end := " "
	if w.prefix {
		end = ""
	}
	return append(all, phrase(" "+strings.Join(terms, " ")+end))
}
