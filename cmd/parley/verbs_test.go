package main

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parleyfleet/parley/node/control"
)

// The page about verbs is generated from their table.
func TestVerbsReferenceIsUpToDate(t *testing.T) {
	file := filepath.Join(docsRoot, "docs", "reference", "verbs.md")
	want := renderVerbs(control.Verbs())
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/reference/verbs.md is not what the table says; run go test ./cmd/parley -update\n%s", diff)
	}
}

func renderVerbs(verbs []control.VerbSpec) string {
	var b strings.Builder
	b.WriteString(`# Verbs

Generated from the program's table of verbs by ` + "`go test ./cmd/parley -update`" + `.

What a node can be asked is its verbs. A program asks for one by ` + "`POST /v1/<verb>`" + `, in HTTP on the node's control socket, with
the request as JSON; ` + "`{}`" + ` asks for nothing in particular. The answer is JSON as [the commands print it](json.md), of a
stream one value a line. A failure is an [Error](json.md#error) with an HTTP status that is not 200, or the last line of a
stream. Lengths of time in requests are nanoseconds.

Who calls is found out by the socket, never said in a request. The operator of the host may do everything; others may do what
the verb does:

- *reads*: changes nothing. Everybody may.
- *speaks*: acts in a name: writes messages and receipts, looks at mail. An agent may as itself, and whoever nobody knows as the
  human, marked as such.
- *keeps*: writes into the record what bears no such mark, or shows what is one agent's to know. An agent may as itself.
- *operates*: decides something for the host. Nobody else may.

| verb | does | request | answer | what it does |
|---|---|---|---|---|
`)
	for _, v := range verbs {
		access := v.Access.String()
		if v.ReadsWhere != "" {
			access += "; reads " + v.ReadsWhere
		}
		answer := v.Answer.Name()
		switch {
		case v.Answer == reflect.TypeFor[control.None]():
			answer = ""
		case v.Stream:
			answer = "stream of " + answer
		case v.Answer.Kind() == reflect.Slice:
			answer = "array of " + v.Answer.Elem().Name()
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", v.Name, access, fieldsOf(v.Request), answer, v.Doc)
	}
	return b.String()
}

// fieldsOf returns the fields of a request under their names in JSON.
func fieldsOf(request reflect.Type) string {
	var names []string
	for _, field := range reflect.VisibleFields(request) {
		if field.Anonymous { // its fields stand among the others
			continue
		}
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		names = append(names, "`"+name+"`")
	}
	return strings.Join(names, ", ")
}
