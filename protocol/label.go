package protocol

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

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
	return len(s) >= 2 && len(s) <= 7 && strings.IndexByte("APTDC", s[0]) >= 0 && strings.Trim(s[1:], "0123456789") == ""
}

// String returns the label.
func (l Label) String() string { return string(l) }

// ItemRef is an item as a message names it: "[A1] text", "[A1]", "A1" or its text alone. In a
// message about several topics, it is "[slug/A1] text" (R61).
type ItemRef struct {
	Topic Slug   `json:"topic,omitempty"` // the short form of another topic to which it belongs
	Label Label  `json:"id"`              // its label
	Text  string `json:"text"`            // what it says
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

// Slug is the short form of a topic's name. File names and channels are made of it. No two topics
// of one pair have the same slug (R20). Only SlugOf makes one.
type Slug string

// Bounds of names of topics, in bytes.
const (
	MaxSlug  = 80
	MaxTopic = 200
)

// SlugOf is the slug of a topic: the topic's letters and digits of any script in lower case, with
// one "-" for each run of other characters between them (R20). So a slug is never a path, whatever
// the topic is called. The error says why the topic has no slug.
func SlugOf(topic string) (Slug, error) {
	if err := checkTopic(topic); err != nil {
		return "", fmt.Errorf("%.80q is no name of a topic: %w", topic, err)
	}
	var b strings.Builder
	gap := false
	for _, r := range norm.NFC.String(strings.ToLower(norm.NFC.String(topic))) {
		if !unicode.In(r, unicode.L, unicode.N, unicode.M) {
			gap = b.Len() > 0
			continue
		}
		if gap {
			b.WriteByte('-')
			gap = false
		}
		b.WriteRune(r)
	}
	switch {
	case b.Len() == 0:
		return "", fmt.Errorf("%.80q is no name of a topic: it has neither letters nor digits", topic)
	case b.Len() > MaxSlug:
		return "", fmt.Errorf("%.80q is no name of a topic: its short form would have %d bytes, and %d is the most", topic, b.Len(), MaxSlug)
	}
	return Slug(b.String()), nil
}

func checkTopic(topic string) error {
	switch {
	case len(topic) > MaxTopic:
		return fmt.Errorf("it has more than %d bytes", MaxTopic)
	case topic != NormalBody(topic) || strings.ContainsFunc(topic, unicode.IsControl) || topic != strings.ToValidUTF8(topic, ""):
		return errors.New("it is not one line of text")
	case strings.Contains(topic, "|"):
		return errors.New("it has a |, which separates it from what stands behind it in a message")
	}
	return nil
}

// String returns the slug.
func (s Slug) String() string { return string(s) }

// SameTopic reports whether two names with the same slug are the same topic: they differ at most in
// case and in what stands between words, or one of them is the slug itself. "C" and "C++" are two
// topics with one slug.
func SameTopic(a, b string) bool {
	short := func(s string) bool { slug, err := SlugOf(s); return err == nil && slug.String() == s }
	return short(a) || short(b) || topicKey(a) == topicKey(b)
}

func topicKey(topic string) string {
	words := strings.FieldsFunc(strings.ToLower(norm.NFC.String(topic)), func(r rune) bool {
		return unicode.IsSpace(r) || r == '-' || r == '_'
	})
	return norm.NFC.String(strings.Join(words, "-"))
}

// TopicChannel is the channel of a topic between two. It follows from the record's id, the two
// names and the slug. So two hosts that open a topic at the same time meet in one channel. The "@"
// keeps it apart from the channel of the two that belongs to no topic.
func TopicChannel(recordID, one, other string, slug Slug) ChannelID {
	return DeriveChannel(recordID, one, other, "@topic "+slug.String())
}

// Anchor is an issue on GitHub on which a topic hangs. Owner is empty if it is not known: then the
// issue has no address.
type Anchor struct {
	Owner, Repo string
	Number      int // from 1
}

var (
	anchorPattern    = pattern.New(`^(?:(?:([A-Za-z0-9][A-Za-z0-9-]{0,38})/)?([A-Za-z0-9._-]{1,100}))?#([0-9]{1,9})$`)
	anchorURLPattern = pattern.New(`^https?://github\.com/([A-Za-z0-9][A-Za-z0-9-]{0,38})/([A-Za-z0-9._-]{1,100})/(?:issues|pull)/([0-9]{1,9})(?:[/?#].*)?$`)
)

// ParseAnchor reads "332", "#332", "repo#332", "owner/repo#332" or the address of an issue. Owner
// and repository are taken from `origin` ("owner/repo") if `s` does not name them; `origin` may be
// empty.
func ParseAnchor(s, origin string) (Anchor, error) {
	text := strings.TrimSpace(s)
	if _, err := strconv.ParseUint(text, 10, 32); err == nil {
		text = "#" + text
	}
	m := anchorURLPattern.FindStringSubmatch(text)
	if m == nil {
		m = anchorPattern.FindStringSubmatch(text)
	}
	if m == nil {
		return Anchor{}, fmt.Errorf("%.80q is no issue such as 332, repo#332, owner/repo#332 or its address; in a shell #332 alone is a comment", s)
	}
	a := Anchor{Owner: m[1], Repo: m[2]}
	a.Number, _ = strconv.Atoi(m[3])
	if a.Number == 0 {
		return Anchor{}, fmt.Errorf("%.80q is no issue: they are counted from 1", s)
	}
	if strings.Trim(a.Repo, ".") == "" && a.Repo != "" {
		return Anchor{}, fmt.Errorf("%.80q is no issue: %q is no repository", s, a.Repo)
	}
	owner, repo, _ := strings.Cut(origin, "/")
	if a.Repo == "" {
		a.Owner, a.Repo = owner, repo
	} else if a.Owner == "" {
		a.Owner = owner
	}
	return a, nil
}

// String is the form that is shown and that ParseAnchor reads: "repo#332", or "owner/repo#332" if
// the owner is known.
func (a Anchor) String() string {
	name := a.Repo
	if a.Owner != "" && a.Repo != "" {
		name = a.Owner + "/" + a.Repo
	}
	return name + "#" + strconv.Itoa(a.Number)
}

// URL is the address of the issue; empty where its repository is not known.
func (a Anchor) URL() string {
	if a.Owner == "" || a.Repo == "" {
		return ""
	}
	return fmt.Sprintf("https://github.com/%s/%s/issues/%d", a.Owner, a.Repo, a.Number)
}
