package bench

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The page about measuring names each measure and each figure. "start_…" there stands for all that
// begin so. It prevents: a figure that was added is forgotten there.
func TestPageNamesEachFigure(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "how-to", "measure.md"))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, m := range regexp.MustCompile("`([a-z0-9_]+…?)`").FindAllStringSubmatch(string(page), -1) {
		words = append(words, m[1])
	}
	named := func(name string) bool {
		return slices.ContainsFunc(words, func(word string) bool {
			begin, more := strings.CutSuffix(word, "…")
			return word == name || more && strings.HasPrefix(name, begin)
		})
	}
	for _, s := range []Suite{Record(0), Bus(), Dispatch(), Sync(), Topics(), Party(), Frame()} {
		for _, m := range s.Measures {
			if !named(m.Name) {
				t.Errorf("the page does not name %s, a measure of parley bench %s", m.Name, s.Name)
			}
			for _, f := range m.Figures {
				if !named(f.Name) {
					t.Errorf("the page does not name %s, a figure of parley bench %s", f.Name, s.Name)
				}
			}
		}
	}
}
