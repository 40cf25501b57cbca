package talk

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/sessions"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// inbox is the mail of people and agents of this host: what came, what of it is read, and which
// session of an agent has taken what.
type inbox struct {
	*tools
}

// Inbox answers control.Inbox.
func (b *inbox) Inbox(ctx context.Context, by control.Caller, r control.InboxRequest) ([]control.Message, error) {
	if err := checkInbox(r); err != nil {
		return nil, err
	}
	who, err := b.Actors.Reader(by, r.As)
	if err != nil {
		return nil, err
	}
	take := b.taking(by, who, r)
	box, err := b.await(ctx, who, take, r)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil && r.Claim { // the caller is gone, and was given nothing
		b.Sessions.GiveBack(who.Name, each.Of(box, func(f facts) protocol.Path { return f.item.Path }))
		return nil, ctx.Err()
	}
	if len(box) > 0 && !r.All {
		b.Actors.Gave(by, box[len(box)-1].item.Path)
	}
	mail := b.views.all(box)
	for i := range mail {
		if c, taken := b.Sessions.Taken(who.Name, mail[i].Path); taken && !r.All {
			mail[i].Claimed = &control.Claim{By: c.By.String(), Until: c.Until.UTC()}
		}
	}
	return mail, nil
}

func checkInbox(r control.InboxRequest) error {
	switch {
	case r.Within < 0 || r.ClaimFor < 0:
		return control.Errorf(control.KindUsage, "", "cannot look into the inbox: a time is below zero")
	case r.All && (r.Claim || r.Within > 0):
		return control.Errorf(control.KindUsage, "", "cannot look into the inbox: only mail that is not read is waited for and taken, not all")
	case !r.Claim && (r.ClaimFor != 0 || r.Session != ""):
		return control.Errorf(control.KindUsage, "", "cannot look into the inbox: for how long and by which session is said of mail that is taken")
	}
	if err := sessions.CheckName(r.Session); err != nil {
		return control.Errorf(control.KindUsage, "", "cannot look into the inbox: %v", err)
	}
	return nil
}

// taking is how a request takes a message, which may be taken already. It is nil if the request
// takes none.
func (b *inbox) taking(by control.Caller, who fleet.Who, r control.InboxRequest) func(protocol.Path) bool {
	if !r.Claim {
		return nil
	}
	session := sessions.Of(r.Session, by.Process)
	return func(p protocol.Path) bool {
		return b.Sessions.Take(who.Name, p, sessions.Claim{By: session, Until: b.Now().Add(cmp.Or(r.ClaimFor, b.Config.ClaimFor))})
	}
}

// await lists the mail as soon as there is some, or at once if nobody waits. It begins to follow
// new messages before it looks, so that none is missed in between.
func (b *inbox) await(ctx context.Context, who fleet.Who, take func(protocol.Path) bool, r control.InboxRequest) ([]facts, error) {
	if r.Within == 0 {
		return b.look(who, take, r), nil
	}
	defer b.Sessions.Waits(protocol.Name(who.Name))()
	came := b.Messages.Follow(feed.MaxMessages, nil)
	defer came.End()
	ctx, cancel := context.WithTimeout(ctx, r.Within)
	defer cancel()
	for {
		freed := b.Sessions.Freed()
		if box := b.look(who, take, r); len(box) > 0 {
			return box, nil
		}
		for news := false; !news; {
			select {
			case <-came.Wake():
				news = b.IsNews(who, came)
			case <-freed:
				news = true
			case <-ctx.Done():
				return nil, nothingCame(ctx, r)
			}
		}
	}
}

// IsNews reports whether there may be mail for a participant because of what came. A look into an
// inbox goes through all mail that its owner has ever had. So messages of a busy fleet that are
// between others must not cause one.
func (b *inbox) IsNews(who fleet.Who, came *feed.Feed[protocol.Path]) bool {
	paths, missed := came.Drain()
	news := missed > 0
	b.Folded(func(s *fleet.State) {
		news = news || slices.ContainsFunc(paths, func(p protocol.Path) bool {
			it, there := s.Ledger.Item(p)
			return !there || feed.MakesMail(it.Act) || s.Talk.Reaches(it, who)
		})
	})
	return news
}

// look lists the mail that waits, and takes it if that is asked for.
func (b *inbox) look(who fleet.Who, take func(protocol.Path) bool, r control.InboxRequest) (box []facts) {
	b.Sessions.Sweep()
	b.Folded(func(s *fleet.State) {
		for it := range s.Talk.Inbox(who, r.All) {
			if take != nil && !take(it.Path) {
				continue
			}
			if box = append(box, factsOf(s, it)); len(box) == r.Limit {
				break
			}
		}
	})
	return box
}

func nothingCame(ctx context.Context, r control.InboxRequest) error {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return ctx.Err()
	}
	return control.Errorf(control.KindTimeout, "", "no mail within %s", span.Text(r.Within))
}

// Read answers control.Read.
func (b *inbox) Read(ctx context.Context, by control.Caller, r control.ReadRequest) (control.Message, error) {
	f, err := b.views.find(r.Path)
	if err != nil {
		return control.Message{}, err
	}
	who, err := b.Actors.Reader(by, r.As)
	if err != nil {
		return control.Message{}, err
	}
	if _, err := b.Decider.Act(ctx, writing.Called(by, fleet.GiveReceipt{As: who, Of: f.item.Path}), f.item.Path); err != nil {
		return control.Message{}, err
	}
	b.Actors.Gave(by, f.item.Path)
	return b.views.now(f.item)
}
