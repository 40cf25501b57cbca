package with

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
)

// Done is what was done in a topic, and how that was told on the topic's issue.
type Done struct {
	control.TopicDeed
	Comment *control.IssueComment `json:"comment,omitempty"` // absent if it was not to be told
}

// Recap is what is active and what waits, and what is new on the issues of the topics.
type Recap struct {
	control.TopicList
	Issues []control.IssueNews `json:"issues"` // one for each topic that has an issue
}

// persisted tells on the topic's issue what was done, if the request asks for that or the issue is
// the only way to the partner. Whatever comes of that, the deed itself stands.
func (c *call) persisted(ctx context.Context, deed control.TopicDeed) Done {
	done := Done{TopicDeed: deed}
	if len(deed.Messages) == 0 || !c.persist && !deed.ByIssue {
		return done
	}
	t := deed.Topic
	told, err := control.PersistTopic.Ask(ctx, c.client, control.PersistRequest{
		Acting: control.Acting{As: c.acting.As, Dir: c.acting.Dir}, With: t.With, Topic: t.Name, Messages: deed.Messages,
	})
	if err != nil {
		told = control.IssueComment{Issue: t.Anchor, Messages: deed.Messages, Skipped: err.Error()}
	}
	done.Comment = &told
	return done
}

// runPersist tells on a topic's issue what was done last.
func runPersist(ctx context.Context, c *call) error {
	told, err := control.PersistTopic.Ask(ctx, c.client, control.PersistRequest{Acting: c.acting, With: c.partner(), Topic: c.topic()})
	return c.view.Show(told, err, func() { showComment(c.view, &told) })
}

func showComment(v cli.View, told *control.IssueComment) {
	switch {
	case told == nil:
	case told.Skipped != "":
		v.Out.Printf("Comment%s skipped: %s\n", cli.Lead(" on ", told.Issue), term.Line(told.Skipped))
	case told.Again:
		v.Out.Printf("Comment%s is there already: %s\n", cli.Lead(" on ", told.Issue), term.Line(told.URL))
	default:
		v.Out.Printf("Comment%s: %s\n", cli.Lead(" on ", told.Issue), term.Line(told.URL))
	}
}

// Bounds of what is shown of comments. The whole comment is at its address, and in JSON.
const (
	shownLines = 6
	shownWords = 10 // comments, the last ones
)

func showNews(v cli.View, n *control.IssueNews) {
	if n == nil {
		return
	}
	if n.Skipped != "" {
		v.Out.Printf("Anchor: %s skipped: %s\n", term.Line(n.Issue), term.Line(n.Skipped))
		return
	}
	count, since := cli.Count(len(n.Comments), "comment"), ""
	if !n.Since.IsZero() {
		count, since = cli.Count(len(n.Comments), "new comment"), " since "+v.At(n.Since, cli.TimeForm)
	}
	if n.More {
		count += " and more"
	}
	v.Out.Printf("%sAnchor: %s%s, on %s\n", symbol(v, "📨"), count, since, term.Line(n.Issue))
	last := n.Comments[max(0, len(n.Comments)-shownWords):]
	if len(last) < len(n.Comments) {
		v.Out.Printf("  the last %d of them; the others: %s\n", len(last), term.Line(n.URL))
	}
	for _, w := range last {
		v.Out.Printf("  @%s, %s, unverified: %s\n", term.Line(w.By), v.At(w.Time, cli.TimeForm), term.Line(w.URL))
		if len(w.Scores) > 0 {
			showSaid(v, w)
			continue
		}
		lines := strings.Split(strings.TrimSpace(w.Text), "\n")
		for _, line := range lines[:min(len(lines), shownLines)] {
			v.Out.Printf("  > %s\n", term.Line(strings.TrimRight(line, "\r")))
		}
		if len(lines) > shownLines || w.Cut {
			v.Out.Printf("  > …\n")
		}
	}
}

// showSaid shows the scores that a comment gives for a check, and whether they count. They do if the
// partner was asked on the issue alone; then they are mail like any other that nobody has signed.
func showSaid(v cli.View, w control.IssueWord) {
	for _, row := range w.Scores {
		v.Out.Printf("  > %s %s %s: %s\n", claim(row), row.Raw, term.Line(string(row.Decision)), cli.Dash(row.Evidence))
	}
	if w.Mail != "" {
		v.Out.Printf("%s\n", v.Out.Dim("  It scores, as unverified mail: parley show "+w.Mail))
		return
	}
	v.Out.Printf("%s\n", v.Out.Dim("  It scores nothing: it is no answer of a partner who was asked here."))
}

// news asks for what is new on the issues of topics. It returns nothing if no topic has an issue.
func (c *call) news(ctx context.Context, list control.TopicList) ([]control.IssueNews, error) {
	anchored := false
	for _, t := range list.Topics {
		anchored = anchored || t.Anchor != ""
	}
	if !anchored {
		return []control.IssueNews{}, nil
	}
	found, err := control.ReadIssues.Ask(ctx, c.client, control.IssuesRequest{Acting: c.acting, With: c.partner()})
	return found.Issues, err
}

// way says in words on which way a check goes.
func way(e control.SyncEvent) string {
	switch c := e.Comment; {
	case c != nil && e.Transport == control.ByIssue:
		return "issue " + term.Line(c.Issue)
	case c != nil && c.Skipped != "" && e.Transport == control.ByRecord:
		return ways[e.Transport] + fmt.Sprintf(" (issue %s not reached)", term.Line(c.Issue))
	}
	return ways[e.Transport]
}
