package bus

import (
	"regexp"
	"strings"
)

// semver is a version of this program as NATS services must state theirs, by
// semver.org. What is no such version, as that of a build by hand, becomes a word
// behind 0.0.0.
func semver(version string) string {
	const number = `(0|[1-9]\d*)`
	const word = `[0-9A-Za-z-]+`
	const pre = `(0|[1-9]\d*|\d*[A-Za-z-][0-9A-Za-z-]*)`
	form := regexp.MustCompile(`^` + number + `\.` + number + `\.` + number +
		`(-` + pre + `(\.` + pre + `)*)?(\+` + word + `(\.` + word + `)*)?$`)
	if v := strings.TrimPrefix(version, "v"); form.MatchString(v) {
		return v
	}
	rest := strings.Trim(regexp.MustCompile(`[^0-9A-Za-z-]+`).ReplaceAllString(version, "-"), "-")
	if rest == "" {
		return "0.0.0"
	}
	return "0.0.0+" + rest
}
