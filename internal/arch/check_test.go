package arch

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// example is a small architecture with one wall of each kind.
func example() Rules {
	return Rules{
		Module:         "example.org/m",
		TestThirdParty: []string{"example.com/testkit"},
		Folders:        []string{"pure", "store", "app", "internal", "tools"},
		Files:          []string{"go.mod", ".gitignore", "LICENSE"},
		Inits:          []string{"store/begin.go"},
		Names:          []Name{{"letter", "pure", "it is what nodes say"}, {"spot", "", "say which"}},
		Walls: []Wall{
			{Room: "pure", ThirdParty: []string{"example.com/yaml"}, Pure: true, Why: "same bytes, same meaning"},
			{Room: "store", Parley: []string{"pure"}, ThirdParty: []string{"example.com/git"}, Why: "store keeps"},
			{Room: "app", Parley: []string{"pure"}, TestThirdParty: []string{"example.com/client"}, Why: "app prints",
				Doors: []Door{{Files: []string{"app/up.go"}, Parley: []string{"store"}}}},
			{Room: "app/inner", Why: "inner is alone"},
			{Room: "internal/kit", Parley: []string{"pure"}, TestsOnly: true, Why: "kit is for tests"},
			{Room: "internal", ThirdParty: []string{"example.com/log", "example.com/yaml"}, Why: "helpers know no room"},
		},
	}
}

// withClean adds files to a tree that keeps the rules.
func withClean(files map[string]string) fstest.MapFS {
	tree := fstest.MapFS{
		"go.mod":        {Data: []byte("module example.org/m\n")},
		".gitignore":    {Data: []byte("# built\n/app/built\n*.out\n")},
		"LICENSE":       {Data: []byte("free\n")},
		"pure/doc.go":   {Data: []byte("// Package pure is pure.\npackage pure\n")},
		"store/doc.go":  {Data: []byte("// Package store keeps.\npackage store\n")},
		"app/doc.go":    {Data: []byte("// App is a command.\npackage main\n")},
		"tools/go.mod":  {Data: []byte("module example.org/m/tools\n")},
		"tools/tool.go": {Data: []byte("package outside\n\nimport . \"C\"\n")},
	}
	for name, text := range files {
		tree[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return tree
}

func TestCheck(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		want  []string
	}{
		{name: "clean tree"},
		{
			name:  "what the walls allow",
			files: map[string]string{"store/a.go": "package store\n\nimport (\n\t_ \"example.com/git/plumbing\"\n\t_ \"example.org/m/pure\"\n\t_ \"os\"\n)\n"},
		},
		{
			name:  "a room imports another",
			files: map[string]string{"pure/a.go": "package pure\n\nimport _ \"example.org/m/store\"\n"},
			want:  []string{"pure/a.go:3 imports example.org/m/store: of parley, pure may import only pure, internal (why: same bytes, same meaning)"},
		},
		{
			name:  "a test climbs a wall as well",
			files: map[string]string{"pure/a_test.go": "package pure\n\nimport _ \"example.org/m/store\"\n"},
			want:  []string{"pure/a_test.go:3 imports example.org/m/store: of parley, pure may import only pure, internal (why: same bytes, same meaning)"},
		},
		{
			name:  "a module nobody allowed, though one with a longer name is",
			files: map[string]string{"store/a.go": "package store\n\nimport _ \"example.com/gitea\"\n"},
			want:  []string{"store/a.go:3 imports example.com/gitea: of other modules, store may import only example.com/git (why: store keeps)"},
		},
		{
			name: "test helpers only in tests",
			files: map[string]string{
				"app/a_test.go": "package main\n\nimport (\n\t_ \"example.com/client\"\n\t_ \"example.com/testkit/sub\"\n)\n",
				"app/a.go":      "package main\n\nimport (\n\t_ \"example.com/client\"\n\t_ \"example.com/testkit\"\n)\n",
			},
			want: []string{
				"app/a.go:4 imports example.com/client: of other modules, app may import none (why: app prints)",
				"app/a.go:5 imports example.com/testkit: of other modules, app may import none (why: app prints)",
			},
		},
		{
			name: "a door opens for its file alone",
			files: map[string]string{
				"app/up.go":   "package main\n\nimport _ \"example.org/m/store\"\n",
				"app/down.go": "package main\n\nimport _ \"example.org/m/store\"\n",
			},
			want: []string{"app/down.go:3 imports example.org/m/store: of parley, app may import only app, pure, internal (why: app prints)"},
		},
		{
			name: "the innermost wall holds",
			files: map[string]string{
				"app/inner/doc.go": "// Package inner is inside.\npackage inner\n\nimport _ \"example.org/m/pure\"\n",
			},
			want: []string{"app/inner/doc.go:4 imports example.org/m/pure: of parley, app/inner may import only app/inner, internal (why: inner is alone)"},
		},
		{
			name: "helpers import no room and cannot lend what a room may not have",
			files: map[string]string{
				"pure/a.go":           "package pure\n\nimport _ \"example.org/m/internal/near\"\n",
				"internal/near/a.go":  "// Package near helps.\npackage near\n\nimport (\n\t_ \"example.com/yaml\"\n\t_ \"example.org/m/internal/far\"\n)\n",
				"internal/far/a.go":   "// Package far helps.\npackage far\n\nimport (\n\t_ \"example.com/log\"\n\t_ \"os\"\n)\n",
				"internal/other/a.go": "// Package other helps.\npackage other\n\nimport (\n\t_ \"example.com/log\"\n\t_ \"example.org/m/store\"\n\t_ \"os\"\n)\n",
			},
			want: []string{
				"internal/far/a.go:5 imports example.com/log for pure, which may import only example.com/yaml (why: pure uses it, and same bytes, same meaning)",
				"internal/far/a.go:6 imports os, but internal/far must be pure: it reads or changes the machine (why: pure uses it, and same bytes, same meaning)",
				"internal/other/a.go:6 imports example.org/m/store: of parley, internal may import only internal (why: helpers know no room)",
			},
		},
		{
			name: "a room for tests",
			files: map[string]string{
				"internal/kit/a.go":     "// Package kit helps tests.\npackage kit\n\nimport _ \"example.org/m/pure\"\n",
				"internal/kit/sub/a.go": "// Package sub helps.\npackage sub\n\nimport _ \"example.org/m/internal/kit\"\n",
				"store/a.go":            "package store\n\nimport _ \"example.org/m/internal/kit/sub\"\n",
				"store/a_test.go":       "package store\n\nimport _ \"example.org/m/internal/kit\"\n",
			},
			want: []string{"store/a.go:3 imports example.org/m/internal/kit/sub, which only tests may import (why: kit is for tests)"},
		},
		{
			name: "code outside the rooms",
			files: map[string]string{
				"main.go":     "// M is a command.\npackage main\n",
				"stray/s.go":  "// Package stray is lost.\npackage stray\n",
				"store/x.out": "not looked at",
			},
			want: []string{
				"main.go is no known file of the top of the tree (why: a newcomer reads the rooms off the top folder; a new one is a decision, made in internal/arch/walls_test.go)",
				"main.go lies in no room: no wall is drawn around . (why: code outside the rooms could import anything; draw its wall in internal/arch/walls_test.go)",
				"stray is no known folder of the top of the tree (why: a newcomer reads the rooms off the top folder; a new one is a decision, made in internal/arch/walls_test.go)",
				"stray/s.go lies in no room: no wall is drawn around stray (why: code outside the rooms could import anything; draw its wall in internal/arch/walls_test.go)",
			},
		},
		{
			name: "what git or go ignores is passed over",
			files: map[string]string{
				".git/x.go":           "package broken (",
				"cover.out":           "mode: set\n",
				"app/built/x.go":      "package broken (",
				"pure/testdata/x.go":  "package broken (",
				"pure/_old/x.go":      "package broken (",
				"store/.hidden/x.go":  "package broken (",
				"store/nested/go.mod": "module example.org/nested\n",
				"store/nested/x.go":   "package broken (",
			},
		},
		{
			name: "cgo and dot imports",
			files: map[string]string{
				"store/a.go":      "package store\n\nimport \"C\"\n",
				"store/a_test.go": "package store\n\nimport . \"testing\"\n",
			},
			want: []string{
				"store/a.go:3 uses cgo (why: one static binary is built for every system without a C compiler)",
				"store/a_test.go:3 imports testing with a dot (why: a reader could not tell where a name comes from)",
			},
		},
		{
			name: "init, in tests too, but not a method of that name",
			files: map[string]string{
				"store/a.go":      "package store\n\ntype s struct{}\n\nfunc (s) init() {}\n",
				"store/a_test.go": "package store\n\nfunc init() {}\n",
				"store/begin.go":  "package store\n\nfunc init() {}\n",
			},
			want: []string{"store/a_test.go:3 declares func init (why: importing a package must change nothing; build what is needed in a constructor)"},
		},
		{
			name: "one word, one thing: types and what is exported, not in tests",
			files: map[string]string{
				"pure/a.go":       "package pure\n\ntype Letter struct{}\n",
				"store/a.go":      "package store\n\ntype (\n\tletter struct{}\n\tLetters int\n)\n\nfunc (letter) Spot() {}\n\nfunc spot() {}\n",
				"store/a_test.go": "package store\n\ntype spot struct{}\n",
			},
			want: []string{
				"store/a.go:4 declares letter (why: it is what nodes say)",
				"store/a.go:8 declares Spot (why: say which)",
			},
		},
		{
			name: "types as large as one may be",
			files: map[string]string{
				"store/a.go":       "package store\n\ntype large struct {\n" + strings.Repeat("\ta, b int\n", maxFields/2) + "}\n\n" + repeat("func (*large) m%d() {}\n", maxMethods),
				"store/a_linux.go": "package store\n\nfunc (l large) m0() {}\n",
				"store/a_test.go":  "package store\n\nfunc (l large) inTests() {}\n",
			},
		},
		{
			name: "types that are too large",
			files: map[string]string{
				"store/a.go": "package store\n\ntype fields struct {\n" + strings.Repeat("\ta, b int\n", maxFields/2) + "\tother\n}\n\ntype methods[T any] int\n\n" +
					repeat("func (*methods[T]) m%d() {}\n", maxMethods),
				"store/b.go": "package store\n\nfunc (m methods[T]) more() {}\n\ntype asks interface {\n" + repeat("\tm%d()\n", maxMethods+1) + "}\n",
			},
			want: []string{
				"store/a.go:3 declares fields with 41 fields, 1 more than a type may have (why: nobody holds so much in mind: find the second type, which is a group of fields and what uses only these)",
				"store/a.go:27 declares methods with 61 methods, 1 more than a type may have (why: nobody holds so much in mind: find the second type, which is a group of fields and what uses only these)",
				"store/b.go:5 declares asks with 61 methods, 1 more than a type may have (why: nobody holds so much in mind: find the second type, which is a group of fields and what uses only these)",
			},
		},
		{
			name: "package comments",
			files: map[string]string{
				"internal/none/a.go":    "//go:build linux\n\npackage none\n",
				"internal/other/a.go":   "// This is about other.\npackage other\n",
				"internal/only_test.go": "// Package internal tests.\npackage internal\n",
				"internal/test/a.go":    "package test\n",
				"internal/test/a_test.go": "// Package test has its comment in the wrong place.\n" +
					"package test\n",
			},
			want: []string{
				`internal/none has no package comment that begins with "Package none" (why: the comment is where a newcomer learns what the package promises)`,
				`internal/other has no package comment that begins with "Package other" (why: the comment is where a newcomer learns what the package promises)`,
				`internal/test has no package comment that begins with "Package test" (why: the comment is where a newcomer learns what the package promises)`,
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { compare(t, test.files, test.want) })
	}
}

// repeat is a text many times, each with its number.
func repeat(text string, many int) string {
	var b strings.Builder
	for i := range many {
		fmt.Fprintf(&b, text, i)
	}
	return b.String()
}

// compare checks a clean tree to which some files are added.
func compare(t *testing.T, files map[string]string, want []string) {
	t.Helper()
	found, err := Check(withClean(files), example())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range found {
		got = append(got, v.String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got):\n%s", diff)
	}
}

func TestCheckRefusesWhatItCannotRead(t *testing.T) {
	for name, tree := range map[string]fstest.MapFS{
		"no Go file":       {"go.mod": {Data: []byte("module example.org/m\n")}},
		"a file is broken": withClean(map[string]string{"store/a.go": "package store\n\nfunc {\n"}),
	} {
		if found, err := Check(tree, example()); err == nil {
			t.Errorf("%s: Check returned %v and no error", name, found)
		}
	}
}

// A room may neither grow past its limit nor shrink away from it unseen.
func TestLines(t *testing.T) {
	long := "package store\n" + strings.Repeat("\n", slack)
	tree := withClean(map[string]string{
		"store/a.go":       long,
		"store/a_test.go":  long,
		"store/inner/b.go": "// Package inner is inside.\npackage inner\n",
	})
	lines := slack + 3 // a.go has slack+1, doc.go 2
	for _, test := range []struct {
		limits []Limit
		want   string
	}{
		{[]Limit{{"store", lines}, {"store/inner", 2}}, ""},
		{[]Limit{{"store", lines + slack}, {"store/inner", 2}}, ""},
		{[]Limit{{"store", lines + 2}}, ""},
		{[]Limit{{"store", lines - 1}, {"store/inner", 2}}, "store: 1 more than its limit"},
		{[]Limit{{"store", lines + slack + 1}, {"store/inner", 2}}, "store: its limit is still"},
		{[]Limit{{"store", lines}, {"store/inner", 1}}, "store/inner: 1 more than its limit"},
	} {
		rules := example()
		rules.Limits = test.limits
		found, err := Check(tree, rules)
		if err != nil {
			t.Fatal(err)
		}
		file, what, _ := strings.Cut(test.want, ": ")
		switch {
		case test.want == "" && len(found) == 0:
		case test.want != "" && len(found) == 1 && found[0].File == file && strings.Contains(found[0].What, what):
		default:
			t.Errorf("limits %v: found %v, want %q", test.limits, found, test.want)
		}
	}
}
