package protocol

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// rowPattern is the form of rows as a pattern, which is slower.
var rowPattern = regexp.MustCompile(`^- \[([^\[\]]+)\] SCORE: (-|[0-9.]+) \| (ACCEPT|REJECT|PARTIAL|) ?\| EVIDENCE:(?: (.*))?$`)

// What functions find by hand, as patterns.
var (
	fieldPattern  = regexp.MustCompile(`^(\s*(?:[-*#]\s+)?)(\**)([A-Za-z][A-Za-z-]*)(\**)\s*:(\**)(?:\s+|$)(.*)$`)
	listMark      = regexp.MustCompile(`^\s*(?:[-*•]|[0-9]{1,3}[.)])\s+`)
	indentPattern = regexp.MustCompile(`^(?:  |\t)`)
)

// It prevents: what is read without the slow patterns is read otherwise than with them.
func FuzzPlainItems(f *testing.F) {
	for _, s := range []string{"[A1] text", "[A1]", "[A12345678] x", "[A1] *x", "[A1]  `x", "] x", "[a1] x", "[] x", "A1", "[A1] x] y", "[A1] é", "\u00a0[A1] x ", "[X1] x", "- **Why**: so", "x (source: y)", "ITEM: [A1] x", "- [A1] SCORE: 0.9 | ACCEPT | EVIDENCE: notes.md:3", "- [x y] SCORE: - | | EVIDENCE:", "- [A1] SCORE: 1 | | EVIDENCE: | EVIDENCE:",
		"* **a-b** :** x**", "** a: b", "-a: b", "a:b", "a:\n", " 12. x", "1234. x", "1) x", "1x", "• x", "•", "-", "  x", "\tx", "REQUEST: x", "Re: x", "SYNC-RESULT | from: x", "A B C | from:",
		"Overall: 1", "raw overall", "Claim A1: 0.9", "item [a1] x", "p1", "SCORES:", "> **a__b`"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		flat := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
		if got := flatText(s); got != flat {
			t.Fatalf("%q is %q as one line, want %q", s, got, flat)
		}
		var field []string
		if m := fieldPattern.FindStringSubmatch(s); m != nil {
			field = m[2:]
		}
		var found []string
		if m, ok := beginsField(s); ok {
			found = []string{m.bold, m.key, m.ends, m.after, m.value}
		}
		if !slices.Equal(found, field) {
			t.Errorf("%q is the field %q, want %q", s, found, field)
		}
		if got, ok := cutMark(s); got != listMark.ReplaceAllString(s, "") || ok != listMark.MatchString(s) {
			t.Errorf("%q without the mark of a list is %q, %t", s, got, ok)
		}
		if got, ok := cutIndent(s); got != indentPattern.ReplaceAllString(s, "") || ok != indentPattern.MatchString(s) {
			t.Errorf("%q without its indent is %q, %t", s, got, ok)
		}
		if beginsForm(s) != nextPattern.MatchString(s) || beginsOther(s) != otherPattern.MatchString(s) {
			t.Errorf("%q begins a form: %t, another field: %t", s, beginsForm(s), beginsOther(s))
		}
		if got, want := labelOf(s), rowLabel.FindStringSubmatch(s); !slices.Equal(got, want) || sumsUp(s) != overallLine.MatchString(s) {
			t.Errorf("%q is the row %q, want %q, and sums up: %t", s, got, want, sumsUp(s))
		}
		bare := strings.TrimSpace(s)
		if got, want := plainRow(s), strings.TrimSpace(strings.NewReplacer("**", "", "__", "", "`", "").Replace(rowMarks.Regexp().ReplaceAllString(bare, ""))); got != want {
			t.Errorf("%q without marks is %q, want %q", s, got, want)
		}
		if got, want := sourceOf(flat), sourcePattern.FindStringSubmatch(flat); !slices.Equal(got, want) {
			t.Errorf("%q has the source %q, want %q", flat, got, want)
		}
		var row []string
		name, score, decision, why, ok := strictRow(flat)
		if ok {
			row = []string{flat, name, score, decision, why}
		}
		if got := rowPattern.FindStringSubmatch(flat); !slices.Equal(got, row) {
			t.Errorf("%q is the row %q, want %q", flat, row, got)
		}
		var want ItemRef
		if m := itemPattern.FindStringSubmatch(flat); m != nil && m[1] == "" {
			want = ItemRef{Text: m[2]}
		} else if m != nil && labelPattern.MatchString(m[1]) {
			want = ItemRef{Label: Label(m[1]), Text: m[2]}
		} else {
			return
		}
		if got := ParseItemRef(s); got != want {
			t.Errorf("%q is read as %+v, want %+v", s, got, want)
		}
	})
}

// It prevents: a plain number is read otherwise than one among words.
func FuzzPlainScores(f *testing.F) {
	for _, s := range []string{"0.9", "1", "1.0", "0.", ".5", "1.2", "0.1234567", "9", "0..1", "00.1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if strings.ContainsFunc(s, func(r rune) bool { return (r < '0' || r > '9') && r != '.' }) {
			return
		}
		plain, left := readScore(s)
		among, rest := readScore("(" + s) // is read by the pattern
		if plain != among || left != "" && left != strings.TrimPrefix(rest, "(") {
			t.Errorf("%q is %v with %q left, and %v with %q behind a bracket", s, plain, left, among, rest)
		}
	})
}
