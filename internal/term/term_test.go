package term

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzCut checks that a text that was cut fits.
func FuzzCut(f *testing.F) {
	f.Add("世界 \x1b👩\u200d🚀")
	f.Fuzz(func(t *testing.T, s string) {
		if cut := Cut(Line(s), 10); Width(cut) > 10 {
			t.Errorf("Cut(%q, 10) is %d wide: %q", s, Width(cut), cut)
		}
	})
}

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"short", 10, []string{"short"}},
		{"one two three", 7, []string{"one two", "three"}},
		{"one two three", 8, []string{"one two", "three"}},
		{"own\nline ends\n\nstay", 20, []string{"own", "line ends", "", "stay"}},
		{"abcdefghij", 4, []string{"abcd", "efgh", "ij"}},
		{"世界世界世界", 5, []string{"世界", "世界", "世界"}},
		{"  indented text", 10, []string{"  indented", "text"}},
		{"世", 1, []string{"世"}},
		{"世界", 1, []string{"世", "界"}},
		{"any width", 0, []string{"any width"}},
	} {
		if diff := cmp.Diff(test.want, Wrap(test.text, test.width)); diff != "" {
			t.Errorf("%q in %d columns (-want +got):\n%s", test.text, test.width, diff)
		}
	}
}

// FuzzWrap checks that no line is too wide, and that no letter is lost.
func FuzzWrap(f *testing.F) {
	f.Add("a 世界 wide 👩\u200d🚀 text", 7)
	f.Fuzz(func(t *testing.T, s string, width int) {
		s = Line(s)
		if width < 2 || width > 200 || len(s) > 2000 {
			return
		}
		lines := Wrap(s, width)
		for _, line := range lines {
			if Width(line) > width {
				t.Errorf("%q is %d columns wide, want %d", line, Width(line), width)
			}
		}
		squeeze := strings.NewReplacer(" ", "")
		if squeeze.Replace(strings.Join(lines, "")) != squeeze.Replace(s) {
			t.Errorf("%q became %q", s, lines)
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
