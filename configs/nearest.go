package configs

import (
	"strings"

	"github.com/parleyfleet/parley/internal/spelling"
)

// Nearest is the known key that somebody most likely meant, or "" if none is similar. A key in a
// wrong place is similar to the same key in the right place: "listen" to "bus.listen".
func Nearest(key string, known []string) string {
	best, bestDistance := "", 3
	norm := plainKey(key)
	for _, k := range known {
		d := min(spelling.Distance(norm, plainKey(k)), 1+spelling.Distance(last(norm), last(plainKey(k))))
		if d < bestDistance && d < len(last(norm)) {
			best, bestDistance = k, d
		}
	}
	return best
}

func plainKey(key string) string { return strings.ToLower(strings.ReplaceAll(key, "-", "_")) }

func last(key string) string { return key[strings.LastIndex(key, ".")+1:] }
