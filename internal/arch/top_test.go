package arch

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// checkTop compares the top of the tree with the folders and files that the
// rules name.
func checkTop(tree fs.FS, rules Rules) ([]Violation, error) {
	ignored, err := readIgnored(tree)
	if err != nil {
		return nil, err
	}
	entries, err := fs.ReadDir(tree, ".")
	if err != nil {
		return nil, err
	}
	var found []Violation
	for _, entry := range entries {
		kind, known := "file", rules.Files
		if entry.IsDir() {
			kind, known = "folder", rules.Folders
		}
		// In a linked worktree or a submodule, .git is a file.
		if entry.Name() == ".git" || ignored.match(entry.Name()) || slices.Contains(known, entry.Name()) {
			continue
		}
		found = append(found, Violation{
			File: entry.Name(),
			What: "is no known " + kind + " of the top of the tree",
			Why:  "a newcomer reads the rooms off the top folder; a new one is a decision, made in internal/arch/walls_test.go",
		})
	}
	return found, nil
}

// ignored holds the patterns of the top .gitignore. It understands only what parley's own file
// uses: a pattern with a leading slash is a path from the top; any other pattern matches the name
// of a file or folder at any depth.
type ignored []string

func readIgnored(tree fs.FS) (ignored, error) {
	text, err := fs.ReadFile(tree, ".gitignore")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var patterns ignored
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			patterns = append(patterns, strings.TrimSuffix(line, "/"))
		}
	}
	return patterns, nil
}

func (patterns ignored) match(name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		subject := path.Base(name)
		if fromTop, ok := strings.CutPrefix(pattern, "/"); ok {
			pattern, subject = fromTop, name
		}
		matched, err := path.Match(pattern, subject)
		return err == nil && matched
	})
}
