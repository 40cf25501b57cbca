package gitsync

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/gitsync/carrier"
	"github.com/parleyfleet/parley/gitsync/objects"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/redact"
	"github.com/parleyfleet/parley/internal/visible"
)

// contact is what is known of the remote: when it was reached, and what trouble there is
// with it.
type contact struct {
	remote  func() string              // as configured
	dir     string                     // record.git
	lacking func(said string) []string // the files that a text names, and that the remote lacks
	now     func() time.Time
	tell    *teller
	log     zerolog.Logger

	mu                        sync.Mutex // guards the fields below
	lastFetch, lastPush       time.Time
	pushCount, rejected       int       // pushes that the remote took, and pushes that came after somebody else's
	fetchTrouble, pushTrouble *Trouble  // why the last fetch or push failed, or nil
	usable                    time.Time // since when the remote can be used again
}

// fetched notes how a fetch ended.
func (c *contact) fetched(err error) { c.note(err, &c.lastFetch, &c.fetchTrouble) }

func (c *contact) pushed(err error) { c.note(err, &c.lastPush, &c.pushTrouble) }

// note keeps the outcome of a fetch or push for Status. The log and Events.Trouble get it only when
// the kind of trouble changes, not at each try.
func (c *contact) note(err error, when *time.Time, at **Trouble) {
	if errors.Is(err, context.Canceled) {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	before := worst(c.fetchTrouble, c.pushTrouble)
	first := err == nil && c.lastFetch.IsZero()
	if err == nil {
		*when = c.now()
		if t := c.pushTrouble; t != nil && (t.Kind == KindUnreachable || *at != nil && t.Kind == (*at).Kind) {
			c.pushTrouble = nil // the remote was reached now, or what kept us from fetching is over
		}
		*at = nil
	} else {
		t := &Trouble{Text: carrier.Whole(err), Pushing: at == &c.pushTrouble, Since: c.now()}
		t.Kind, t.Advice = c.kindOf(err)
		if *at != nil && (*at).Kind == t.Kind {
			t.Since = (*at).Since
		}
		*at = t
	}
	now := worst(c.fetchTrouble, c.pushTrouble)
	switch {
	case before.Kind != now.Kind:
		if now.Kind == KindNone {
			c.usable = time.Now()
		}
		c.logTrouble(now)
		c.tell.trouble(now)
	case first:
		c.tell.trouble(now)
	}
}

// cleared notes that what the remote refused is out of what is pushed. Perhaps another host pushes
// the rest, so that no push of this one says so.
func (c *contact) cleared() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.pushTrouble; t != nil && t.Kind == KindContent {
		c.pushTrouble = nil
		c.tell.trouble(worst(c.fetchTrouble, nil))
	}
}

// worst is the trouble with the remote: that of fetching or, if there is none, that of pushing. If
// both are of the same kind, it began with the earlier one.
func worst(fetch, push *Trouble) Trouble {
	switch {
	case fetch == nil && push == nil:
		return Trouble{}
	case fetch == nil:
		return *push
	}
	t := *fetch
	if push != nil && push.Kind == t.Kind && push.Since.Before(t.Since) {
		t.Since = push.Since
	}
	return t
}

func (c *contact) logTrouble(t Trouble) {
	if t.Kind == KindNone {
		c.log.Info().Msg("the remote can be used again")
		return
	}
	c.log.Warn().Str("remote", redact.Remote(c.remote())).Str("kind", string(t.Kind)).Msg(t.Text)
}

// nextTry notes for Status that what failed is tried again after a pause.
func (c *contact) nextTry(at **Trouble, pause time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if *at != nil {
		(*at).Next = c.now().Add(pause)
	}
}

// countPush counts a push that ended with err for Status.
func (c *contact) countPush(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.pushCount++
	case errors.Is(err, carrier.ErrRejected):
		c.rejected++
	}
}

// works reports whether the remote was reached and the last fetch worked. If there was a push, the
// last one must have worked too.
func (c *contact) works() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.lastFetch.IsZero() && c.fetchTrouble == nil && c.pushTrouble == nil
}

// usableSince is when a trouble with the remote was last over; zero before any.
func (c *contact) usableSince() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.usable
}

// report fills in what a status says about the remote.
func (c *contact) report(s *Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.LastFetch, s.LastPush, s.Pushes, s.Rejected = c.lastFetch, c.lastPush, c.pushCount, c.rejected
	s.Trouble = worst(c.fetchTrouble, c.pushTrouble)
}

// kindOf says which kind of trouble a failed fetch or push is, and what to do about it. It ignores
// the name of the remote, which says nothing about it.
func (c *contact) kindOf(err error) (Kind, string) {
	if unusable := new(UnusableError); errors.As(err, &unusable) {
		return KindUnusable, strings.NewReplacer("URL", redact.Remote(c.remote()), "COMMIT", unusable.Commit).Replace(advices[KindUnusable])
	}
	for _, known := range []struct {
		err  error
		kind Kind
	}{{ErrForeign, KindForeign}, {objects.ErrHuge, KindHuge}, {ErrUnfit, KindUnfit}} {
		if errors.Is(err, known.err) {
			advice := advices[known.kind]
			if much := new(tooMuch); errors.As(err, &much) {
				advice = strings.NewReplacer("RECORD", visible.Shell(c.dir), "COMMIT", much.commit.String()).Replace(advice)
			}
			return known.kind, advice
		}
	}
	if renamed := new(renamedError); errors.As(err, &renamed) {
		return KindRenamed, strings.Replace(advices[KindRenamed], "BRANCH", visible.Shell(renamed.branch), 1)
	}
	text := err.Error()
	pushing := strings.HasPrefix(text, "cannot push")
	said := carrier.Output(err)
	unnamed := said
	address, _ := gitremote.Split(c.remote())
	for _, name := range []string{c.remote(), address, redact.Remote(c.remote())} {
		if name != "" {
			text, unnamed = strings.ReplaceAll(text, name, ""), strings.ReplaceAll(unnamed, name, "")
		}
	}
	kind, advice := kindOfText(text, unnamed, pushing)
	if host, _, ok := gitremote.Host(c.remote()); ok && kind == KindUnreachable {
		advice = "start " + host + ", or share the record through a git repository: parley fleet remote set REPOSITORY"
	}
	files := "PATH"
	if kind == KindContent && pushing {
		files = cmp.Or(strings.Join(c.lacking(said), " "), files)
	}
	return kind, strings.NewReplacer("URL", redact.Remote(c.remote()), "RECORD", visible.Shell(c.dir), "PATH", files).Replace(advice)
}
