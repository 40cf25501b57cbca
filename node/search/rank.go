package search

import (
	"cmp"
	"math"
	"slices"
)

// candidate is a document that a query finds.
type candidate struct {
	place  int64 // of its line
	length int   // of its id
	at     int64
	words  int   // their length together
	counts []int // how often it has each of the words that are looked for
	score  float64
}

// rank puts candidates in order, the best first. It rates them by the formula BM25: rare words, many
// of them, in a short text. `words` are looked for, `all` is how many documents there are, and
// `usual` how long one is.
func rank(found []candidate, words, all int, usual float64) {
	const much, long = 1.2, 0.75     // the formula's usual k1 and b
	having := make([]float64, words) // how many documents have a word
	for _, c := range found {
		for i, n := range c.counts {
			if n > 0 {
				having[i]++
			}
		}
	}
	for i := range found {
		c := &found[i]
		for word, n := range c.counts {
			rare := math.Log(1 + (float64(all)-having[word]+0.5)/(having[word]+0.5))
			c.score += rare * float64(n) * (much + 1) / (float64(n) + much*(1-long+long*float64(c.words)/usual))
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.at, a.at), cmp.Compare(a.place, b.place))
	})
}
