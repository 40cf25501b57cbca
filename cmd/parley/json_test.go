package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/node"
	"github.com/parleyfleet/parley/cmd/parley/root"
	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
	"github.com/spf13/cobra"
)

// The reference of what --json prints is generated from the types and from values of them, so it
// cannot lie. It is complete: it has each command with --json, each type that a node answers with,
// and each field with its meaning and a value.
func TestJSONReferenceIsUpToDate(t *testing.T) {
	shapes := newShapes(t)
	shapes.checkCommands()
	shapes.checkVerbs()
	wantPage(t, "json.md", shapes.render())
}

// shape is what one command prints in one case: one value, or several, one a line.
type shape struct {
	value any
	lines bool
	when  string // "" if it is always so
}

// shapes has all that is printed.
type shapes struct {
	*testing.T
	printed map[string][]shape                // by command
	types   map[reflect.Type][]reflect.Value  // every struct among them, with all its values
	docs    map[string]map[string]declaration // by folder and name
}

// declaration is what the source says of a type.
type declaration struct {
	doc    string
	fields map[string]string
	words  []string // the values of its constants, such as "here"
}

func newShapes(t *testing.T) *shapes {
	s := &shapes{T: t, printed: printedShapes(), types: map[reflect.Type][]reflect.Value{}, docs: map[string]map[string]declaration{}}
	for _, command := range slices.Sorted(maps.Keys(s.printed)) {
		for _, shape := range s.printed[command] {
			s.collect(reflect.ValueOf(shape.value))
		}
	}
	return s
}

// collect notes every struct in a value that is put in JSON by its fields.
func (s *shapes) collect(v reflect.Value) {
	if !v.IsValid() || writesItself(v.Type()) {
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		s.collect(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			s.collect(v.Index(i))
		}
	case reflect.Map:
		s.types[v.Type()] = append(s.types[v.Type()], v)
		for _, value := range v.Seq2() {
			s.collect(value.Elem())
		}
	case reflect.Struct:
		s.types[v.Type()] = append(s.types[v.Type()], v)
		for i := range v.NumField() {
			if v.Type().Field(i).Tag.Get("json") != "-" {
				s.collect(v.Field(i))
			}
		}
	}
}

func writesItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Marshaler]()) || t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// checkCommands checks that every command with --json says what it prints, and that no other
// command does.
func (s *shapes) checkCommands() {
	have := map[string]bool{}
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Flags().Lookup("json") != nil {
			have[cmd.CommandPath()] = true
			if len(s.printed[cmd.CommandPath()]) == 0 {
				s.Errorf("%s has --json, and printedShapes does not say what it prints", cmd.CommandPath())
			}
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	walk(root.New(testProgram()))
	for command := range s.printed {
		if !have[command] && command != everyCommand {
			s.Errorf("%s has no --json", command)
		}
	}
}

// checkVerbs checks that every type that a node answers with is printed.
func (s *shapes) checkVerbs() {
	for _, v := range control.Verbs() {
		answer := v.Answer
		if answer.Kind() == reflect.Slice {
			answer = answer.Elem()
		}
		if answer != reflect.TypeFor[control.None]() && len(s.types[answer]) == 0 && !slices.Contains(unprintedAnswers(), answer) {
			s.Errorf("the verb %s answers with %s, which no command in printedShapes prints", v.Name, answer)
		}
	}
}

func (s *shapes) render() string {
	var b strings.Builder
	b.WriteString(jsonPreface)
	b.WriteString("\n## Commands\n\n| command | prints |\n|---|---|\n")
	for _, command := range slices.Sorted(maps.Keys(s.printed)) {
		var prints []string
		for _, shape := range s.printed[command] {
			prints = append(prints, s.describe(shape))
		}
		if command != everyCommand {
			command = "`" + command + "`"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", command, strings.Join(prints, "; "))
	}
	types := slices.SortedFunc(maps.Keys(s.types), func(a, b reflect.Type) int { return strings.Compare(shapeName(a), shapeName(b)) })
	for _, t := range types {
		s.renderType(&b, t)
	}
	return b.String()
}

func (s *shapes) describe(shape shape) string {
	text := shape.when
	if text != "" {
		text += ": "
	}
	if note, ok := shape.value.(string); ok {
		return text + note
	}
	text += s.typeText(reflect.TypeOf(shape.value))
	if shape.lines {
		text += ", one a line"
	}
	return text
}

func (s *shapes) renderType(b *strings.Builder, t reflect.Type) {
	says := s.declared(t)
	fmt.Fprintf(b, "\n## %s\n\n%s\n\n", shapeName(t), s.sentence(t, says.doc))
	b.WriteString("| field | type | may be missing | meaning |\n|---|---|---|---|\n")
	if t == reflect.TypeFor[node.ConfigInfo]() {
		s.renderSettings(b, s.types[t][0].Interface().(node.ConfigInfo))
	} else {
		s.renderFields(b, t, says)
	}
	var example, indented bytes.Buffer
	if err := control.WriteJSON(&example, s.types[t][0].Interface()); err != nil {
		s.Fatal(err)
	}
	if err := json.Indent(&indented, example.Bytes(), "", "  "); err != nil {
		s.Fatal(err)
	}
	fmt.Fprintf(b, "\n```json\n%s\n```\n", strings.TrimSpace(indented.String()))
}

// renderSettings says what the settings of config.yaml mean, by their table.
func (s *shapes) renderSettings(b *strings.Builder, example node.ConfigInfo) {
	fmt.Fprintf(b, "| `file` | string |  | path of the file |\n")
	for _, setting := range configs.Settings(new(configs.Config)) {
		if setting.Doc == "" {
			s.Errorf("the setting %s does not say what it means", setting.Key)
		}
		fmt.Fprintf(b, "| `%s` | %s |  | %s |\n", setting.Name, s.typeText(reflect.TypeOf(example[setting.Name])), setting.Doc)
	}
}

func (s *shapes) renderFields(b *strings.Builder, t reflect.Type, says declaration) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue // it is not shown
		}
		if f.Anonymous {
			fmt.Fprintf(b, "| | | | all fields of [%s](#%s) |\n", shapeName(f.Type), strings.ToLower(shapeName(f.Type)))
			continue
		}
		meaning := strings.TrimSuffix(says.fields[f.Name], ".")
		for _, verb := range []string{" is ", " are ", " says "} { // a comment begins so by Go's custom
			meaning = strings.TrimPrefix(meaning, f.Name+verb)
		}
		if meaning == "" {
			s.Errorf("the field %s of %s has no comment that says what it means", f.Name, t)
		}
		if !slices.ContainsFunc(s.types[t], func(v reflect.Value) bool { return !v.Field(i).IsZero() }) {
			s.Errorf("no example in printedShapes has a value in the field %s of %s", f.Name, t)
		}
		missing := ""
		switch {
		case strings.Contains(options, "omit"):
			missing = "yes"
		case f.Type.Kind() == reflect.Pointer || f.Type == reflect.TypeFor[protocol.Score]():
			missing = "no, but null"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", name, s.typeText(f.Type), missing, strings.ReplaceAll(meaning, "|", "\\|"))
	}
}

// shapeName is the name of a type for people.
func shapeName(t reflect.Type) string { return strings.ToUpper(t.Name()[:1]) + t.Name()[1:] }

func (s *shapes) declared(t reflect.Type) declaration {
	dir, ours := strings.CutPrefix(t.PkgPath(), "github.com/parleyfleet/parley/")
	if ours && s.docs[dir] == nil {
		s.docs[dir] = declarations(s.T, filepath.Join(docsRoot, dir))
	}
	return s.docs[dir][t.Name()]
}

// sentence returns a doc comment as a sentence that begins with the name of the shape.
func (s *shapes) sentence(t reflect.Type, doc string) string {
	if doc == "" {
		s.Errorf("the type %s has no comment", t)
	}
	return shapeName(t) + strings.TrimPrefix(doc, t.Name())
}

// typeText says what stands in JSON for a type.
func (s *shapes) typeText(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[control.Seconds]():
		return "number of seconds"
	case reflect.TypeFor[time.Time]():
		return "string: time"
	case reflect.TypeFor[protocol.Path]():
		return "string: path"
	case reflect.TypeFor[protocol.Score]():
		return "number"
	case reflect.TypeFor[protocol.ChannelID]():
		return "string: channel id"
	case reflect.TypeFor[protocol.Name](): // it has constants, but for something else
		return "string: name"
	}
	if t == reflect.TypeFor[protocol.Stage]() {
		var words []string
		for stage := protocol.StageNone + 1; stage <= protocol.StageAnswered; stage++ {
			words = append(words, "`"+stage.String()+"`")
		}
		return "string: " + strings.Join(words, ", ")
	}
	if words := s.declared(t).words; len(words) > 1 {
		return "string: " + strings.Join(words, ", ")
	}
	switch t.Kind() {
	case reflect.Pointer:
		return s.typeText(t.Elem())
	case reflect.Slice, reflect.Array:
		return "array of " + s.typeText(t.Elem())
	case reflect.Struct, reflect.Map:
		if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
			return "string"
		}
		return fmt.Sprintf("[%s](#%s)", shapeName(t), strings.ToLower(shapeName(t)))
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "string"
	case reflect.Float64, reflect.Int, reflect.Int64, reflect.Uint64:
		return "number"
	}
	s.Errorf("json.md has no words for %s", t)
	return t.String()
}

// declarations returns the types of a folder's Go files.
func declarations(t *testing.T, dir string) map[string]declaration {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]declaration{}
	set := token.NewFileSet()
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(set, file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if gen, ok := d.(*ast.GenDecl); ok {
				declare(all, gen)
			}
		}
	}
	return all
}

// declare notes the types that a declaration makes, or the constants of a type.
func declare(all map[string]declaration, gen *ast.GenDecl) {
	for _, spec := range gen.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			d := all[spec.Name.Name]
			d.doc = oneLine(gen.Doc, spec.Doc)
			if fields, ok := spec.Type.(*ast.StructType); ok {
				d.fields = map[string]string{}
				for _, f := range fields.Fields.List {
					for _, name := range f.Names {
						d.fields[name.Name] = oneLine(f.Doc, f.Comment)
					}
				}
			}
			all[spec.Name.Name] = d
		case *ast.ValueSpec:
			named, ok := spec.Type.(*ast.Ident)
			if !ok || len(spec.Values) != 1 {
				continue
			}
			if word, ok := spec.Values[0].(*ast.BasicLit); ok && word.Kind == token.STRING && gen.Tok == token.CONST {
				d := all[named.Name]
				d.words = append(d.words, "`"+strings.Trim(word.Value, `"`)+"`")
				all[named.Name] = d
			}
		}
	}
}

// oneLine returns the first comment that is not empty, without line breaks and numbers of rulings.
// It returns "" if there is none.
func oneLine(comments ...*ast.CommentGroup) string {
	for _, c := range comments {
		if text := strings.Join(strings.Fields(c.Text()), " "); text != "" {
			return regexp.MustCompile(` \(R[0-9]+\)`).ReplaceAllString(text, "")
		}
	}
	return ""
}

// everyCommand stands for what any command prints.
const everyCommand = "any command that fails"
