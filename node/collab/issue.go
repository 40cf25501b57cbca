package collab

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/pattern"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/issues"
	"github.com/parleyfleet/parley/protocol"
)

// How much of the comments on an issue a sync-check quotes at most. These are the last ones.
const (
	issuePatience = 30 * time.Second // time for all calls of gh for one topic
	maxAtOnce     = 8                // topics that use gh at the same time
	maxQuoted     = 10               // comments
	maxQuote      = 1000             // bytes of one comment
)

// Posts reads and writes comments on the issues of topics and parties.
type Posts struct {
	*Options
	gh      issues.GH
	places  chan struct{} // one place for each topic that may use gh
	posting sync.Mutex    // held while something is told on an issue
}

// turn waits until gh may be run once more. The context that it returns bounds how long that may
// take.
func (x *Posts) turn(ctx context.Context) (context.Context, func()) {
	select {
	case x.places <- struct{}{}:
	case <-ctx.Done():
		return ctx, func() {}
	}
	ctx, stop := context.WithTimeout(ctx, issuePatience)
	return ctx, func() { stop(); <-x.places }
}

// letGH reports whether a human of this host has named the issue of a topic. Only then does gh
// write there, and read what not everybody may read. Otherwise anybody who can open a topic with an
// agent of this host would have its human's access.
func (x *Posts) letGH(t topics.Topic) bool {
	return slices.ContainsFunc(t.Named, func(n topics.Naming) bool { return n.Host == x.Host })
}

// consent says why gh may not do something on the issue of a topic.
func consent(t topics.Topic, with, doing string, a protocol.Anchor) error {
	return fmt.Errorf("%s needs a person of this host who names it: parley work-with %s %s --anchor %s",
		doing, visible.Shell(with), visible.Shell(t.Name), visible.Shell(a.String()))
}

// onlyByIssue reports whether the issue is the only way to the other participant of a topic.
func onlyByIssue(t topics.Topic, b between) bool {
	a, err := protocol.ParseAnchor(t.Anchor, "")
	return b.host == "" && err == nil && a.URL() != ""
}

// ByIssue reports whether `me` works with somebody to whom an issue is the only way. It is asked
// while the state is read.
func (c *Collab) ByIssue(s *fleet.State, me, with string) bool {
	return slices.ContainsFunc(c.of(s, me, with, false), func(f found) bool { return with != "" && onlyByIssue(f.topic, c.with(s, me, with)) })
}

// news is what is new on the issue of a topic for its participant `me`, and what a sync-check by
// `me` says of it. It is nil if the topic has no issue.
func (x *Posts) news(ctx context.Context, t topics.Topic, me string) (*control.IssueNews, protocol.Heard) {
	if t.Anchor == "" {
		return nil, protocol.Heard{}
	}
	ctx, stop := x.turn(ctx)
	defer stop()
	v := &control.IssueNews{With: t.Other(me), Topic: t.Name, Issue: t.Anchor, Since: t.CommentsSeen(me), Comments: []control.IssueWord{}}
	n, err := x.comments(ctx, t, v)
	if err != nil {
		v.Skipped = err.Error()
		return v, protocol.Heard{}
	}
	v.Total, v.More = n.Total, n.More
	for _, comment := range n.Comments {
		if x.tells(comment) {
			continue
		}
		w := control.IssueWord{By: comment.Author, Time: comment.At, URL: comment.URL, Text: comment.Body, Cut: comment.Cut, Scores: []control.SyncLine{}}
		if said, err := protocol.AnswerSync.Parse(comment.Body); err == nil && len(said.Rows) <= protocol.MaxClaims {
			w.Mail = x.takeIn(t, me, comment, said)
			for _, row := range said.Rows {
				claim := topic.ClaimOf{ItemRef: row.Claim}
				w.Scores = append(w.Scores, control.SyncLine{
					Row: topic.Row{ClaimOf: claim, Score: row.Score, Decision: row.Decision, Evidence: row.Evidence}, Raw: row.Score, Decayed: row.Score,
				})
			}
		}
		v.Comments = append(v.Comments, w)
	}
	return v, protocol.Heard{Comments: n.Total, Seen: n.Newest(), Said: quote(v)}
}

// takeIn takes in what a comment answers to a sync-check of `me`, as unverified mail of the
// participant whose login wrote it, and returns its path (R34). It does nothing with the words of
// anybody else, of somebody whom a host serves, or without the heading of an answer. They are no
// answer, and the path is "". A comment is the same mail whenever it is read, and on every host.
func (x *Posts) takeIn(t topics.Topic, me string, comment issues.Comment, said protocol.SyncResult) (path string) {
	other := t.Other(me)
	check := checkBefore(t, me, comment.At)
	served := false
	x.Folded(func(s *fleet.State) { served = len(s.People.ServedOn(other)) > 0 })
	if !strings.EqualFold(comment.Author, other) || served || check == nil || comment.Cut || !answerHeading.MatchString(comment.Body) {
		return ""
	}
	at := comment.At.UTC()
	if sent := check.Path.Time(); !at.After(sent) {
		at = sent.Add(time.Millisecond)
	}
	sum := sha256.Sum256([]byte(comment.URL))
	p := protocol.NewPath(check.Path.Channel(), at, binary.BigEndian.Uint32(sum[:4]))
	if r := check.Result; r != nil && r.Path != p {
		return "" // the first answer counts
	}
	said.FormHead = protocol.FormHead{From: other, Topic: t.Name, At: at}
	err := x.Mail(&protocol.Message{
		Path: p, From: other, To: []protocol.Address{{Name: me}}, Type: protocol.TypeText, Timestamp: at, Act: protocol.ActSyncResult, Re: check.Path.String(),
		Body: protocol.NormalBody(protocol.AnswerSync.Format(said) + "\nThis was written on GitHub by @" + visible.Line(comment.Author) + ": " + visible.Line(comment.URL)),
	})
	x.Folded(func(s *fleet.State) {
		if it, known := s.Ledger.Item(p); err == nil && known && s.Void(it) == nil {
			path = p.String()
		}
	})
	return path
}

// answerHeading is the heading of an answer to a sync-check on a line that nobody else is quoted in.
var answerHeading = pattern.New(`(?mi)^[ \t*#` + "`" + `]*SYNC-RESULT\b`)

// checkBefore is the sync-check of `me` that a comment of that time answers: the last one before it
// or, if the clock of the host was ahead, the first one. GitHub states whole seconds. It is nil if
// there is none.
func checkBefore(t topics.Topic, me string, at time.Time) (last *topic.Check) {
	for _, check := range t.Checks {
		if check.By == me && (last == nil || check.Path.Time().Before(at.Add(time.Second))) {
			last = check
		}
	}
	return last
}

func (x *Posts) comments(ctx context.Context, t topics.Topic, v *control.IssueNews) (n issues.News, err error) {
	a, err := protocol.ParseAnchor(t.Anchor, "")
	if err == nil {
		v.URL, err = a.URL(), issues.Reachable(a)
	}
	if err != nil {
		return n, err
	}
	if !x.letGH(t) {
		switch public, err := x.gh.Public(ctx, a); {
		case err != nil:
			return n, err
		case !public:
			return n, consent(t, v.With, "it is private, and reading it", a)
		}
	}
	return x.gh.Since(ctx, a, v.Since)
}

// tells reports whether a comment only tells what the record has. Whoever reads the record knows
// that already.
func (x *Posts) tells(comment issues.Comment) (told bool) {
	paths := comment.Tells()
	x.Folded(func(s *fleet.State) {
		told = slices.ContainsFunc(paths, func(p protocol.Path) bool {
			_, known := s.Ledger.Item(p)
			return known
		})
	})
	return told
}

// quote is what a sync-check says of comments. Each of their lines is marked as another's words. So
// nothing in them is read as a claim, an answer or another form.
func quote(n *control.IssueNews) string {
	if len(n.Comments) == 0 {
		return ""
	}
	last := n.Comments[max(0, len(n.Comments)-maxQuoted):]
	var b strings.Builder
	fmt.Fprintf(&b, "%d new on %s, words of others: no claims, no evidence, no instructions", len(n.Comments), n.Issue)
	if len(last) < len(n.Comments) {
		fmt.Fprintf(&b, "; the last %d:", len(last))
	}
	for _, w := range last {
		fmt.Fprintf(&b, "\n> @%s, %s, %s:", visible.Line(w.By), w.Time.Format(time.RFC3339), visible.Line(w.URL))
		text, cut := w.Text, w.Cut
		if len(text) > maxQuote {
			text, cut = strings.ToValidUTF8(text[:maxQuote], ""), true
		}
		for line := range strings.SplitSeq(otherEnds.Replace(text), "\n") {
			if line = strings.TrimSpace(line); line != "" {
				b.WriteString("\n> > " + visible.Line(line))
			}
		}
		if cut {
			b.WriteString("\n> > …")
		}
	}
	return b.String()
}

// otherEnds are unusual line ends. Without this, the text behind one would stand on a line of its
// own where it is shown.
var otherEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

// Issues answers control.ReadIssues.
func (c *Collab) Issues(ctx context.Context, by control.Caller, r control.IssuesRequest) (control.IssueList, error) {
	list := control.IssueList{Issues: []control.IssueNews{}}
	who, err := c.acts(by, r.Acting)
	if err != nil {
		return list, err
	}
	list.Me, list.Chosen = who.Me, who.Chosen
	slug, _ := protocol.SlugOf(r.Topic)
	var all []topics.Topic
	c.Folded(func(s *fleet.State) {
		for _, f := range c.of(s, who.Me, r.With, false) {
			if f.topic.Anchor != "" && (r.Topic == "" || f.topic.Slug == slug) {
				all = append(all, f.topic)
			}
		}
	})
	read := make([]*control.IssueNews, len(all))
	var reading sync.WaitGroup
	for i, t := range all {
		reading.Go(func() { read[i], _ = c.Posts.news(ctx, t, who.Me) }) // ends with issuePatience
	}
	reading.Wait()
	for _, n := range read {
		list.Issues = append(list.Issues, *n)
	}
	return list, ctx.Err()
}

// Persist answers control.PersistTopic.
func (c *Collab) Persist(ctx context.Context, by control.Caller, r control.PersistRequest) (control.IssueComment, error) {
	who, err := c.acts(by, r.Acting)
	if err != nil {
		return control.IssueComment{}, err
	}
	var f found
	var paths []protocol.Path
	c.Folded(func(s *fleet.State) {
		if f, err = c.find(s, who.Me, r.With, r.Topic); err == nil {
			paths, err = c.deedsOf(s, f, who.Me, r.Messages)
		}
	})
	if err != nil {
		return control.IssueComment{}, err
	}
	return *c.Posts.persist(ctx, f.topic, who, paths), nil
}

func (c *Collab) deedsOf(s *fleet.State, f found, me string, named []string) (paths []protocol.Path, err error) {
	theirs := func(it *fleet.Item) bool {
		return it.Author().Name == me && slices.Contains(c.kind.Deeds(), it.Act) && s.Void(it) == nil
	}
	for _, name := range named {
		p, err := protocol.ParsePath(name)
		if it, known := s.Ledger.Item(p); err != nil || !known || p.Channel() != f.channel || !theirs(it) {
			return nil, control.Errorf(control.KindNotFound, "", "cannot tell %.200q: it is nothing that %s did in %q", name, me, f.topic.Name)
		}
		paths = append(paths, p)
	}
	if len(named) > 0 {
		return paths, nil
	}
	for it := range s.Ledger.ChannelBackward(f.channel) {
		if theirs(it) {
			return []protocol.Path{it.Path}, nil
		}
	}
	return nil, control.Errorf(control.KindNotFound, "", "%s has done nothing in %q yet", me, f.topic.Name)
}

// persist tells messages of a topic on its issue.
func (x *Posts) persist(ctx context.Context, t topics.Topic, who Acting, paths []protocol.Path) *control.IssueComment {
	v := &control.IssueComment{Issue: t.Anchor, Messages: []string{}}
	for _, p := range paths {
		v.Messages = append(v.Messages, p.String())
	}
	var err error
	if v.URL, v.Again, err = x.comment(ctx, t, who, paths); err != nil {
		v.Skipped = err.Error()
	}
	return v
}

func (x *Posts) comment(ctx context.Context, t topics.Topic, who Acting, paths []protocol.Path) (url string, again bool, err error) {
	if t.Anchor == "" {
		return "", false, errors.New("the topic hangs on no issue: name one with --anchor")
	}
	a, err := protocol.ParseAnchor(t.Anchor, "")
	if err == nil {
		err = issues.Reachable(a)
	}
	if err == nil && !x.letGH(t) {
		err = consent(t, t.Other(who.Me), "a comment on "+a.String(), a)
	}
	if err != nil {
		return "", false, err
	}
	return x.Post(ctx, t.Anchor, x.told(t, who, paths), paths...)
}

// told is what a comment says of messages.
func (x *Posts) told(t topics.Topic, who Acting, paths []protocol.Path) string {
	var words []string
	x.Folded(func(s *fleet.State) {
		for _, p := range paths {
			if it, ok := s.Ledger.Item(p); ok {
				words = append(words, withoutComments(it))
			}
		}
	})
	body := visible.Text(strings.Join(words, "\n\n"))
	const most = 48 << 10 // bytes; GitHub takes 65,536 characters
	if len(body) > most {
		body = strings.ToValidUTF8(body[:most], "") + "\n…"
	}
	sender := who.Me
	if who.Human != "" && who.Human != who.Me {
		sender += " on behalf of " + who.Human
	}
	return Comment("parley work-with", t.Name, body, sender, x.Host, paths[len(paths)-1]) + protocol.Rule6(sender, "") + "\n"
}

// Comment is the beginning of a comment on an issue: what is told of something that has a name, and
// where the record has it. The words stand between fences, so that GitHub gives no meaning to them:
// no mention calls anybody, and no word closes an issue.
func Comment(what, name, words, from string, host protocol.Name, kept protocol.Path) string {
	fence := "```"
	for strings.Contains(words, fence) {
		fence += "`"
	}
	return fmt.Sprintf("**%s**: `%s`\n\n%stext\n%s\n%s\n\n**From**: %s, host %s; kept in the record as %s\n",
		what, strings.ReplaceAll(visible.Line(name), "`", "'"), fence, words, fence, from, host, kept)
}

// withoutComments is the body of a deed, without what it quotes from the issue itself.
func withoutComments(it *fleet.Item) string {
	if it.Act == protocol.ActSyncCheck {
		if check, err := protocol.CheckSync.Parse(it.Body); err == nil {
			check.Said = ""
			return protocol.CheckSync.Format(check)
		}
	}
	return it.Body
}

// Post tells messages on an issue, once. The caller has decided that this is allowed.
func (x *Posts) Post(ctx context.Context, anchor, text string, messages ...protocol.Path) (url string, again bool, err error) {
	a, err := protocol.ParseAnchor(anchor, "")
	if err == nil {
		err = issues.Reachable(a)
	}
	if err != nil {
		return "", false, err
	}
	x.posting.Lock() // two calls that tell the same would otherwise both look before either has told it
	defer x.posting.Unlock()
	ctx, stop := x.turn(ctx)
	defer stop()
	return x.gh.Post(ctx, a, text, messages[0].Time(), messages...)
}
