package arch

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// folder is the content of one folder: a package and, perhaps, its tests.
type folder struct {
	path  string
	fset  *token.FileSet
	files []*file
	uses  map[*ast.Ident]types.Object // see meanings; without tests
}

// file is one parsed Go file.
type file struct {
	path    string
	test    bool
	syntax  *ast.File
	imports []imported
}

// imported is one import of a file.
type imported struct {
	path string
	name string // as written: "", ".", "_" or another name
	line int
}

// load parses every Go file of the tree, folder by folder in lexical order.
func load(tree fs.FS, module string) ([]*folder, error) {
	ignored, err := readIgnored(tree)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	byPath := map[string]*folder{}
	err = fs.WalkDir(tree, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return enter(tree, name, ignored)
		case !strings.HasSuffix(name, ".go") || ignored.match(name):
			return nil
		}
		parsed, err := parse(tree, fset, name)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if byPath[dir] == nil {
			byPath[dir] = &folder{path: dir, fset: fset}
		}
		byPath[dir].files = append(byPath[dir].files, parsed)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if len(byPath) == 0 {
		return nil, fmt.Errorf("no Go file of %s found", module)
	}
	folders := make([]*folder, 0, len(byPath))
	for _, dir := range byPath {
		dir.uses = meanings(dir)
		folders = append(folders, dir)
	}
	slices.SortFunc(folders, func(a, b *folder) int { return strings.Compare(a.path, b.path) })
	return folders, nil
}

// enter decides whether the walk goes into a folder. It leaves out folders that the go command
// ignores, that git does not track, or that are other modules.
func enter(tree fs.FS, name string, ignored ignored) error {
	base := path.Base(name)
	if name == "." {
		return nil
	}
	if base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") || ignored.match(name) {
		return fs.SkipDir
	}
	if _, err := fs.Stat(tree, path.Join(name, "go.mod")); err == nil {
		return fs.SkipDir
	}
	return nil
}

func parse(tree fs.FS, fset *token.FileSet, name string) (*file, error) {
	source, err := fs.ReadFile(tree, name)
	if err != nil {
		return nil, err
	}
	syntax, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	parsed := &file{path: name, test: strings.HasSuffix(name, "_test.go"), syntax: syntax}
	for _, spec := range syntax.Imports {
		unquoted, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return nil, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		one := imported{path: unquoted, line: fset.Position(spec.Pos()).Line}
		if spec.Name != nil {
			one.name = spec.Name.Name
		}
		parsed.imports = append(parsed.imports, one)
	}
	return parsed, nil
}
