package arch

import (
	"fmt"
	"go/ast"
	"strings"
)

// Name is a word that types and exported functions may not use freely as their name. It has one
// meaning (docs/explanation/glossary.md), or means nothing to a stranger.
type Name struct {
	// Word is the whole name, in any case.
	Word string
	// Room is the only folder in which it may be declared; "": it may be declared nowhere.
	Room string
	// Why says what the word means there, or what to write instead.
	Why string
}

// names are the words that once had several meanings.
func names() []Name {
	return []Name{
		{"letter", "protocol", "a letter is what nodes say to each other that is no message; a file of the record is a message"},
		{"acknowledge", "", "hosts tell what they heard, and participants give receipts"},
		{"shut", "", "what is over is closed, what is not let in is refused"},
		{"spot", "", "say which place: a location in a file, a file of a run"},
		{"seam", "", "what a message follows is its predecessor"},
		{"thaw", "", "a host that joins others again rejoins"},
	}
}

// checkNames finds declarations in one folder that use such a word with another meaning.
func checkNames(dir *folder, names []Name) (found []Violation) {
	note := func(f *file, id *ast.Ident) {
		for _, n := range names {
			if strings.EqualFold(id.Name, n.Word) && (n.Room == "" || !within(dir.path, n.Room)) {
				found = append(found, Violation{File: f.path, Line: dir.line(id), What: fmt.Sprintf("declares %s", id.Name), Why: n.Why})
			}
		}
	}
	for _, f := range dir.files {
		if f.test {
			continue
		}
		for _, d := range f.syntax.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.IsExported() {
					note(f, d.Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if t, ok := s.(*ast.TypeSpec); ok {
						note(f, t.Name)
					}
				}
			}
		}
	}
	return found
}
