package protocol

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

// It prevents: what is read without the slow patterns is read otherwise than with them.
func FuzzPlainItems(f *testing.F) {
	for _, s := range []string{"[A1] text", "[A1]", "[A12345678] x", "[A1] *x", "[A1]  `x", "] x", "[a1] x", "[] x", "A1", "[A1] x] y", "[A1] é", "\u00a0[A1] x ", "[X1] x", "- **Why**: so", "x (source: y)", "ITEM: [A1] x"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		flat := strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, ""), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
		if got := flatText(s); got != flat {
			t.Fatalf("%q is %q as one line, want %q", s, got, flat)
		}
		if got, want := keyOf(s), fieldPattern.FindStringSubmatch(s); !slices.Equal(got, want) {
			t.Errorf("%q is the field %q, want %q", s, got, want)
		}
		if got, want := sourceOf(flat), sourcePattern.FindStringSubmatch(flat); !slices.Equal(got, want) {
			t.Errorf("%q has the source %q, want %q", flat, got, want)
		}
		want := ItemRef{Text: flat}
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
