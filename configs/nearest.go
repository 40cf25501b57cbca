package configs

import "strings"

// Nearest is the known key that a misspelt one most likely meant, or "" where
// none is close. A key in the wrong place is close to the same key in the
// right one: "listen" to "bus.listen".
func Nearest(key string, known []string) string {
	best, bestDistance := "", 3
	norm := plainKey(key)
	for _, k := range known {
		d := min(distance(norm, plainKey(k)), 1+distance(last(norm), last(plainKey(k))))
		if d < bestDistance && d < len(last(norm)) {
			best, bestDistance = k, d
		}
	}
	return best
}

func plainKey(key string) string { return strings.ToLower(strings.ReplaceAll(key, "-", "_")) }

func last(key string) string { return key[strings.LastIndex(key, ".")+1:] }

// distance is the number of single-letter changes that turn a into b.
func distance(a, b string) int {
	if max(len(a), len(b)) > 64 {
		return 64
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
