package door

import (
	"os/exec"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var splits = []struct {
	line string
	want []string
}{
	{`bc -l`, []string{"bc", "-l"}},
	{"  bc\t-l  ", []string{"bc", "-l"}},
	{"bc -l\r\n", []string{"bc", "-l"}},
	{`jq '.a | .b[0]'`, []string{"jq", ".a | .b[0]"}},
	{`python3 -c "print(\"a\$b\", 'c\d')"`, []string{"python3", "-c", `print("a$b", 'c\d')`}},
	{`a\ b c\*d \~ \{a,b\}`, []string{"a b", "c*d", "~", "{a,b}"}},
	{`a"b"'c'd ''`, []string{"abcd", ""}},
	{"a\\\nb \"c\\\nd\"", []string{"ab", "cd"}},
	{`sh -c 'sort | uniq -c > out; echo $HOME *'`, []string{"sh", "-c", "sort | uniq -c > out; echo $HOME *"}},
	{"x 'two\nlines'", []string{"x", "two\nlines"}},
	{`x a~ a#b a=b {} [ ] -- ! %`, nil}, // "[" beside other words
	{`x a~ a#b a=b {} -- ! % ] $ "$" "~" "*"`, []string{"x", "a~", "a#b", "a=b", "{}", "--", "!", "%", "]", "$", "$", "~", "*"}},
	{`[ -f x ]`, []string{"[", "-f", "x", "]"}},
	{`"my agent" --now`, []string{"my agent", "--now"}},
	{`ψ “x” 猫`, []string{"ψ", "“x”", "猫"}},
	{`x \\ "\\" '\\' "\a"`, []string{"x", `\`, `\`, `\\`, `\a`}},
}

func TestSplitCommand(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Log("no bash here: its own answers are not compared")
	}
	for _, test := range splits {
		if test.want == nil {
			test.want = []string{"x", "a~", "a#b", "a=b", "{}", "[", "]", "--", "!", "%"}
		}
		got, err := SplitCommand(test.line)
		if err != nil {
			t.Errorf("%q: %v", test.line, err)
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", test.line, diff)
		}
		if bash == "" {
			continue
		}
		out, err := exec.Command(bash, "-c", `printf '%s\0' `+strings.TrimRight(test.line, "\r\n")).Output()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), got); diff != "" {
			t.Errorf("%q is not what bash makes of it (-bash +got):\n%s", test.line, diff)
		}
	}
}

func TestSplitCommandRefuses(t *testing.T) {
	for line, want := range map[string]string{
		"":                         "it is empty",
		"  \n":                     "it is empty",
		"# nothing":                "a comment (#)",
		"bc # all of it":           "a comment (#)",
		"cat x | wc":               "a pipe (|)",
		"a && b":                   "two commands joined by &&",
		"a; b":                     "several commands",
		"a\nb":                     "several commands",
		"a;":                       "a semicolon (;)",
		"a &":                      "a background command (&)",
		"a > b":                    "a redirection (>)",
		"a < b":                    "a redirection (<)",
		"a <<< b":                  "a redirection (<<<)",
		"cat <<E\nx\nE":            "a redirection (<<)",
		"echo $HOME":               "a variable ($HOME)",
		`echo "${HOME}"`:           "a variable ($HOME)",
		"echo $(date)":             "a command substitution",
		"echo `date`":              "a command substitution",
		`echo "$(date)"`:           "a command substitution",
		"echo $((1+1))":            "an arithmetic expression",
		"cat <(date)":              "a process substitution (<(",
		"ls *.go":                  "a pattern for file names (*)",
		"ls a?":                    "a pattern for file names (?)",
		"jq .[0]":                  "a pattern for file names ([)",
		"ls @(a|b)":                "a pattern for file names",
		"ls ~/x":                   "a home directory (~)",
		"make prefix=~/x":          "a home directory (~)",
		"A=b cmd":                  "an assignment (NAME=value)",
		"A=b":                      "an assignment (NAME=value)",
		"echo {a,b}":               "a brace expansion",
		"echo {1..3}":              "a brace expansion",
		"echo $'a'":                "a quotation of bash",
		`echo $"a"`:                "a translated text",
		"(a)":                      "a subshell",
		"{ a; }":                   "a block",
		"! a":                      "a negation",
		"if a; then b; fi":         "a word that is a shell's own",
		"time a":                   "a word that is a shell's own",
		"[[ a ]]":                  "a word that is a shell's own",
		"export A=b":               "the shell's own command export",
		"f() { a; }":               "a function",
		"echo 'open":               "without closing quote",
		"echo )":                   "at character 6: ",
		"a\xffb":                   "not valid UTF-8",
		"a\x00b":                   "a NUL byte",
		"a\rb":                     "a carriage return",
		"'' a":                     "its first word, the program, is empty",
		strings.Repeat("x", 70000): "longer than 65536 bytes",
	} {
		argv, err := SplitCommand(line)
		if err == nil {
			t.Errorf("%q: no error but %q", line, argv)
			continue
		}
		if !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "cannot split the command ") {
			t.Errorf("%q: error %q does not say %q", line, err, want)
		}
		if len(err.Error()) > 500 {
			t.Errorf("%.20q: the error has %d bytes", line, len(err.Error()))
		}
	}
}

func TestSplitCommandSaysWhatToDo(t *testing.T) {
	_, err := SplitCommand("cat x | wc")
	const want = `cannot split the command "cat x | wc": it holds a pipe (|); it runs without a shell: quote that, or write  sh -c '…'  if a shell is wanted`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// A deeply nested line must not exhaust the stack.
func TestSplitCommandNested(t *testing.T) {
	t.Parallel()
	for _, open := range []string{"(", "$(", "a | "} {
		if _, err := SplitCommand(strings.Repeat(open, maxLine/len(open))); err == nil {
			t.Errorf("%q nested: no error", open)
		}
	}
}

func FuzzSplitCommand(f *testing.F) {
	for _, test := range splits {
		f.Add(test.line)
	}
	f.Add("a | b > c; d & $e `f` {g,h} [[ i ]] 'j")
	f.Fuzz(func(t *testing.T, line string) {
		argv, err := SplitCommand(line)
		if err == nil && (len(argv) == 0 || argv[0] == "") {
			t.Errorf("%q: no program and no error", line)
		}
	})
}

// Quoting each word with single quotes and splitting gives the words back.
func FuzzSplitQuoted(f *testing.F) {
	f.Add("bc", "-l", "")
	f.Add("a b", "it's", "$HOME * ~ {a,b}\n\t\\")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		words := []string{a, b, c}
		quoted := make([]string, len(words))
		for i, w := range words {
			if strings.ContainsAny(w, "\x00\r") || !utf8.ValidString(w) {
				t.Skip("refused")
			}
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		line := strings.Join(quoted, " ")
		if a == "" || len(line) > maxLine {
			t.Skip("refused")
		}
		got, err := SplitCommand(line)
		if err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if diff := cmp.Diff(words, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", line, diff)
		}
	})
}
