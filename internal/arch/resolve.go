package arch

import (
	"go/ast"
	"go/types"
)

// meanings tells what each identifier of a folder's files, tests aside, refers
// to. Imports are not followed: what they hold is unknown, but which import or
// which variable a name means is not, and no local name is mistaken for it.
func meanings(dir *folder) map[*ast.Ident]types.Object {
	uses := map[*ast.Ident]types.Object{}
	byPackage := map[string][]*ast.File{}
	for _, f := range dir.files {
		if !f.test {
			name := f.syntax.Name.Name
			byPackage[name] = append(byPackage[name], f.syntax)
		}
	}
	config := types.Config{
		Importer:    emptyImporter{},
		FakeImportC: true,
		// Every name of an import is unknown and files of several systems
		// declare the same names: errors are the rule and say nothing here.
		Error: func(error) {},
	}
	for name, files := range byPackage {
		_, _ = config.Check(name, dir.fset, files, &types.Info{Uses: uses})
	}
	return uses
}

// emptyImporter gives an empty package for every import path.
type emptyImporter struct{}

func (emptyImporter) Import(importPath string) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	empty := types.NewPackage(importPath, lastElement(importPath))
	empty.MarkComplete()
	return empty, nil
}
