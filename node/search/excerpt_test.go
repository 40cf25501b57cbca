package search

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"
)

// drawn returns an excerpt with brackets around its hits.
func drawn(all []Fragment) string {
	var b strings.Builder
	for _, f := range all {
		if f.Hit {
			b.WriteString("[" + f.Text + "]")
		} else {
			b.WriteString(f.Text)
		}
	}
	return b.String()
}

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("and so on ", 100)
	for _, test := range []struct{ words, text, want string }{
		{"release", "The RELEASE notes", "The [RELEASE] notes"},
		{"arger", "mit ÄRGER und Ärger", "mit [ÄRGER] und [Ärger]"},
		{`"release notes"`, "notes of a release; the release notes", "notes of a release; the [release] [notes]"},
		{"relea*", "pre-release releases", "pre-[release] [releases]"},
		{"read_file", "file: call read_file(x)", "file: call [read]_[file](x)"},
		{"会議", "今日は東京で会議があります", "今日は東京で[会議]があります"},
		{"ประชุม", "วันนี้ประชุมเรื่องงาน", "วันนี้[ประชุม]เรื่องงาน"},
		{"fullwidth", "ｆｕｌｌｗｉｄｔｈ letters", "[ｆｕｌｌｗｉｄｔｈ] letters"},
		{"ship 🚀", "ship\r\n\r\n\tit 🚀 now", "[ship] it [🚀] now"},
		{"-release notes", "notes", "[notes]"},
		{"absent", "notes", ""},
		{"-absent", "notes", ""},
		{"target", long + "the target is here " + long, "… on and so on and so on and so on the [target] is here " +
			strings.TrimSpace(strings.Repeat("and so on ", 18)) + " and so …"},
		{"near far", "near " + long + "far and near", "… so on and so on and so on and so on [far] and [near]"},
		{strings.Repeat("x", 300), "key " + strings.Repeat("x", 300), "key [" + strings.Repeat("x", 236) + "] …"},
	} {
		if got := drawn(Query{Words: test.words}.Matcher().Excerpt(test.text)); got != test.want {
			t.Errorf("%s in %.60q:\n got %s\nwant %s", test.words, test.text, got, test.want)
		}
	}
}

// A text of nothing but marks is cut into words of bounded length in a moment. It prevents: one
// message of a megabyte keeps the indexes of all hosts busy for minutes, and is in them as one
// word.
func TestManyMarksOnOneLetter(t *testing.T) {
	text := "\u0e01" + strings.Repeat("\u0e34", 20_000) + "\u0e02"
	for _, word := range words(text) {
		if n := utf8.RuneCountInString(word); n > maxWord+1 {
			t.Errorf("a word of %d characters", n)
		}
	}
	for _, letter := range newRun(text, 0, true).letters {
		if n := utf8.RuneCountInString(letter); n > maxWord {
			t.Errorf("a letter of %d characters", n)
		}
	}
	if !(Query{Words: "\u0e02"}).Matcher().Matches(text) {
		t.Error("what stands behind the marks is not found")
	}
}

// FuzzMatcher checks that the matcher finds what the index finds, and that an excerpt is one line
// of text.
func FuzzMatcher(f *testing.F) {
	f.Add("release notes", "The release notes are not ready")
	f.Add("会議 arger*", "東京で会議があります Ärgernis")
	f.Add("½ ﬁ", "½ ﬁ ｶﾞ")
	f.Fuzz(func(t *testing.T, words, text string) {
		if len(words) > 200 || len(text) > 2000 || !utf8.ValidString(words) || !utf8.ValidString(text) {
			return
		}
		m := Query{Words: words}.Matcher()
		m.Matches(text)
		for _, fragment := range m.Excerpt(text) {
			if !utf8.ValidString(fragment.Text) || strings.ContainsAny(fragment.Text, "\n\r\t") {
				t.Errorf("%q in %q shows %q", words, text, fragment.Text)
			}
		}
	})
}

// The matcher finds in memories what the index finds in messages.
func TestMatcherAgreesWithTheIndex(t *testing.T) {
	x := open(t, filepath.Join(t.TempDir(), "search"), "r")
	bodies := []string{
		"The release notes are not ready", "Notes on the release: ÄRGER mit naïve Café-Besuchern", "call read_file(node/search/index.go) at b2c3d4e5",
		"วันนี้ประชุมเรื่องกำหนดส่งงาน", "今日は東京で会議があります", "世界和平", "שלום עולם", "ship it 🚀 now", "ｆｕｌｌｗｉｄｔｈ letters", strings.Repeat("x", 300),
	}
	for n, body := range bodies {
		x.Add(doc(n, body))
	}
	for _, words := range []string{
		"release", "RELEASE notes", `"release notes"`, `"notes release"`, "release -ready", "ärger", "arger naive", "relea*", "relea", "read_file",
		"node/search", "index.go", "ประชุม", "กำหนดส่ง", "東京", "会", "会議", "議会", "和平", "平", "世", "世和", "שלום", "🚀", "fullwidth",
		strings.Repeat("x", 300), "-release", "-ready release*",
	} {
		indexed := map[int]bool{}
		for _, n := range numbers(t, x, Query{Words: words, Limit: 100}) {
			indexed[n] = true
		}
		m := Query{Words: words}.Matcher()
		for n, body := range bodies {
			if m.Matches(body) != indexed[n] {
				t.Errorf("%s: matches %q: %v, but the index says %v", words, body, !indexed[n], indexed[n])
			}
		}
	}
}
