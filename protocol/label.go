package protocol

import (
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/internal/pattern"
)

// Label is what people call an item of a topic: A1 an agreement, P1 an open question, T1 a
// teach-back, D1 a disagreement, C1 a claim that is put to one check only. An item is identified by
// the path of its message. If two labels are equal, the later one is shown with some hex digits, as
// A2-5f3c (R61).
type Label string

var (
	labelPattern = pattern.New(`^[APTDC][0-9]{1,6}(-[0-9a-f]{4,64})?$`)
	itemPattern  = pattern.New("^[*`]*\\[([^\\[\\]]*)\\][*`]*\\s*(.*)$")
	shortPattern = pattern.New(`(?i)^([aptdc][0-9]{1,6}(?:-[0-9a-f]{4,64})?)(?:(?:\s*[:.–—]\s*|\s+-\s+)(.*))?$`)
)

// ParseLabel reads a label, in any case.
func ParseLabel(s string) (Label, error) {
	if plainLabel(s) {
		return Label(s), nil
	}
	if s = strings.TrimSpace(s); s != "" {
		s = strings.ToUpper(s[:1]) + strings.ToLower(s[1:])
	}
	if !plainLabel(s) && !labelPattern.MatchString(s) {
		return "", fmt.Errorf("%.80q is no label of an item such as A1", s)
	}
	return Label(s), nil
}

// plainLabel reports whether a label is a letter and a number, as nearly all are. A year of topics
// reads a hundred thousand labels, and labelPattern is slow.
func plainLabel(s string) bool {
	if len(s) < 2 || len(s) > 7 || strings.IndexByte("APTDC", s[0]) < 0 {
		return false
	}
	for _, digit := range []byte(s[1:]) {
		if digit < '0' || digit > '9' {
			return false
		}
	}
	return true
}

// String returns the label.
func (l Label) String() string { return string(l) }

// ItemRef is an item as a message names it: "[A1] text", "[A1]", "A1" or its text alone. In a
// message about several topics, it is "[slug/A1] text" (R61).
type ItemRef struct {
	Topic Slug
	Label Label
	Text  string
}

// ParseItemRef reads an item as String writes it, or a bare label. If `s` names no label, all of it
// is the text.
func ParseItemRef(s string) ItemRef {
	s = flatText(s)
	if named, text, ok := strings.Cut(s, "] "); ok && named != "" && named[0] == '[' && plainLabel(named[1:]) && strings.IndexByte("*` ", text[0]) < 0 {
		return ItemRef{Label: Label(named[1:]), Text: text} // itemPattern would find the same, more slowly
	}
	if m := itemPattern.FindStringSubmatch(s); m != nil {
		if m[1] == "" {
			return ItemRef{Text: m[2]}
		}
		if slug, label, ok := parseName(m[1]); ok {
			return ItemRef{slug, label, m[2]}
		}
		return ItemRef{Text: s}
	}
	if m := shortPattern.FindStringSubmatch(s); m != nil {
		if label, err := ParseLabel(m[1]); err == nil {
			return ItemRef{Label: label, Text: m[2]}
		}
	}
	return ItemRef{Text: s}
}

// parseName reads "A1" or "slug/A1".
func parseName(s string) (slug Slug, label Label, ok bool) {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		made, err := SlugOf(s[:i])
		if err != nil || made.String() != s[:i] {
			return "", "", false
		}
		slug, s = made, s[i+1:]
	}
	label, err := ParseLabel(s)
	return slug, label, err == nil
}

// Name is the label, with the topic's slug before it if there is one.
func (r ItemRef) Name() string {
	if r.Topic == "" {
		return r.Label.String()
	}
	return r.Topic.String() + "/" + r.Label.String()
}

// String is the form that ParseItemRef reads.
func (r ItemRef) String() string {
	text := flatText(r.Text)
	switch {
	case r.Label != "":
		return strings.TrimSpace("[" + r.Name() + "] " + text)
	case text != "" && ParseItemRef(text) != (ItemRef{Text: text}): // without this, the text would be read as a label
		return "[] " + text
	}
	return text
}
