package arch

import (
	"fmt"
	"go/ast"
	"strings"
)

// checkLines compares the size of each room with its limit.
func checkLines(folders []*folder, limits []Limit) []Violation {
	lines := make([]int, len(limits))
	for _, dir := range folders {
		at := roomOf(dir.path, limits)
		if at < 0 {
			continue
		}
		for _, f := range dir.files {
			if !f.test {
				lines[at] += dir.fset.File(f.syntax.Pos()).LineCount()
			}
		}
	}
	var found []Violation
	for i, limit := range limits {
		switch {
		case lines[i] > limit.Lines:
			found = append(found, Violation{
				File: limit.Room,
				What: fmt.Sprintf("has %d production lines, %d more than its limit", lines[i], lines[i]-limit.Lines),
				Why:  "the tree only shrinks: take lines away, or raise the limit in internal/arch/lines.go in this commit and say what for",
			})
		case lines[i] < limit.Lines-slack:
			found = append(found, Violation{
				File: limit.Room,
				What: fmt.Sprintf("has %d production lines, and its limit is still %d", lines[i], limit.Lines),
				Why:  "what was taken away does not come back unseen: lower the limit in internal/arch/lines.go",
			})
		}
	}
	return found
}

// roomOf returns the innermost of the limits that holds for a folder, -1 for none.
func roomOf(dir string, limits []Limit) int {
	best := -1
	for i, limit := range limits {
		if (dir == limit.Room || strings.HasPrefix(dir, limit.Room+"/")) && (best < 0 || len(limit.Room) > len(limits[best].Room)) {
			best = i
		}
	}
	return best
}

// How large a type may be. Behind a larger one, another type hides.
const (
	maxMethods = 60
	maxFields  = 40
)

// checkTypes finds the types of one folder that are too large. Methods for all systems count
// together. An embedded field is one field.
func checkTypes(dir *folder) (found []Violation) {
	methods := map[string]map[string]bool{} // by type
	note := func(f *file, at ast.Node, name, what string, many, most int) {
		if many > most {
			found = append(found, Violation{
				File: f.path, Line: dir.line(at), What: fmt.Sprintf("declares %s with %d %s, %d more than a type may have", name, many, what, many-most),
				Why: "nobody holds so much in mind: find the second type, which is a group of fields and what uses only these",
			})
		}
	}
	for _, f := range dir.files {
		for _, d := range f.syntax.Decls {
			if m, ok := d.(*ast.FuncDecl); ok && m.Recv != nil && !f.test {
				of := receiver(m.Recv.List[0].Type)
				if methods[of] == nil {
					methods[of] = map[string]bool{}
				}
				methods[of][m.Name.Name] = true
			}
		}
	}
	for _, f := range dir.files {
		for _, d := range f.syntax.Decls {
			types, ok := d.(*ast.GenDecl)
			if !ok || f.test {
				continue
			}
			for _, s := range types.Specs {
				t, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				note(f, t, t.Name.Name, "methods", len(methods[t.Name.Name]), maxMethods)
				switch kind := t.Type.(type) {
				case *ast.StructType:
					note(f, t, t.Name.Name, "fields", kind.Fields.NumFields(), maxFields)
				case *ast.InterfaceType:
					note(f, t, t.Name.Name, "methods", kind.Methods.NumFields(), maxMethods)
				}
			}
		}
	}
	return found
}

// receiver is the name of the type to which a method belongs.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}
