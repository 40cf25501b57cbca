package search

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	excerptBefore = 40  // characters before the first hit, about
	excerptLength = 240 // characters in all, about
	excerptNear   = 160 // how far hits may be apart, in bytes, to be shown together
	maxExcerpted  = 512 // hits of one text that are looked at
)

// Fragment is a piece of a text: a hit, or the text around hits.
type Fragment struct {
	Text string
	Hit  bool
}

// Matcher finds the words of a query in texts, by the rules of the index.
type Matcher struct {
	wanted, unwanted []sought
}

// sought is one part of a query's words: pieces that follow each other.
type sought struct {
	pieces []piece
	open   bool // the last piece may be the beginning of a word
}

// Matcher returns a Matcher for the words of the query.
func (q Query) Matcher() Matcher {
	var m Matcher
	for _, w := range parse(q.Words) {
		s := sought{pieces: pieces(fold(w.text)), open: w.prefix}
		switch {
		case len(s.pieces) == 0:
		case w.not:
			m.unwanted = append(m.unwanted, s)
		default:
			m.wanted = append(m.wanted, s)
		}
	}
	return m
}

// Matches reports whether all words of the query occur in the text, and none of the excluded ones.
func (m Matcher) Matches(text string) bool {
	if len(m.wanted)+len(m.unwanted) == 0 {
		return true
	}
	found := runs(text)
	occurs := func(s sought) bool { return len(s.in(found, 1)) > 0 }
	lacks := func(s sought) bool { return !occurs(s) }
	return !slices.ContainsFunc(m.wanted, lacks) && !slices.ContainsFunc(m.unwanted, occurs)
}

// place is where a hit stands in a text, in bytes.
type place struct {
	from, to int
	which    int // index of what was sought
}

// Excerpt returns the part of the text in which most of the words stand close together, in one
// line; nil if none of them occurs.
func (m Matcher) Excerpt(text string) []Fragment {
	if len(m.wanted) == 0 {
		return nil
	}
	found := runs(text)
	var hits []place
	for which, s := range m.wanted {
		for _, h := range s.in(found, maxExcerpted) {
			hits = append(hits, place{h.from, h.to, which})
		}
	}
	if len(hits) == 0 {
		return nil
	}
	slices.SortFunc(hits, func(a, b place) int { return a.from - b.from })
	from := backward(text, hits[best(hits)].from, excerptBefore)
	to := forward(text, from, excerptLength)
	var all []Fragment
	add := func(text string, hit bool) {
		if text = oneLine(text); text != "" {
			all = append(all, Fragment{text, hit})
		}
	}
	if strings.TrimSpace(text[:from]) != "" {
		add("… ", false)
	}
	at := from
	for _, h := range hits {
		if h.to <= at || h.from >= to {
			continue
		}
		start := max(h.from, at)
		end := min(h.to, to)
		add(text[at:start], false)
		add(text[start:end], true)
		at = end
	}
	add(strings.TrimRightFunc(text[at:to], unicode.IsSpace), false)
	if strings.TrimSpace(text[to:]) != "" {
		add(" …", false)
	}
	return all
}

// best is the index of the hit after which the most different words follow closely; the first of
// them if there are several.
func best(hits []place) int {
	first, most := 0, 0
	for i, h := range hits {
		near := map[int]bool{}
		for _, other := range hits[i:] {
			if other.from-h.from > excerptNear {
				break
			}
			near[other.which] = true
		}
		if len(near) > most {
			first, most = i, len(near)
		}
	}
	return first
}

// backward goes back about `n` characters from `at`. If there is a space on the way, it stops after
// the first one.
func backward(text string, at, n int) int {
	begin := at
	for range n {
		_, size := utf8.DecodeLastRuneInString(text[:begin])
		begin -= size
	}
	if begin == 0 {
		return 0
	}
	if space := strings.IndexFunc(text[begin:at], unicode.IsSpace); space >= 0 {
		begin += space
		_, size := utf8.DecodeRuneInString(text[begin:])
		begin += size
	}
	return begin
}

// forward goes on about `n` characters from `at`. If there is a space near, it stops before that.
func forward(text string, at, n int) int {
	for range n {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	const near = 20
	if space := strings.LastIndexFunc(text[:at], unicode.IsSpace); at < len(text) && at-space < near {
		return space
	}
	return at
}

// oneLine replaces each row of line ends and other spaces by one space.
func oneLine(text string) string {
	var b strings.Builder
	spaced := false
	for _, r := range text {
		if space := unicode.IsSpace(r); !space || !spaced {
			if spaced = space; space {
				r = ' '
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}

// run is a piece of a text, and where it stands in the text.
type run struct {
	piece
	from, to int
	ends     []int // of an unspaced piece: where each of its characters ends in the text
	letters  []string
}

// runs cuts a text as pieces does, and keeps where each piece stands.
func runs(text string) (all []run) {
	cut(text, func(at int, p piece) { all = append(all, newRun(p.text, at, p.unspaced)) })
	return all
}

func newRun(text string, from int, dense bool) run {
	r := run{piece: piece{fold(text), dense}.short(), from: from, to: from + len(text)}
	if !dense {
		return r
	}
	at, count := from, 0
	for _, letter := range text {
		at += utf8.RuneLen(letter)
		for _, part := range fold(string(letter)) { // one sign can stand for a letter and a mark on the letter before
			last := len(r.letters) - 1
			if !unicode.IsMark(part) || last < 0 {
				r.letters, r.ends, count = append(r.letters, string(part)), append(r.ends, at), 1
				continue
			}
			if r.ends[last] = at; count < maxWord {
				r.letters[last] += string(part)
				count++
			}
		}
	}
	for i, letter := range r.letters {
		r.letters[i] = fold(letter)
	}
	return r
}

// in returns the places where what is sought stands. It stops when there are at least `most`
// places.
func (s sought) in(text []run, most int) []place {
	var all []place
	for i := 0; i+len(s.pieces) <= len(text) && len(all) < most; i++ {
		if where, ok := s.at(text[i:]); ok {
			all = append(all, where...)
		}
	}
	return all
}

// at reports whether what is sought stands at the beginning of the runs, and where.
func (s sought) at(text []run) (where []place, ok bool) {
	for i, p := range s.pieces {
		found := text[i].find(p, s.open && i == len(s.pieces)-1)
		if len(found) == 0 {
			return nil, false
		}
		where = append(where, found...)
	}
	return where, true
}

func (r run) find(p piece, open bool) []place {
	switch {
	case r.unspaced != p.unspaced:
		return nil
	case !r.unspaced:
		if r.text == p.text || open && strings.HasPrefix(r.text, p.text) {
			return []place{{from: r.from, to: r.to}}
		}
		return nil
	}
	wanted := clusters(p.text)
	var all []place
	for i := 0; i+len(wanted) <= len(r.letters); i++ {
		if slices.Equal(r.letters[i:i+len(wanted)], wanted) {
			from := r.from
			if i > 0 {
				from = r.ends[i-1]
			}
			all = append(all, place{from: from, to: r.ends[i+len(wanted)-1]})
		}
	}
	return all
}
