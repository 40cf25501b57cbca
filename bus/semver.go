package bus

import (
	"regexp"
	"strings"
)

// semver is a version of this program in the form that NATS services must state, by semver.org. A
// version of another form, like that of a build by hand, becomes a word behind 0.0.0.
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
