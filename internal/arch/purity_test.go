package arch

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"
)

// impureImport gives the reason why a pure package may not import a package of the standard
// library; "" if it may.
func impureImport(importPath string) string {
	if importPath == "net/netip" {
		return "" // addresses as values: it reads and writes them, and dials nothing
	}
	reasons := []struct{ reason, packages string }{
		{"it reads or changes the machine", "os io/fs io/ioutil path/filepath syscall plugin runtime embed"},
		{"it talks to other machines", "net"},
		{"it writes where no caller asked for it", "log"},
		{"it draws random numbers; take an io.Reader or the value as an argument", "crypto/rand math/rand"},
	}
	for _, r := range reasons {
		if withinAny(importPath, strings.Fields(r.packages)) {
			return r.reason
		}
	}
	return ""
}

// impureName gives the reason why a pure package may not use a single name of a package that is
// otherwise pure; "" if it may.
func impureName(importPath, name string) string {
	reasons := []struct{ reason, importPath, names string }{
		{"it asks the clock; take the time as an argument", "time", "Now Since Until"},
		{"it waits", "time", "Sleep After AfterFunc Tick NewTimer NewTicker"},
		{"it depends on the machine's time zone", "time", "Local LoadLocation"},
		{"it uses the terminal", "fmt", "Print Printf Println Scan Scanf Scanln"},
	}
	for _, r := range reasons {
		if importPath != r.importPath {
			continue
		}
		for forbidden := range strings.FieldsSeq(r.names) {
			if name == forbidden {
				return r.reason
			}
		}
	}
	return ""
}

// checkPure finds what makes the results of a file depend on more than its arguments. `subject` is
// the room or helper package that must be pure.
func checkPure(dir *folder, f *file, subject, why string) []Violation {
	var found []Violation
	report := func(line int, what, reason string) {
		found = append(found, Violation{File: f.path, Line: line, Why: why,
			What: fmt.Sprintf("%s, but %s must be pure: %s", what, subject, reason)})
	}
	for _, one := range f.imports {
		if reason := impureImport(one.path); reason != "" {
			report(one.line, "imports "+one.path, reason)
		}
	}
	ast.Inspect(f.syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GoStmt:
			report(dir.line(node), "starts a goroutine", "its outcome would depend on scheduling")
		case *ast.SelectorExpr:
			if from := dir.importOf(node); from != "" {
				if reason := impureName(from, node.Sel.Name); reason != "" {
					report(dir.line(node), "uses "+from+"."+node.Sel.Name, reason)
				}
			}
		}
		return true
	})
	return found
}

// importOf gives the import path that the left side of a selector names, or "".
func (dir *folder) importOf(selector *ast.SelectorExpr) string {
	if left, ok := selector.X.(*ast.Ident); ok {
		if name, ok := dir.uses[left].(*types.PkgName); ok {
			return name.Imported().Path()
		}
	}
	return ""
}

func (dir *folder) line(node ast.Node) int {
	return dir.fset.Position(node.Pos()).Line
}
