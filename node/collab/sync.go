package collab

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/topics"
	"github.com/parleyfleet/parley/fleet/topics/topic"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// How long a result is waited for if nothing else is said (R25).
const (
	waitSameHost  = time.Minute
	waitOtherHost = 5 * time.Minute
)

// maxCame bounds how many messages may come while earlier ones are being looked at.
const maxCame = 10_000

type checking struct {
	event  control.SyncEvent // what is told about it
	by     control.Caller
	who    Acting
	topic  topics.Topic
	window time.Duration // how long a decision of that partner stays open
	wait   time.Duration
	path   protocol.Path // the last message that was sent; zero before
	before protocol.Path // the one before, if the form was asked for again: its result counts too
	sent   time.Time
	again  bool // the form was asked for once more
	done   bool
	// persist says that the check is also written as a comment on the issue. heard is what is new
	// there.
	persist bool
	heard   protocol.Heard
}

// Sync answers control.Sync.
func (c *Collab) Sync(ctx context.Context, by control.Caller, r control.SyncRequest, yield func(control.SyncEvent) error) error {
	if r.Wait < 0 {
		return control.Errorf(control.KindUsage, "", "cannot wait for less than no time")
	}
	who, err := c.acts(by, r.Acting)
	if err != nil {
		return err
	}
	checks, err := c.checks(by, who, r)
	if err != nil {
		return err
	}
	y := syncing{c, r.Claims, checks, yield}
	came := c.Messages.Follow(maxCame, nil)
	defer came.End()
	y.readIssues(ctx)
	for _, ch := range checks {
		if e, late := c.lateOf(ch); late {
			if err := yield(e); err != nil {
				return err
			}
			ch.event.Issue = nil
		}
	}
	y.sendAll(ctx)
	for _, ch := range checks {
		if err := yield(ch.event); err != nil {
			return err
		}
		ch.event.Issue, ch.event.Comment = nil, nil
	}
	if by.Kind == control.ByAgent {
		defer c.Lend(by.Name)()
	}
	return y.await(ctx, came)
}

func (c *Collab) checks(by control.Caller, who Acting, r control.SyncRequest) (checks []*checking, err error) {
	var slug protocol.Slug
	if r.Topic != "" {
		if slug, err = protocol.SlugOf(r.Topic); err != nil {
			return nil, control.Errorf(control.KindUsage, "", "%v", err)
		}
	}
	with := map[string]bool{}
	for _, name := range r.With {
		a, err := protocol.ParseAddress(name)
		if err != nil {
			return nil, control.Errorf(control.KindUsage, "", "cannot work with %q: %v", name, err)
		}
		with[a.Name] = false
	}
	var known []string
	c.Folded(func(s *fleet.State) {
		for _, f := range c.of(s, who.Me, "", false) {
			other := f.topic.Other(who.Me)
			known = append(known, other+" "+fmt.Sprintf("%q", f.topic.Name))
			_, asked := with[other]
			if len(with) > 0 && !asked || slug != "" && f.topic.Slug != slug {
				continue
			}
			if asked {
				with[other] = true
			}
			ch := c.checking(s, by, who, f.topic, r.Wait)
			ch.persist = ch.persist || r.Persist
			checks = append(checks, ch)
		}
	})
	slices.SortFunc(checks, func(a, b *checking) int {
		return cmp.Or(cmp.Compare(a.event.With, b.event.With), cmp.Compare(a.topic.Slug, b.topic.Slug))
	})
	slices.Sort(known)
	var none []string
	for name, found := range with {
		if !found {
			none = append(none, name)
		}
	}
	slices.Sort(none)
	open := "open are: " + strings.Join(known, ", ")
	switch {
	case len(known) == 0:
		return nil, control.Errorf(control.KindNotFound, "open one: parley work-with PARTNER \"topic\"", "%s works on no topic with anybody", who.Me)
	case len(none) > 0 && slug != "":
		return nil, control.Errorf(control.KindNotFound, open, "no topic %q of %s is open with %s", r.Topic, who.Me, strings.Join(none, ", "))
	case len(none) > 0:
		return nil, control.Errorf(control.KindNotFound, open, "%s works on no topic with %s", who.Me, strings.Join(none, ", "))
	case len(checks) == 0:
		return nil, control.Errorf(control.KindNotFound, open, "no topic %q of %s is open", r.Topic, who.Me)
	}
	return checks, nil
}

// checking is a check of a topic that is not sent yet, with the way by which it goes and how long
// it is waited for. It is asked while the state is read.
func (c *Collab) checking(s *fleet.State, by control.Caller, who Acting, t topics.Topic, wait time.Duration) *checking {
	b := c.with(s, who.Me, t.Other(who.Me))
	ch := &checking{by: by, who: who, topic: t, window: c.window(s, t, b), wait: cmp.Or(wait, waitOtherHost), event: control.SyncEvent{
		Via: who.Me, With: t.Other(who.Me), Topic: t.Name, Transport: control.ByRecord,
	}}
	switch {
	case b.host != "" && !b.cross:
		ch.event.Transport, ch.wait = control.BySameHost, cmp.Or(wait, waitSameHost)
	case slices.ContainsFunc(s.People.ServedOn(ch.event.With), c.Live):
		ch.event.Transport = control.ByOtherHost
	case onlyByIssue(t, b):
		ch.event.Transport, ch.persist = control.ByIssue, true
	}
	return ch
}

// lateOf is the result of the last check that the agent has made of a topic, if it came when nobody
// waited for it any more.
func (c *Collab) lateOf(ch *checking) (e control.SyncEvent, late bool) {
	for _, old := range slices.Backward(ch.topic.Checks) {
		if old.By != ch.event.Via {
			continue
		}
		byIssue := ch.event.Transport == control.ByIssue // there nobody waits, and nothing is late (R25)
		if old.Result == nil || !byIssue && !c.wasLate(old, side{old.Path.Channel(), old.By}, ch.event.Transport == control.BySameHost) {
			return e, false
		}
		e = ch.event
		e.Kind, e.Check, e.Took = control.SyncLate, old.Path.String(), control.Seconds(old.Result.Time.Sub(old.Time))
		e.Result = c.outcome(ch.topic, ch.event.Via, old.Result)
		e.Result.Late = !byIssue
		return e, true
	}
	return e, false
}

// wasLate reports whether a check was waited for in vain before its result came. A node that was
// started anew does not know that, and judges by the usual time.
func (c *Collab) wasLate(check *topic.Check, of side, sameHost bool) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	usual := waitOtherHost
	if sameHost {
		usual = waitSameHost
	}
	return c.silent[of] == check.Path || check.Result.Time.Sub(check.Time) > usual
}

type side struct {
	channel protocol.ChannelID
	me      string
}

// syncing is one call of Sync: checks of these claims that are sent and waited for.
type syncing struct {
	*Collab
	claims []string // those of the call, in addition to those of each topic
	checks []*checking
	yield  func(control.SyncEvent) error
}

// readIssues reads what is new on the issues of the topics, at the same time. An answer in a comment
// is in its topic then.
func (y syncing) readIssues(ctx context.Context) {
	var reading sync.WaitGroup
	for _, ch := range y.checks {
		reading.Go(func() { // ends with issuePatience
			if ch.event.Issue, ch.heard = y.Posts.news(ctx, ch.topic, ch.who.Me); ch.event.Issue != nil {
				y.Folded(func(s *fleet.State) { ch.topic = y.topic(s, ch.topic.Opened.Channel().String(), y.policy(s)) })
			}
		})
	}
	reading.Wait()
}

// sendAll sends the checks, at the same time.
func (y syncing) sendAll(ctx context.Context) {
	var sending sync.WaitGroup
	for _, ch := range y.checks {
		sending.Go(func() {
			if err := y.send(ctx, ch); err != nil {
				ch.event.Kind, ch.event.Problem, ch.done = control.SyncRefused, err.Error(), true
				return
			}
			y.tellIssue(ctx, ch)
			ch.sent = time.Now()
			ch.event.Kind, ch.event.Until = control.SyncSent, y.Now().Add(ch.wait).UTC()
		})
	}
	sending.Wait()
}

// send puts the claims of a topic to the other participant.
func (y syncing) send(ctx context.Context, ch *checking) error {
	if !ch.topic.Derived {
		return control.Errorf(control.KindRefused, "", "%q is in a channel that somebody chose by hand: open it anew", ch.topic.Name)
	}
	paths, err := y.Do(ctx, ch.by, y.speaker(ch.who, ch.event.With, ch.topic.Name).Check(y.claims, ch.window, ch.heard))
	if err != nil {
		return writing.Problem(fmt.Sprintf("check %q", ch.topic.Name), err)
	}
	ch.before, ch.path = ch.path, paths[0]
	ch.event.Check = ch.path.String()
	return nil
}

// tellIssue tells a check that was sent on its issue, if it is to be there. If the issue is the
// only way to the other participant, nobody waits: the next check reads the answer. If it cannot be
// told there, the record is all that is left.
func (y syncing) tellIssue(ctx context.Context, ch *checking) {
	if !ch.persist {
		return
	}
	ch.event.Comment = y.Posts.persist(ctx, ch.topic, ch.who, []protocol.Path{ch.path})
	if ch.event.Transport == control.ByIssue {
		if ch.done = ch.event.Comment.Skipped == ""; !ch.done {
			ch.event.Transport = control.ByRecord
		}
	}
}

// await tells the results as they come, and who has not answered in time.
func (y syncing) await(ctx context.Context, came *feed.Feed[protocol.Path]) error {
	all := true // what came while others were sent is in no later message
	news := map[protocol.ChannelID]bool{}
	for {
		for _, ch := range y.checks {
			if ch.done || !all && !news[ch.path.Channel()] && time.Since(ch.sent) < ch.wait {
				continue
			}
			told, err := y.tell(ctx, ch)
			if err != nil && ctx.Err() == nil { // the others are waited for all the same
				ch.event.Kind, ch.event.Problem, ch.done, told, err = control.SyncRefused, err.Error(), true, true, nil
			}
			if told && err == nil {
				err = y.yield(ch.event)
			}
			if err != nil {
				return err
			}
		}
		next, waits := soonest(y.checks)
		if !waits {
			return nil
		}
		timer := time.NewTimer(next)
		all = false
		clear(news)
		select {
		case <-came.Wake():
			paths, missed := came.Drain()
			all = missed > 0
			for _, p := range paths {
				news[p.Channel()] = true
			}
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		timer.Stop()
	}
}

// soonest is how long it takes until the next check has been waited for in vain.
func soonest(checks []*checking) (next time.Duration, waits bool) {
	for _, c := range checks {
		if left := max(0, c.wait-time.Since(c.sent)); !c.done && (!waits || left < next) {
			next, waits = left, true
		}
	}
	return next, waits
}

// tell looks whether a check is over, by a result or because its time is over, and says so in its
// event. In both cases it then asks about what should be asked again (R29).
func (y syncing) tell(ctx context.Context, ch *checking) (told bool, err error) {
	var result *topic.Result
	var words *fleet.Item // an answer that is no result
	y.Folded(func(s *fleet.State) {
		t := y.topic(s, ch.path.Channel().String(), y.policy(s))
		for _, check := range t.Checks {
			if check.Result != nil && (check.Path == ch.path || check.Path == ch.before) {
				result, ch.topic = check.Result, t
			}
		}
		if it, answered := s.Talk.FirstAnswer(ch.path); answered && it.Act != protocol.ActSyncResult && it.Author().Name == ch.event.With {
			words = it
		}
	})
	over := time.Since(ch.sent) >= ch.wait
	ch.event.Took = control.Seconds(time.Since(ch.sent))
	switch {
	case result == nil && words == nil && !over:
		return false, nil
	case result == nil && words != nil:
		return true, y.inWords(ctx, ch, words, over)
	}
	ch.done, ch.event.Problem = true, ""
	if result == nil {
		ch.event.Kind = control.SyncTimeout
		y.mu.Lock()
		y.silent[side{ch.path.Channel(), ch.who.Me}] = ch.path
		y.mu.Unlock()
	} else {
		ch.event.Kind, ch.event.Result = control.SyncResult, y.outcome(ch.topic, ch.who.Me, result)
	}
	if ch.event.Validate, err = y.validate(ctx, ch.by, ch.who, ch.path.Channel(), ch.window, false); err != nil {
		ch.event.Problem = "cannot ask whether what was agreed still holds: " + err.Error() // it is a result all the same
	}
	return true, ctx.Err()
}

// inWords notes an answer that is no result. The form is asked for once more (R65), unless a
// command failed: that is tried again elsewhere.
func (y syncing) inWords(ctx context.Context, ch *checking, words *fleet.Item, over bool) error {
	ch.event.Kind, ch.event.Problem = control.SyncProse, words.Path.String()
	if words.Act == protocol.ActFailed {
		ch.event.Kind = control.SyncFailed
	}
	if ch.done = ch.again || over || ch.event.Kind == control.SyncFailed; ch.done {
		return nil
	}
	ch.again = true
	return y.send(ctx, ch)
}

// outcome is a result in the form in which it is shown to `me`.
func (c *Collab) outcome(t topics.Topic, me string, r *topic.Result) *control.SyncOutcome {
	o := &control.SyncOutcome{Result: *r, Groupthink: r.Groupthink()}
	c.Folded(func(s *fleet.State) { o.Lambda = c.with(s, me, t.Other(me)).lambda })
	worth := func(raw protocol.Score) protocol.Score { return o.Lambda.Worth(raw, r.Time, c.Now()) }
	o.Decayed, o.Status = worth(r.Raw), topic.StatusOf(r.Raw)
	for _, row := range r.Rows {
		o.Rows = append(o.Rows, control.SyncLine{Row: row, Raw: row.Score, Decayed: worth(row.Score)})
	}
	return o
}

// validate asks the other participant about agreements that should be asked about again, and
// returns their labels. It is called after a check, or when a session ends (R29).
func (c *Collab) validate(ctx context.Context, by control.Caller, who Acting, channel protocol.ChannelID, window time.Duration, forward bool) (asked []string, err error) {
	var t topics.Topic
	var due []topics.Due
	c.Folded(func(s *fleet.State) {
		t = c.topic(s, channel.String(), c.policy(s))
		contacts, _ := c.contacts.between(s, who.Me, t.Other(who.Me))
		due = t.DueValidations(who.Me, contacts, c.Now(), forward)
	})
	for _, d := range due {
		label := d.Item.Label.String()
		_, err := c.Do(ctx, by, c.speaker(who, t.Other(who.Me), t.Name).Validate(label, d.Milestone, window))
		var refused *fleet.Refusal
		switch {
		case err == nil:
			asked = append(asked, label)
		case !errors.As(err, &refused): // somebody who was asked in the meantime need not be asked again
			return asked, err
		}
	}
	return asked, nil
}
