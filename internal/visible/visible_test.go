package visible

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestText(t *testing.T) {
	for _, test := range []struct{ in, text, line string }{
		{"plain text, ไทย 世界 👩\u200d🚀", "plain text, ไทย 世界 👩\u200d🚀", "plain text, ไทย 世界 👩" + `\u200d` + "🚀"},
		{"a\nb\tc", "a\nb\tc", "a␊b␉c"},
		{"a\r\nb\rc", "a\nb␍c", "a␍␊b␍c"},
		{"\x1b[31mred\x1b[0m", "␛[31mred␛[0m", "␛[31mred␛[0m"},
		{"nul\x00 del\x7f c1\u009b", `nul␀ del␡ c1\u009b`, `nul␀ del␡ c1\u009b`},
		{"\u202etxt.exe\u2066", `\u202etxt.exe\u2066`, `\u202etxt.exe\u2066`},
		{"zero\u200bwidth\ufeff", `zero\u200bwidth\ufeff`, `zero\u200bwidth\ufeff`},
		{"tags \U000e0041", `tags \U000e0041`, `tags \U000e0041`},
		{"bad \xff\xc3", `bad \xff\xc3`, `bad \xff\xc3`},
		{"real \ufffd", "real \ufffd", "real \ufffd"},
		{"می\u200cخواهم \u200e", "می\u200cخواهم \u200e", "می" + `\u200c` + "خواهم " + `\u200e`},
		{"א\u200f1 ב", "א\u200f1 ב", "א" + `\u200f` + "1 ב"},
		{"क्\u200dष", "क्\u200dष", "क्" + `\u200d` + "ष"},
		{"na\u200dt na\u200ct na\u00adt na\u200d\u200d", `na\u200dt na\u200ct na\u00adt na\u200d\u200d`, `na\u200dt na\u200ct na\u00adt na\u200d\u200d`},
		{"می\u200c\u200c 👩\u200d", "می\u200c" + `\u200c` + " 👩" + `\u200d`, "می" + `\u200c\u200c` + " 👩" + `\u200d`},
		{"ab\u200ec\u061c", `ab\u200ec\u061c`, `ab\u200ec\u061c`},
		{"א\u200e\u200e", "א\u200e" + `\u200e`, "א" + `\u200e\u200e`},
		{"❤\ufe0f\ufe0f 1\ufe0f\u20e3 👩\u200d❤\ufe0f\u200d👩 👨\u200d👩\u200d👧 👩🏽\u200d🚀 🇹🇭 a\ufe0f", "❤\ufe0f" + `\ufe0f` + " 1\ufe0f\u20e3 👩\u200d❤\ufe0f\u200d👩 👨\u200d👩\u200d👧 👩🏽\u200d🚀 🇹🇭 a" + `\ufe0f`, "❤" + `\ufe0f\ufe0f` + " 1" + `\ufe0f` + "\u20e3 👩" + `\u200d` + "❤" + `\ufe0f\u200d` + "👩 👨" + `\u200d` + "👩" + `\u200d` + "👧 👩🏽" + `\u200d` + "🚀 🇹🇭 a" + `\ufe0f`},
		{"a\ufe00\U000e0100\u115f\u1160\u3164\u034f\u2800\u180b", `a\ufe00\U000e0100\u115f\u1160\u3164\u034f\u2800\u180b`, `a\ufe00\U000e0100\u115f\u1160\u3164\u034f\u2800\u180b`},
		{"ภาษาไทยที่นี่ العربيّة עִבְרִית", "ภาษาไทยที่นี่ العربيّة עִבְרִית", "ภาษาไทยที่นี่ العربيّة עִבְרִית"},
		{"\u17b4\u2065\ufff0\U000e0fff", `\u17b4\u2065\ufff0\U000e0fff`, `\u17b4\u2065\ufff0\U000e0fff`},
		{"line\u2028end", `line\u2028end`, `line\u2028end`},
	} {
		if diff := cmp.Diff(test.text, Text(test.in)); diff != "" {
			t.Errorf("Text(%q) (-want +got):\n%s", test.in, diff)
		}
		if diff := cmp.Diff(test.line, Line(test.in)); diff != "" {
			t.Errorf("Line(%q) (-want +got):\n%s", test.in, diff)
		}
	}
}

// JSON that goes through the filter hides nothing from a person at a terminal, and says the same as
// before. encoding/json leaves DEL, C1 controls and bidi overrides as they are. U+009B, a C1
// control, begins what a terminal obeys.
func TestJSON(t *testing.T) {
	in := "a\x1b[31m\x7f\u009b31m\u202e\U000e0041 ไทย 👩\u200d🚀\n"
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	got := JSON(string(data) + "\n")
	if want := `"a\u001b[31m\u007f\u009b31m\u202e\udb40\udc41 ไทย 👩\u200d🚀\n"` + "\n"; got != want {
		t.Errorf("JSON wrote %q, want %q", got, want)
	}
	var back string
	if err := json.Unmarshal([]byte(got), &back); err != nil || back != in {
		t.Errorf("it reads as %q (%v), want %q", back, err, in)
	}
}

// FuzzText checks that no text makes a terminal do anything.
func FuzzText(f *testing.F) {
	f.Add("\x1b]0;title\x07\u202e\xff\r\n")
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range Line(s) {
			if unicode.IsControl(r) || hidden(r) || helper(r) {
				t.Errorf("Line(%q) contains %U", s, r)
			}
		}
		if text := Text(s); !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
			t.Errorf("Text(%q) = %q", s, text)
		}
	})
}
