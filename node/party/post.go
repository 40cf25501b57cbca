package party

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/parties"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/collab"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

// postAgain is for how long after an invite the node's start looks whether it is on the issue.
// Later, somebody may have removed the comment there, and it stays removed.
const postAgain = 24 * time.Hour

// StartPosting tells on issues, in the background, what the node's last end cut short.
func (p *Parties) StartPosting() (stop func()) {
	return wait.Background(func(ctx context.Context) {
		var channels []protocol.ChannelID
		p.Folded(func(s *fleet.State) {
			channels = each.Of(p.all(s), func(f found) protocol.ChannelID { return f.channel })
		})
		for _, channel := range channels {
			postInvites(ctx, p, channel, p.Now().Add(-postAgain))
		}
	})
}

// postInvites tells on the issue of a party the invites, not older than `since`, of those who have
// only the issue, and says what became of that. A human of this host agreed to each of them, and by
// that to the comment. What is there already is not told again. A comment lets nobody in (R34, R38).
func postInvites(ctx context.Context, p *Parties, channel protocol.ChannelID, since time.Time) (done []control.IssueComment) {
	type asked struct {
		path protocol.Path
		text string
	}
	var all []asked
	var f found
	p.Folded(func(s *fleet.State) {
		f = p.in(s, channel)
		for _, g := range f.Gates {
			it, known := s.Ledger.Item(g.Path)
			if known && it.Host == p.Host && g.For == parties.ForInvite && g.Whom.Host == "" && g.Waits() && !g.Path.Time().Before(since) {
				all = append(all, asked{g.Path, inviteOnIssue(f, g, it)})
			}
		}
	})
	for _, one := range all {
		v := control.IssueComment{Issue: f.Anchor, Messages: []string{one.path.String()}}
		var err error
		if v.URL, v.Again, err = p.Post(ctx, f.Anchor, one.text, one.path); err != nil {
			v.Skipped = err.Error()
			p.Log.Warn().Err(err).Str("party", f.Name).Msg("an invite is not on the issue")
		}
		done = append(done, v)
	}
	return done
}

// inviteOnIssue is an invite as a comment: the words of the seed, without what only programs read.
func inviteOnIssue(f found, g *parties.Gate, it *fleet.Item) string {
	lines := strings.Split(visible.Text(redact.Said(it.Body)), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "PAYLOAD:") })
	return collab.Comment("Party invite", f.Name, strings.Join(lines, "\n"), g.By, it.Host, it.Path) +
		"What is answered here lets nobody in. Whoever joins the fleet with parley comes in by: parley party join " + f.Slug.String() + "\n" +
		protocol.Rule6(g.By, g.Human) + "\n"
}
