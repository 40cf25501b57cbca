// Package schemas has the JSON Schemas (2020-12) of the files that other programs read:
// those of parties, of the history of scores, and of where the agreements of a topic stand.
package schemas

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed *.schema.json
var files embed.FS

// Schema is the form of one kind of file.
type Schema struct {
	Name  string // such as "party"
	Of    string // a pattern for the names of the files that it describes
	Lines bool   // each line of such a file is a value
	Text  []byte // the schema itself
}

// All returns the schemas, by name.
func All() []Schema {
	all := []Schema{
		{Name: "party", Of: "parties/*.json"},
		{Name: "sync-history", Of: "*.history.jsonl", Lines: true},
		{Name: "topic-state", Of: "*.state.json"},
	}
	for i := range all {
		text, err := files.ReadFile(all[i].Name + ".schema.json")
		if err != nil {
			panic(err) // it is a part of the program
		}
		all[i].Text = text
	}
	return all
}

// Find returns the schema with a name.
func Find(name string) (Schema, error) {
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Schema{}, fmt.Errorf("there is no schema %q: there are %s", name, strings.Join(names, ", "))
}

// For returns the schema of a file, by the file's name.
func For(file string) (Schema, bool) {
	file = strings.ReplaceAll(file, `\`, "/")
	folder, base := path.Split(file)
	for _, s := range All() {
		name := base
		if strings.Contains(s.Of, "/") {
			name = path.Base(folder) + "/" + base
		}
		if fits, _ := path.Match(s.Of, name); fits {
			return s, true
		}
	}
	return Schema{}, false
}
