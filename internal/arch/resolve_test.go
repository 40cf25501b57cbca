package arch

import (
	"go/ast"
	"go/types"
)

// meanings tells what each identifier in a folder's files refers to, without tests. It does not
// follow imports, so the content of imports is unknown. But it is known which import or variable a
// name means, and no local name is mistaken for one.
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
		// All names of imports are unknown, and files for several systems declare the same names.
		// So errors are normal, and mean nothing here.
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
