package main

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// tree is what was counted in a module. Types and folders are named by their path.
type tree struct {
	types   map[string]*size
	folders map[string]*folder
	words   map[string]set // of each production file: its identifiers and strings, as func words makes them
}

// size is what was counted of a type.
type size struct {
	methods set // with the methods of all systems
	fields  int // an embedded one counts as one
}

// folder is what was counted in one folder, without the folders in it.
type folder struct {
	files, lines   int // production: neither tests, nor what they share, nor testdata
	names, methods set // exported at the top level, and by exported types
	callerHolds    int // comments
	skips          int
}

type set map[string]bool

// read counts the module at the top of files. It leaves out other modules in it, hidden folders,
// and folders that begin with "_", as the go command does.
func read(files fs.FS) (*tree, error) {
	t := &tree{types: map[string]*size{}, folders: map[string]*folder{}, words: map[string]set{}}
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			_, err := fs.Stat(files, path.Join(name, "go.mod"))
			if name != "." && (err == nil || strings.HasPrefix(entry.Name(), ".") || strings.HasPrefix(entry.Name(), "_")) {
				return fs.SkipDir
			}
			return nil
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return t.file(name, data)
	})
	return t, err
}

// scriptSkip matches the word of testscript by which a script is skipped.
var scriptSkip = regexp.MustCompile(`(?m)^(\[.*\] *)*skip( |$)`)

func (t *tree) file(name string, data []byte) error {
	dir, _, isData := strings.Cut(name, "testdata/")
	switch {
	case isData && strings.HasSuffix(name, ".txtar"):
		t.folder(path.Clean(dir)).skips += len(scriptSkip.FindAll(data, -1))
		return nil
	case isData || !strings.HasSuffix(name, ".go"):
		return nil
	}
	fset := token.NewFileSet()
	syntax, err := parser.ParseFile(fset, name, data, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	in := t.folder(path.Dir(name))
	in.skips += skips(syntax)
	if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "internal/testkit/") {
		return nil
	}
	in.files++
	in.lines += bytes.Count(data, []byte("\n"))
	in.callerHolds += callerHolds(syntax)
	for _, decl := range syntax.Decls {
		t.declared(path.Dir(name), decl, syntax.Name.Name != "main")
	}
	t.words[name] = mentioned(syntax)
	return nil
}

func (t *tree) folder(dir string) *folder {
	if t.folders[dir] == nil {
		t.folders[dir] = &folder{names: set{}, methods: set{}}
	}
	return t.folders[dir]
}

func (t *tree) size(dir, name string) *size {
	full := dir + "." + name
	if t.types[full] == nil {
		t.types[full] = &size{methods: set{}}
	}
	return t.types[full]
}

// declared counts one declaration. Programs export nothing.
func (t *tree) declared(dir string, decl ast.Decl, exports bool) {
	in := t.folder(dir)
	export := func(to set, name *ast.Ident, of string) {
		if exports && name.IsExported() && (of == "" || ast.IsExported(of)) {
			to[of+"."+name.Name] = true
		}
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		if decl.Recv == nil {
			export(in.names, decl.Name, "")
			return
		}
		of := receiver(decl.Recv.List[0].Type)
		t.size(dir, of).methods[decl.Name.Name] = true
		export(in.methods, decl.Name, of)
	case *ast.GenDecl:
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					export(in.names, name, "")
				}
			case *ast.TypeSpec:
				export(in.names, spec.Name, "")
				size := t.size(dir, spec.Name.Name)
				switch kind := spec.Type.(type) {
				case *ast.StructType:
					for _, field := range kind.Fields.List {
						size.fields += max(1, len(field.Names))
					}
				case *ast.InterfaceType:
					for _, field := range kind.Methods.List {
						for _, name := range field.Names {
							size.methods[name.Name] = true
							export(in.methods, name, spec.Name.Name)
						}
					}
				}
			}
		}
	}
}

// receiver is the name of a method's type.
func receiver(of ast.Expr) string {
	for {
		switch kind := of.(type) {
		case *ast.StarExpr:
			of = kind.X
		case *ast.IndexExpr:
			of = kind.X
		case *ast.IndexListExpr:
			of = kind.X
		case *ast.Ident:
			return kind.Name
		default:
			return "?"
		}
	}
}

func callerHolds(syntax *ast.File) int {
	found := 0
	for _, comment := range syntax.Comments {
		found += strings.Count(strings.ToLower(strings.Join(strings.Fields(comment.Text()), " ")), "the caller holds")
	}
	return found
}

// skips counts the calls by which a test says that it does not run.
func skips(syntax *ast.File) int {
	if !slices.ContainsFunc(syntax.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"testing"` }) {
		return 0
	}
	found := 0
	ast.Inspect(syntax, func(node ast.Node) bool {
		if call, ok := node.(*ast.CallExpr); ok {
			if f, ok := call.Fun.(*ast.SelectorExpr); ok && slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, f.Sel.Name) {
				found++
			}
		}
		return true
	})
	return found
}

// mentioned returns the words of all identifiers and strings of a file, without its imports.
func mentioned(syntax *ast.File) set {
	found := set{}
	ast.Inspect(syntax, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Ident:
			found[words(node.Name)] = true
		case *ast.BasicLit:
			if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
				found[words(text)] = true
			}
		}
		return true
	})
	return found
}

// words cuts a text into its words, in small letters with a space around each. So strings.Contains
// finds a run of words: "HTTPServer" is " http server ".
func words(text string) string {
	var out strings.Builder
	runes := []rune(text)
	apart := true
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			apart = true
			continue
		}
		if i > 0 && unicode.IsUpper(r) {
			small := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			apart = apart || !unicode.IsUpper(runes[i-1]) || small
		}
		if apart {
			out.WriteByte(' ')
		}
		apart = false
		out.WriteRune(unicode.ToLower(r))
	}
	out.WriteByte(' ')
	return out.String()
}
