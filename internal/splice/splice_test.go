package splice

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppendKeepsTheRest(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"no file", "", "{\n  \"a\": {\n    \"b\": [7]\n  }\n}\n"},
		{"empty object", "{}", "{\n  \"a\": {\n    \"b\": [7]\n  }\n}"},
		{"one line", `{"x": 1}`, `{"x": 1, "a": {"b": [7]}}`},
		{"lines", "{\n\t\"x\": 1\n}\n", "{\n\t\"x\": 1,\n\t\"a\": {\n\t\t\"b\": [7]\n\t}\n}\n"},
		{"comma after the last", "{\n  \"x\": 1,\n}", "{\n  \"x\": 1,\n  \"a\": {\n    \"b\": [7]\n  },\n}"},
		{"comments", "// mine\n{ /* } */ \"a\": { // b: [\n  \"b\": [ 1 /* one */ ] } }", "// mine\n{ /* } */ \"a\": { // b: [\n  \"b\": [ 1, 7 /* one */ ] } }"},
		{"mark and CRLF", "\ufeff{\r\n  \"x\": 1\r\n}\r\n", "\ufeff{\r\n  \"x\": 1,\r\n  \"a\": {\r\n    \"b\": [7]\r\n  }\r\n}\r\n"},
		{"escaped name", `{"\u0061": {"b": []}}`, `{"\u0061": {"b": [7]}}`},
		{"odd space", "{ \"a\" :\n{\"b\":[1\n,\n2 ]}}", "{ \"a\" :\n{\"b\":[1\n,\n2,\n7 ]}}"},
	} {
		doc, err := ParseJSON([]byte(c.in))
		if err == nil {
			err = doc.Append("7", "a", "b")
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.want, string(doc.Bytes())); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		back, ok := Cut(doc.Bytes(), doc.Added())
		if !ok || string(back) != c.in {
			t.Errorf("%s: taken out again it is %q, %t", c.name, back, ok)
		}
	}
}

func TestRemoveKeepsTheRest(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": [1, 2, 3]}`:                   "{\"a\": [1, 3]}",
		`{"a": [2, 3]}`:                      `{"a": [3]}`,
		`{"a": [1, 2]}`:                      `{"a": [1]}`,
		`{"a": [1 , 2 ,]}`:                   `{"a": [1  ,]}`,
		`{"a": [ 2 ]}`:                       `{"a": []}`,
		`{"a": [2,]}`:                        `{"a": []}`,
		`{"a": [1, /* two */ 2, 3]}`:         `{"a": [1 /* two */ , 3]}`,
		`{"a": [2 /* two */, 3]}`:            `{"a": [ /* two */3]}`,
		`{"a": [/* two */ 2]}`:               `{"a": [/* two */ ]}`,
		`{"a": [2, 2, 1, 2]}`:                `{"a": [1]}`,
		"{\"a\": [\n  1,\n  2\n], \"b\": 2}": "{\"a\": [\n  1\n], \"b\": 2}",
	} {
		doc, err := ParseJSON([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		var list []int
		if _, err := doc.Get(&list, "a"); err != nil {
			t.Fatal(err)
		}
		for i, n := range slices.Backward(list) {
			if n != 2 {
				continue
			}
			if _, err := doc.Remove(i, "a"); err != nil {
				t.Errorf("%s: %v", in, err)
			}
		}
		if got := string(doc.Bytes()); got != want {
			t.Errorf("%s without 2 is %s, want %s", in, got, want)
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": {"b": 1}}`:         `"a.b" is not a list`,
		`{"a": 1}`:                `"a" is not an object`,
		`[1]`:                     `the file is not an object`,
		`{"a": {}, "a": {}}`:      `"a" stands there twice`,
		`{"a": {}`:                `line 1, column 9: parsing object after value: unexpected EOF`,
		"{\n\"a\" 1}":             `line 2, column 5: invalid character '1' after object name`,
		`{} {}`:                   `after top-level value`,
		`{"a": nul}`:              `invalid literal: nul`,
		`{"a": "`:                 `parsing string: unexpected EOF`,
		`/* {}`:                   `parsing comment: unexpected EOF`,
		"{'a': 1}":                `at start of value`,
		"\xff\xfe{\x00}\x00":      `at start of value`,
		strings.Repeat("[", 1000): `nested too deep`,
	} {
		doc, err := ParseJSON([]byte(in))
		if err == nil {
			err = doc.Append("7", "a", "b")
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", in, err, want)
		}
	}
}

// FuzzJSON reads any file, puts something in, and takes it out by both ways.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{"", "{}", "{ }", `{"a":{"b":[ ]}}`, "{\"a\": {\"b\": [1, // one\n 2,\n]},}", "\ufeff{\r\n \"x\": [\"a\\\"b\", 1e9, null] }\r\n", `{"a": {"b": [[], {}]}, "c": {}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		doc, err := ParseJSON(in)
		if err != nil {
			return
		}
		if doc.Append(`{"mine": "0123456789abcdef"}`, "a", "b") != nil {
			return
		}
		var list []json.RawMessage
		if _, err := doc.Get(&list, "a", "b"); err != nil || string(list[len(list)-1]) != `{"mine":"0123456789abcdef"}` {
			t.Fatalf("what was put in is %s, %v", list, err)
		}
		if strings.Contains(string(in), "mine") {
			return
		}
		if back, ok := Cut(doc.Bytes(), doc.Added()); !ok || string(back) != string(in) {
			t.Fatalf("%q is %q after it was taken out of %q", in, back, doc.Bytes())
		}
		last := len(list) - 1
		if left, err := doc.Remove(last, "a", "b"); err != nil || left != last {
			t.Fatal(left, err)
		}
		before, _ := ParseJSON(in) // it was read above
		var had []json.RawMessage
		if found, err := before.Get(&had, "a", "b"); err == nil && found && doc.Tokens() != before.Tokens() && !strings.Contains(doc.Tokens(), ",]") {
			t.Fatalf("%q has other tokens than %q", doc.Bytes(), in)
		}
	})
}

const servers = `# my settings
model = "o3" # the best
notes = """
[mcp_servers.parley]
"""

[mcp_servers.github]
command = 'gh'
args = [ "mcp", # it
  "serve" ]

[[profiles]]
name = "a"
`

const block = "# parley\n[mcp_servers.parley]\ncommand = \"/usr/bin/parley\"\nargs = [\"mcp\"]\n"

func TestTOML(t *testing.T) {
	for _, in := range []string{"", "\n", "a = 1", "a = 1\r\n", servers, strings.ReplaceAll(servers, "\n", "\r\n"), "# a comment"} {
		doc, err := ParseTOML([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		if line := doc.Line("mcp_servers", "parley"); line != 0 {
			t.Errorf("%q has a table in line %d", in, line)
		}
		if err := doc.Append(block); err != nil {
			t.Fatal(err)
		}
		if got := Text(doc.Value("mcp_servers", "parley", "command")); got != "/usr/bin/parley" {
			t.Errorf("%q has %q", doc.Bytes(), got)
		}
		if back, ok := Cut(doc.Bytes(), doc.Added()); !ok || string(back) != in {
			t.Errorf("%q is %q, %t", in, back, ok)
		}
		after := append(doc.Bytes(), "\n\n[mcp_servers.parley.tools.hey]\napproval_mode = 'approve'\n\n# theirs\n[other]\n"...)
		later, err := ParseTOML(after)
		if err != nil {
			t.Fatal(err)
		}
		if err := later.Remove("# parley", "mcp_servers", "parley"); err != nil {
			t.Fatal(err)
		}
		if got := string(later.Bytes()); strings.Contains(strings.ReplaceAll(got, servers[strings.Index(servers, "notes"):strings.Index(servers, "\n\n")], ""), "/usr/bin/parley") || !strings.HasSuffix(got, "\n# theirs\n[other]\n") {
			t.Errorf("%q is %q", after, got)
		}
	}
}

func TestTOMLThatSaysItOtherwise(t *testing.T) {
	for in, want := range map[string]int{
		"mcp_servers = { parley = { command = \"x\" } }": 1,
		"mcp_servers = {}":                                          1,
		"a = 1\nmcp_servers.parley.command = 'x'":                   2,
		"[mcp_servers]\nparley = { command = 'x' }":                 2,
		"[ mcp_servers . \"parley\" ]\n":                            1,
		"[mcp_servers.parley.env]\nA = '1'":                         1,
		"[mcp_servers.parleys]\n":                                   0,
		"x = [\n'[mcp_servers.parley]',\n# [mcp_servers.parley]\n]": 0,
		"x = '''\n[mcp_servers.parley]\n''''\n":                     0,
	} {
		doc, err := ParseTOML([]byte(in))
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if got := doc.Line("mcp_servers", "parley"); got != want {
			t.Errorf("%q says it in line %d, want %d", in, got, want)
		}
	}
	for _, in := range []string{"a", "a =", "a = 'x", "[a", "a = [1", "a = 1 b = 2", "a = 1\tb", "= 1", "a = {b 1}", "a = \"\"\"x", "[a] b = 1", "a = " + strings.Repeat("[", 1000)} {
		if _, err := ParseTOML([]byte(in)); err == nil {
			t.Errorf("%.40q was read", in)
		}
	}
}

// FuzzTOML reads any file, puts a table in, and takes it out again.
func FuzzTOML(f *testing.F) {
	for _, seed := range []string{"", servers, "a.b = { c = [1,\n2] }\r\n[\"x y\".'z']", "a = \"\"\"\n\\\"\"\"\"\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		doc, err := ParseTOML(in)
		if err != nil || doc.Line("mcp_servers", "parley") > 0 || strings.Contains(string(in), "parley") {
			return
		}
		if err := doc.Append(block); err != nil {
			t.Fatalf("%q: %v", in, err)
		}
		if back, ok := Cut(doc.Bytes(), doc.Added()); !ok || string(back) != string(in) {
			t.Fatalf("%q is %q after it was taken out of %q", in, back, doc.Bytes())
		}
		before := doc.Tokens()
		if err := doc.Remove("# parley", "mcp_servers", "parley"); err != nil {
			t.Fatal(err)
		}
		if doc.Line("mcp_servers", "parley") > 0 || len(doc.Tokens()) >= len(before) {
			t.Fatalf("%q still has it", doc.Bytes())
		}
	})
}
