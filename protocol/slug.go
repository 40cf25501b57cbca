package protocol

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

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

// topicKey is a name in lower case, with one "-" in place of blanks and dashes.
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
