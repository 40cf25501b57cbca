package calls

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/protocol"
)

// anchors are words that lead to a place: words in backticks, paths, names of files.
var anchors = pattern.New("`([^`\n]{1,100})`|[A-Za-z0-9_.-]*/[A-Za-z0-9_./-]+|\\b[A-Za-z0-9_-]+\\.[a-z]{1,4}\\b")

// maxOrientation is how many such words a member gets.
const maxOrientation = 8

// idioms look like paths or files and lead nowhere.
var idioms = []string{"and/or", "either/or", "e.g", "i.e", "n/a", "w/o", "his/her", "he/she", "yes/no"}

// Orientation is where members begin to look: those words of the brief that lead to a place, word
// for word (F32), or else its scope. It follows from the brief alone.
func Orientation(b protocol.InquiryBrief) []string {
	var all []string
	for _, text := range []string{b.Scope, b.Intent, b.Deliverable} {
		for _, m := range anchors.Regexp().FindAllStringSubmatch(text, -1) {
			word := m[1]
			if word == "" {
				word = strings.Trim(m[0], "./-")
			}
			if word = strings.TrimSpace(word); word != "" && word == line(word) && !slices.Contains(idioms, strings.ToLower(word)) && !slices.ContainsFunc(all, func(s string) bool { return strings.EqualFold(s, word) }) && len(all) < maxOrientation {
				all = append(all, word)
			}
		}
	}
	if len(all) > 0 {
		return all
	}
	scope, _, _ := strings.Cut(b.Scope, "\n")
	if scope = strings.TrimSpace(scope); len(scope) > 256 {
		if i := strings.LastIndexByte(scope[:257], ' '); i > 0 {
			scope = scope[:i]
		} else {
			scope = strings.ToValidUTF8(scope[:256], "")
		}
	}
	if scope == "" || scope != strings.Join(strings.Fields(scope), " ") {
		return nil
	}
	return []string{scope}
}
