package configs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// settingsInDocs finds the parts of a page that are for config.yaml. They begin with a key of that
// file that no other file in the docs has.
var settingsInDocs = regexp.MustCompile("(?ms)^```yaml\n((?:bus|notify|metrics):.*?)^```$")

// A reader copies what a page says into config.yaml, so it must load there.
func TestSettingsInDocsLoad(t *testing.T) {
	docs, found := filepath.Join("..", "docs"), 0
	err := filepath.WalkDir(docs, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".md" {
			return err
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, block := range settingsInDocs.FindAllStringSubmatch(string(page), -1) {
			found++
			_, err := Load(write(t, "config.yaml", "fleet: f\nalias: a\nhuman: h\n"+block[1]))
			if err != nil {
				t.Errorf("%s: %v in:\n%s", path, err, block[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 5 {
		t.Errorf("only %d parts of config.yaml were found in %s", found, docs)
	}
}
