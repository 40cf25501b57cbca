// Package size writes numbers of bytes as people say them, and reads them.
package size

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are the units that can be written, the larger ones first.
var units = []struct {
	name  string
	bytes int
}{
	{"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}, {"B", 1},
}

// Parse reads "2GB", "512 MiB" or "65536".
func Parse(s string) (int, error) {
	digits, unit := s, 1
	for _, u := range units {
		if d, ok := strings.CutSuffix(s, u.name); ok {
			digits, unit = d, u.bytes
			break
		}
	}
	n, err := strconv.ParseUint(strings.TrimSuffix(digits, " "), 10, strconv.IntSize-1)
	if err != nil || n > uint64(math.MaxInt/unit) {
		return 0, fmt.Errorf("%q is not a size: write it such as 512MB, 2GB or 1GiB, or as a number of bytes", s)
	}
	return int(n) * unit, nil
}

// Text is `n` bytes as text for people, exactly: "2 GB", "65536 B".
func Text(n int) string {
	for _, u := range units {
		if n >= u.bytes && n%u.bytes == 0 {
			return fmt.Sprintf("%d %s", n/u.bytes, u.name)
		}
	}
	return "0 B"
}

// Exact is Text without the space, as files have it: "2GB".
func Exact(n int) string { return strings.Replace(Text(n), " ", "", 1) }
