package term

import (
	"bytes"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestVisible(t *testing.T) {
	for _, test := range []struct{ in, text, line string }{
		{"plain text, ไทย 世界 👩\u200d🚀", "plain text, ไทย 世界 👩\u200d🚀", "plain text, ไทย 世界 👩\u200d🚀"},
		{"a\nb\tc", "a\nb\tc", "a␊b␉c"},
		{"a\r\nb\rc", "a\nb␍c", "a␍␊b␍c"},
		{"\x1b[31mred\x1b[0m", "␛[31mred␛[0m", "␛[31mred␛[0m"},
		{"nul\x00 del\x7f c1\u009b", `nul␀ del␡ c1\u009b`, `nul␀ del␡ c1\u009b`},
		{"\u202etxt.exe\u2066", `\u202etxt.exe\u2066`, `\u202etxt.exe\u2066`},
		{"zero\u200bwidth\ufeff", `zero\u200bwidth\ufeff`, `zero\u200bwidth\ufeff`},
		{"tags \U000e0041", `tags \U000e0041`, `tags \U000e0041`},
		{"bad \xff\xc3", `bad \xff\xc3`, `bad \xff\xc3`},
		{"real \ufffd", "real \ufffd", "real \ufffd"},
		{"می\u200cخواهم \u200e", "می\u200cخواهم \u200e", "می\u200cخواهم \u200e"},
		{"line\u2028end", `line\u2028end`, `line\u2028end`},
	} {
		if diff := cmp.Diff(test.text, Visible(test.in)); diff != "" {
			t.Errorf("Visible(%q) (-want +got):\n%s", test.in, diff)
		}
		if diff := cmp.Diff(test.line, Line(test.in)); diff != "" {
			t.Errorf("Line(%q) (-want +got):\n%s", test.in, diff)
		}
	}
}

// FuzzVisible: no text makes a terminal do anything.
func FuzzVisible(f *testing.F) {
	f.Add("\x1b]0;title\x07\u202e\xff\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Line(s) {
			if unicode.IsControl(r) || hidden(r) {
				t.Errorf("Line(%q) contains %U", s, r)
			}
		}
		if text := Visible(s); !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("Visible(%q) = %q", s, text)
		}
		if cut := Cut(Line(s), 10); Width(cut) > 10 {
			t.Errorf("Cut(%q, 10) is %d wide: %q", s, Width(cut), cut)
		}
	})
}

func TestTable(t *testing.T) {
	table := Table{
		Heading: []string{"FROM", "ACT", "TEXT", "PATH"},
		Rows: [][]string{
			{"nat", "", "hello there, this is a long text", "b2c3d4e5"},
			{"世界", "", "สวัสดี", "0badcafe"},
			{"🚀", "", "", "12345678"},
		},
		Flexible: 2,
	}
	for _, test := range []struct {
		name   string
		screen Screen
		want   string
	}{
		{"piped", Screen{}, `
FROM  TEXT                              PATH
nat   hello there, this is a long text  b2c3d4e5
世界  สวัสดี                              0badcafe
🚀                                      12345678
`},
		{"narrow", Screen{Terminal: true, Width: 30}, `
FROM  TEXT            PATH
nat   hello there, …  b2c3d4e5
世界  สวัสดี            0badcafe
🚀                    12345678
`},
		{"with colour", Screen{Terminal: true, Color: true, Width: 30}, `
` + "\x1b[2mFROM  TEXT            PATH\x1b[0m" + `
nat   hello there, …  b2c3d4e5
世界  สวัสดี            0badcafe
🚀                    12345678
`},
	} {
		var out bytes.Buffer
		test.screen.Writer = &out
		test.screen.Table(table)
		if diff := cmp.Diff(test.want, "\n"+out.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestNewScreenOfAPipeIsPlain(t *testing.T) {
	var out bytes.Buffer
	s := NewScreen(&out, func(string) string { return "" })
	if s.Terminal || s.Color || s.Width != 0 {
		t.Errorf("screen %+v, want a plain one", s)
	}
	if got := s.Body("\x1b[31m") + s.Dim("x"); got != "\x1b[31mx" {
		t.Errorf("a pipe got %q, want the text unchanged", got)
	}
	s.Terminal = true
	if got := s.Body("\x1b[31m"); got != "␛[31m" {
		t.Errorf("a terminal got %q, want it made visible", got)
	}
}
