package control

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestVerbsOfTheTable(t *testing.T) {
	name := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	seen := map[string]bool{}
	for _, v := range Verbs() {
		if seen[v.Name] || !name.MatchString(v.Name) {
			t.Errorf("%s is there already, or no name of a verb", v.Name)
		}
		seen[v.Name] = true
		if !strings.HasSuffix(v.Doc, ".") {
			t.Errorf("%s: what it does is no sentence: %q", v.Name, v.Doc)
		}
		as, named := v.Request.FieldByName("As")
		if acts := v.Access == Speaks || v.Access == Keeps; acts != named {
			t.Errorf("%s %s, and its request names who acts: %t", v.Name, v.Access, named)
		}
		if named && as.Type.Kind() != reflect.String {
			t.Errorf("%s: who acts is a %s", v.Name, as.Type)
		}
		if _, named := v.Request.FieldByName("Caller"); named {
			t.Errorf("%s: its request says who calls; the door does that", v.Name)
		}
	}
}

// The beginning of the last line of a stream tells a failure from an answer.
func TestAnswersOfStreamsDoNotBeginAsFailures(t *testing.T) {
	for _, v := range Verbs() {
		if !v.Stream {
			continue
		}
		for _, field := range reflect.VisibleFields(v.Answer) {
			if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag == "error" {
				t.Errorf("%s: an answer has a field error", v.Name)
			}
		}
	}
}

// It prevents: a verb stands beside its request and not in the table, and is unknown to every node.
func TestEveryVerbIsInTheTable(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declared, listed := map[string]bool{}, map[string]bool{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if len(n.Values) == 1 && len(n.Names) == 1 && makesVerb(n.Values[0]) {
					declared[n.Names[0].Name] = true
				}
			case *ast.Ident:
				listed[n.Name] = listed[n.Name] || name == "verbs.go"
			}
			return true
		})
	}
	for verb := range declared {
		if !listed[verb] {
			t.Errorf("%s is not in Verbs", verb)
		}
	}
	if len(declared) != len(Verbs()) {
		t.Errorf("%d verbs are declared, and the table has %d", len(declared), len(Verbs()))
	}
}

// makesVerb reports whether an expression is NewVerb, NewQuestion or NewStream, whatever is called
// on the result.
func makesVerb(e ast.Expr) (yes bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && (id.Name == "NewVerb" || id.Name == "NewQuestion" || id.Name == "NewStream") {
			yes = true
		}
		return !yes
	})
	return yes
}

// A node that lacks a verb does not start, and says which.
func TestBindAllFindsWhatIsMissing(t *testing.T) {
	asItIs := func(err error) error { return err }
	var all []Binding
	for _, v := range Verbs() {
		all = append(all, Binding{verb: v.Name})
	}
	if _, err := BindAll(asItIs, all...); err != nil {
		t.Fatal(err)
	}
	for want, bindings := range map[string][]Binding{
		"the verb stop is bound 0 times, not once":    all[:len(all)-1],
		"the verb send is bound 2 times, not once":    append([]Binding{{verb: "send"}}, all...),
		"the verb dance is not in the table of verbs": append([]Binding{{verb: "dance"}}, all...),
	} {
		if _, err := BindAll(asItIs, bindings...); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	some := Bind(Show.By(func(context.Context, ShowRequest) (Message, error) { return Message{Body: "one"}, nil }))
	if m, err := Show.Ask(t.Context(), some, ShowRequest{}); err != nil || m.Body != "one" {
		t.Errorf("%q, %v", m.Body, err)
	}
	if _, err := Stop.Ask(t.Context(), some); err == nil || err.Error() != "nothing here answers stop" {
		t.Error(err)
	}
}
