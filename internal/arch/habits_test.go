package arch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// checkHabits finds, in one folder, what no room of parley may use.
func checkHabits(dir *folder, inits []string) []Violation {
	found := checkDoc(dir)
	for _, f := range dir.files {
		for _, one := range f.imports {
			switch {
			case one.name == ".":
				found = append(found, Violation{File: f.path, Line: one.line,
					What: "imports " + one.path + " with a dot",
					Why:  "a reader could not tell where a name comes from"})
			case one.path == "C":
				found = append(found, Violation{File: f.path, Line: one.line,
					What: "uses cgo",
					Why:  "one static binary is built for every system without a C compiler"})
			}
		}
		if !slices.Contains(inits, f.path) {
			found = append(found, checkInit(dir, f)...)
		}
		if !f.test {
			found = append(found, checkVariables(dir, f)...)
		}
	}
	return found
}

// checkDoc reports a package that does not have a comment above exactly one package clause. In a
// folder that has only tests, a test may carry the comment.
func checkDoc(dir *folder) []Violation {
	name, onlyTests := "", true
	for _, f := range dir.files {
		onlyTests = onlyTests && f.test
	}
	for _, f := range dir.files {
		if f.test && !onlyTests {
			continue
		}
		name = f.syntax.Name.Name
		text := f.syntax.Doc.Text()
		if strings.HasPrefix(text, "Package "+name+" ") || name == "main" && text != "" {
			return nil
		}
	}
	start := "Package " + name
	if name == "main" {
		start = "the name of the command"
	}
	return []Violation{{
		File: dir.path,
		What: fmt.Sprintf("has no package comment that begins with %q", start),
		Why:  "the comment is where a newcomer learns what the package promises",
	}}
}

func checkInit(dir *folder, f *file) []Violation {
	var found []Violation
	for _, declaration := range f.syntax.Decls {
		if function, ok := declaration.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.Name == "init" {
			found = append(found, Violation{File: f.path, Line: dir.line(function),
				What: "declares func init",
				Why:  "importing a package must change nothing; build what is needed in a constructor"})
		}
	}
	return found
}

// checkVariables finds assignments to the package's own variables.
func checkVariables(dir *folder, f *file) []Violation {
	var found []Violation
	check := func(target ast.Expr) {
		root := rootOf(target)
		variable, ok := dir.uses[root].(*types.Var)
		if !ok || variable.Pkg() == nil || variable.Parent() != variable.Pkg().Scope() {
			return
		}
		found = append(found, Violation{File: f.path, Line: dir.line(target),
			What: "changes the package-level variable " + root.Name,
			Why:  "two nodes run in one process; state belongs to a value that New returned"})
	}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.AssignStmt:
			for _, target := range node.Lhs {
				check(target)
			}
		case *ast.IncDecStmt:
			check(node.X)
		case *ast.RangeStmt:
			if node.Tok == token.ASSIGN {
				check(node.Key)
				check(node.Value)
			}
		}
		return true
	})
	return found
}

// rootOf gives the variable with which the left side of an assignment begins: v in v, v.field, v[i]
// and *v. It is nil if the left side begins with something else.
func rootOf(target ast.Expr) *ast.Ident {
	for {
		switch t := target.(type) {
		case *ast.Ident:
			return t
		case *ast.SelectorExpr:
			target = t.X
		case *ast.IndexExpr:
			target = t.X
		case *ast.StarExpr:
			target = t.X
		case *ast.ParenExpr:
			target = t.X
		default:
			return nil
		}
	}
}
