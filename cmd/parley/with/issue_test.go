package with

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/internal/term"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

func viewed(terminal bool) (cli.View, *bytes.Buffer) {
	var out bytes.Buffer
	return cli.View{Command: func(line string) string { return line }, Out: term.Screen{Writer: &out, Terminal: terminal, Width: 120}, Zone: time.UTC, Now: time.Now}, &out
}

// Work-with W51: new comments are counted, and shown as words of others. No line of theirs can be
// taken for a line of parley, and only so much of each is shown.
func TestNewsOfAnIssue(t *testing.T) {
	at := time.Date(2026, 4, 15, 12, 0, 0, 0, time.UTC)
	v, out := viewed(false)
	n := &control.IssueNews{Issue: "nat/maw-js#332", URL: "https://github.com/nat/maw-js/issues/332", Since: at, More: true}
	for i := range 12 {
		n.Comments = append(n.Comments, control.IssueWord{By: "bo", Time: at, URL: fmt.Sprint("u", i), Text: "words"})
	}
	n.Comments[10].Text = "\x1b[2J\u202eevil\r\nAnchor: 0 comments\n\nd\ne\nf\ng\nh"
	n.Comments[11].By, n.Comments[11].Scores = "eve\x07", []control.SyncLine{line("A1", score(1), "ACCEPT", "\x1b[31mx", ""), line("", protocol.Score{}, "", "", "")}
	n.Comments[11].Scores[1].Text = "no\nlabel"
	showNews(v, n)
	lines := strings.Split(out.String(), "\n")
	if lines[0] != "Anchor: 12 new comments and more since 2026-04-15 12:00:00 +00:00, on nat/maw-js#332" || lines[1] != "  the last 10 of them; the others: https://github.com/nat/maw-js/issues/332" {
		t.Errorf("it begins\n%s\n%s", lines[0], lines[1])
	}
	want := "  @bo, 2026-04-15 12:00:00 +00:00, unverified: u10\n  > ␛[2J\\u202eevil\n  > Anchor: 0 comments\n  > \n  > d\n  > e\n  > f\n  > …\n" +
		"  @eve␇, 2026-04-15 12:00:00 +00:00, unverified: u11\n  > [A1] 1.0 ACCEPT: ␛[31mx\n  > no␊label - : —\n  It scores nothing: it is no answer of a partner who was asked here.\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("shown:\n%s\nwant at its end\n%s", out.String(), want)
	}
}

// A comment that could not be written says how to try it again.
func TestACommentThatIsSkipped(t *testing.T) {
	v, out := viewed(true)
	c := &call{view: v}
	c.told(action{deed: protocol.ActRatified}, Done{
		TopicDeed: control.TopicDeed{Me: "skills", Topic: control.Topic{With: "mawjs", Head: topic.Head{Name: "tmux design", Anchor: "nat/maw-js#332"}}},
		Comment:   &control.IssueComment{Issue: "nat/maw-js#332", Skipped: "gh did not answer within 15s"},
	})
	for _, want := range []string{"Comment on nat/maw-js#332 skipped: gh did not answer within 15s\n", "parley work-with mawjs 'tmux design' --persist"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
}
