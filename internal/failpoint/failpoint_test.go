package failpoint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// It prevents: a point that no code passes, or at which no crash test dies.
func TestEveryPointIsInTheSource(t *testing.T) {
	names := constants(t)
	listed := map[string]bool{}
	for _, p := range All() {
		listed[string(p)] = true
	}
	if len(listed) != len(names) {
		t.Errorf("All has %d points, %d are declared", len(listed), len(names))
	}
	for name, value := range names {
		if !listed[value] {
			t.Errorf("%s is not in All", name)
		}
	}
	used := hitsInSource(t)
	for name := range names {
		if used[name] == 0 {
			t.Errorf("no code passes the point %s", name)
		}
	}
	for name := range used {
		if _, ok := names[name]; !ok {
			t.Errorf("the code passes %s, which is no point", name)
		}
	}
}

// constants returns the declared points by their Go name.
func constants(t *testing.T) map[string]string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, d := range file.Decls {
		group, ok := d.(*ast.GenDecl)
		if !ok || group.Tok != token.CONST {
			continue
		}
		for _, s := range group.Specs {
			spec := s.(*ast.ValueSpec)
			if typ, ok := spec.Type.(*ast.Ident); ok && typ.Name == "Point" {
				names[spec.Names[0].Name] = strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)
			}
		}
	}
	return names
}

// hitsInSource counts the calls of failpoint.Hit by the point's Go name.
func hitsInSource(t *testing.T) map[string]int {
	t.Helper()
	used := map[string]int{}
	err := fs.WalkDir(os.DirFS("../.."), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != "." {
			if d != nil && d.IsDir() && err == nil {
				return fs.SkipDir
			}
			return err
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/failpoint/") {
			return nil
		}
		data, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil {
			return err
		}
		for _, call := range strings.Split(string(data), "failpoint.Hit(failpoint.")[1:] {
			point, _, _ := strings.Cut(call, ")")
			used[point]++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return used
}
