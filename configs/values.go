package configs

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	kib = 1 << 10
	mib = 1 << 20
)

// parseSize reads a number of bytes: "65536", "512KiB", "1MiB".
func parseSize(s string) (int, error) {
	digits, unit := s, 1
	if d, ok := strings.CutSuffix(s, "KiB"); ok {
		digits, unit = d, kib
	} else if d, ok := strings.CutSuffix(s, "MiB"); ok {
		digits, unit = d, mib
	}
	n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 32)
	if err != nil || n < 0 || n > (1<<31-1)/int64(unit) {
		return 0, fmt.Errorf("%q is not a size: write it such as 512KiB, or as a number of bytes", s)
	}
	return int(n) * unit, nil
}

// showSize writes what parseSize reads, in the largest unit without loss.
func showSize(n int) string {
	switch {
	case n != 0 && n%mib == 0:
		return strconv.Itoa(n/mib) + "MiB"
	case n != 0 && n%kib == 0:
		return strconv.Itoa(n/kib) + "KiB"
	}
	return strconv.Itoa(n)
}

// isText reports whether s can stand in a file that people edit: valid UTF-8
// without control characters, except tabs and line ends.
func isText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || r == '\uFEFF' || r == '\uFFFE' || r == '\uFFFF')
	})
}

// isLine reports whether s is text of one line without tabs.
func isLine(s string) bool { return isText(s) && !strings.ContainsAny(s, "\n\t") }

// shellWord quotes s for a command that a person is asked to copy.
func shellWord(s string) string {
	plain := s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("/._-+:,@%", r)
	})
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
