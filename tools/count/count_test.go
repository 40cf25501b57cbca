package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

// The outputs for two trees are compared with diff, so every line of the output counts.
func TestCount(t *testing.T) {
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"go.mod": "module example.org/m\n",
		"a/node.go": "package a\n\n// Node is one.\ntype Node struct {\n\tmu, other int\n\tPart[int]\n\tnext *Node `json:\"rotate_key\"`\n}\n\n" +
			"// Up goes. The caller\n// holds mu.\nfunc (n *Node) Up() {}\n\nfunc (n Node) down() {}\n",
		"a/part.go":                       "package a\n\nimport _ \"example.org/rotate/key\"\n\n// RotateKey, in a comment.\ntype Part[T any] struct{}\n\nfunc (p *Part[T]) Get() {}\n",
		"a/up_linux.go":                   "package a\n\nfunc (n *Node) system() {}\n",
		"a/up_other.go":                   "package a\n\nfunc (n *Node) system() {}\n\nconst hosts = \"HTTP: the rotating keys\"\n",
		"a/node_test.go":                  "package a\n\nimport \"testing\"\n\nfunc TestUp(t *testing.T) { t.Skip(\"RotateKey\") }\n",
		"cmd/main.go":                     "package main\n\ntype Service interface {\n\tServeHTTP()\n\tRotateKeyNow()\n}\n\nvar Exported, x = 1, 2\n\nfunc main() {}\n",
		"internal/testkit/kit.go":         "package testkit\n\nfunc Kit() {}\n",
		"cmd/testdata/x.go":               "package broken\n\nfunc {\n",
		"cmd/testdata/script/skips.txtar": "# skip this\n[!exec:tr] skip 'needs tr'\nexec true # skip\nskip\n",
		"tools/go.mod":                    "module example.org/m/tools\n",
		"tools/tool.go":                   "package tool\n\ntype RotateKey int\n",
		".git/hook.go":                    "no Go",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	tree, err := read(files)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"rotate key", "http", "HTTPServe"}
	var all, one strings.Builder
	tree.print(&all, 9, names)
	if got := all.String(); got != want {
		t.Errorf("counted:\n%s\nwant:\n%s", got, want)
	}
	tree.print(&one, 1, nil)
	first, _, _ := strings.Cut(want, "      2      0  cmd.Service\n")
	if got := one.String(); !strings.HasPrefix(got, first+"\n") {
		t.Errorf("one line a list:\n%s", got)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"":                    " ",
		"HTTPServer2":         " http server2 ",
		"rotateKeyRequest":    " rotate key request ",
		"rotate-key, Ärger\n": " rotate key ärger ",
		"unpushed_ID":         " unpushed id ",
	} {
		if got := words(text); got != want {
			t.Errorf("words(%q) = %q, want %q", text, got, want)
		}
	}
}

const want = `methods and fields of types
      3      4  a.Node
      2      0  cmd.Service
      1      0  a.Part

production files and lines of folders (all: 5 files, 40 lines)
      4     30  a
      1     10  cmd
      0      0  internal/testkit

exported names of packages, and methods of exported types
      2      2  a
      0      0  cmd
      0      0  internal/testkit

comments that say "The caller holds" (all: 1)
      1  a

skips in tests and scripts (all: 3)
      2  cmd
      1  a

production files that mention "rotate key" (all: 2)
  a/node.go
  cmd/main.go

production files that mention "http" (all: 2)
  a/up_other.go
  cmd/main.go

production files that mention "HTTPServe" (all: 0)

`
