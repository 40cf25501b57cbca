package serving

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	affairs "github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/writing"
	"github.com/parleyfleet/parley/protocol"
)

// claims settle with the other hosts which of them does a piece of work (R7). They are for mail for
// which no instance was chosen, for the work of a host that is gone, and for work of this host if
// others may have taken it for gone, or may do so before the work is done. A claim is a ref at the
// remote. The host that has it fetches what was said until then, and does the work if it is still to
// be done. Mail with a chosen instance, or with only one host that serves the agent, needs no claim.
type claims struct {
	*Options
	doors *doors
	vigil *vigil
	wake  chan struct{} // holds a token if there is something to settle

	mu    sync.Mutex // guards what follows
	works map[work]*claiming
	order []work // work to be claimed, in the order in which it came
	moved bool   // hosts may serve other agents now
	left  []abandonment
	owed  map[work]time.Time // mail of this host to names that no host has any more, and when it is given up; see unserved.go
	tidy  time.Time
	vain  map[protocol.Name]orphanSearch // by agent
}

// orphanSearch says for what work of hosts that are gone an agent's mail was looked through.
type orphanSearch struct {
	gone     []protocol.Name
	agent    configs.Agent
	messages int // how many messages the record had

	claimed []abandonment // the part of that work that others had claimed
}

// repeats reports whether a search cannot find more than the search `before`.
func (s orphanSearch) repeats(before orphanSearch) bool {
	return s.messages == before.messages && slices.Equal(s.gone, before.gone) && reflect.DeepEqual(s.agent, before.agent)
}

// work is an agent's work on a message, of one epoch.
type work struct {
	path  protocol.Path
	agent string
	epoch int
}

func (w work) name() string { return protocol.ClaimName(w.path, w.agent, w.epoch) }

type claiming struct {
	work    work
	from    protocol.Name // the host whose work it is
	since   time.Time
	queued  bool      // it is in `order`
	asked   time.Time // when it was last tried
	failed  bool      // nobody knows who has it; it is tried again
	trouble error     // the reason, if that is a trouble
	lost    bool      // another host has it
}

const (
	claimsLook  = 5 * time.Second // time between looks at which hosts are there
	claimsBatch = 64              // claims that share one fetch
	// claimKept is how long a claim that no longer matters stays at the remote, so that people can
	// see it.
	claimKept = 7 * 24 * time.Hour
	claimTidy = time.Hour // time between looks for such claims
	// claimTidyAgain is the time until the next look if the remote did not let a claim be given up,
	// or if it could not be found out which ones may be.
	claimTidyAgain = time.Minute
	lostLong       = time.Minute
)

func newClaims(o *Options, v *vigil, d *doors) *claims {
	return &claims{Options: o, doors: d, vigil: v, wake: make(chan struct{}, 1), works: map[work]*claiming{}, owed: map[work]time.Time{}, moved: true}
}

func (c *claims) start() (stop func()) {
	return wait.Background(c.vigil.keep, func(ctx context.Context) {
		ticker := time.NewTicker(claimsLook)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-c.wake:
				if c.hasMoved() {
					c.look(ctx)
				}
			case <-ticker.C:
				c.look(ctx)
			}
			c.settle(ctx)
		}
	})
}

// due reports whether an agent's work here must be claimed before it is begun. If so, it has it
// claimed. It is asked while the state is read.
func (c *claims) due(s *fleet.State, it *fleet.Item, a configs.Agent) bool {
	who := fleet.Who{Name: a.Name.String(), Host: c.Host}
	if !s.Talk.ClaimDue(it, who) && !c.doubtful(s, it, who, a) {
		return false
	}
	if run := s.Run(it.Path, who.Name); run.Claim == nil || run.Claim.Host == c.Host { // otherwise another host has it
		c.want(work{it.Path, who.Name, run.Retries}, c.Host)
	}
	return true
}

// hold has work claimed that was begun without a claim and lasts, once others may take this host for
// gone. It does so before they may take the work over.
func (c *claims) hold(a configs.Agent) {
	c.Folded(func(s *fleet.State) {
		for _, p := range append(c.doors.working(a.Name), c.Sessions.TakenOf(a.Name.String())...) {
			if it, there := s.Ledger.Item(p); there {
				c.due(s, it, a)
			}
		}
	})
}

// settling reports whether an agent's work here is being claimed. It is asked while the state is
// read.
func (c *claims) settling(s *fleet.State, it *fleet.Item, a configs.Agent) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.works[work{it.Path, a.Name.String(), s.Run(it.Path, a.Name.String()).Retries}] != nil
}

// doubtful reports whether another host may have taken this host for gone and claimed its work, and
// whether nobody here knows.
func (c *claims) doubtful(s *fleet.State, it *fleet.Item, who fleet.Who, a configs.Agent) bool {
	after := cmp.Or(a.TakeoverAfter, protocol.DefaultTakeover)
	if after == protocol.NoTakeover {
		return false
	}
	c.vigil.look()
	for _, other := range s.Talk.ServedOn(it, who.Name) {
		if other == c.Host || !c.vigil.missed(other, after/2, it.Timestamp) {
			continue
		}
		if _, mayTake := takeover(s, other, who.Name); mayTake {
			return !s.Talk.Claimed(it, who)
		}
	}
	return false
}

// takeover is what a host has said about the takeover of the agent's work there. It is asked while
// the state is read.
func takeover(s *fleet.State, host protocol.Name, agent string) (after time.Duration, ok bool) {
	h, joined := s.Keys().Host(host)
	if !joined {
		return 0, true
	}
	served, serves := h.Serves(agent)
	if !serves || h.Out() {
		return 0, true // it no longer serves the agent, so nobody waits for it
	}
	return served.Takeover()
}

// want has work claimed, unless that is under way.
func (c *claims) want(w work, from protocol.Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.works[w] != nil {
		return
	}
	c.works[w] = &claiming{work: w, from: from, since: c.Now(), queued: true}
	c.order = append(c.order, w)
	wait.Nudge(c.wake)
}

// again has claims tried again about which nobody knows. Now and then it does so for claims that
// another host had: that host may have given them up.
func (c *claims) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w, at := range c.works {
		if !at.queued && (at.failed || at.lost && c.Now().Sub(at.asked) >= lostLong) {
			at.queued = true
			c.order = append(c.order, w)
			wait.Nudge(c.wake)
		}
	}
}

// rosterMoved says that a host may now serve other agents. It may be called while the state is
// read.
func (c *claims) rosterMoved() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.moved = true
	wait.Nudge(c.wake)
}

func (c *claims) hasMoved() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.moved
}

// attended reports whether there is a session of an agent that asks for its mail.
func (c *claims) attended(agent protocol.Name) bool {
	state, _ := c.Sessions.At(agent, c.Roster.Asked(agent))
	return state != control.AgentAway
}

// look has the work of hosts that are gone claimed, and work of this host if others may take it for
// gone. It forgets what is done. It returns the number of agents whose mail was looked through.
func (c *claims) look(ctx context.Context) (searched int) {
	c.vigil.look()
	c.mu.Lock()
	moved, before := c.moved, c.vain
	c.moved = false
	c.mu.Unlock()
	if moved {
		c.doors.fillAll("") // work that another host had to do by the rule may now be this host's
		c.oweLately()
	}
	c.forget()
	c.giveUpUnserved(ctx)
	c.again()
	vain := map[protocol.Name]orphanSearch{}
	var left []abandonment
	defer func() { c.leave(left) }()
	for _, a := range c.Roster.All() {
		c.hold(a)
		if a.Paused || a.Door == configs.DoorInbox && !c.attended(a.Name) {
			continue // nobody here would read what is taken over, and the host that serves it may come back
		}
		orphans, looked := c.orphans(a, before[a.Name])
		if len(looked.gone) > 0 && !looked.repeats(before[a.Name]) {
			searched++
		}
		left = append(left, looked.claimed...)
		old, wanted := func(protocol.Path) bool { return true }, false
		if len(orphans) > 0 {
			old = c.doors.older(a)
		}
		for _, o := range orphans {
			if o.again || !old(o.work.path) {
				c.want(o.work, o.from)
				wanted = true
			}
		}
		if !wanted {
			vain[a.Name] = looked
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.vain = vain
	return searched
}

// orphan is work of a host that is gone.
type orphan struct {
	work  work
	from  protocol.Name
	again bool // somebody has it tried again, whatever its age
}

// orphans are messages for an agent of this host whose hosts are gone. `looked` says for what work
// the agent's mail was looked through. Nobody may take over what such a host has claimed. As long
// as no host is gone, nothing is looked through. If a search found nothing, it is not repeated: a
// host that was removed is gone for ever.
func (c *claims) orphans(a configs.Agent, vain orphanSearch) (all []orphan, looked orphanSearch) {
	who := fleet.Who{Name: a.Name.String(), Host: c.Host}
	c.Folded(func(s *fleet.State) {
		looked = orphanSearch{gone: c.goneHosts(s, who, a), agent: a, messages: s.Ledger.Len()}
		switch {
		case len(looked.gone) == 0:
			return
		case looked.repeats(vain):
			looked.claimed = vain.claimed
			return
		}
		looked.claimed = c.unservedClaims(s, who, a)
		gone := map[protocol.Name]bool{}
		for it, host := range s.Talk.Elsewhere(who, limitsOf(a, c.Config.MaxHops)) {
			is, known := gone[host]
			if !known {
				is = c.isGone(s, host, who.Name, a)
				gone[host] = is
			}
			run := s.Run(it.Path, who.Name)
			if is && run.Claim != nil && run.Claim.Host == host {
				looked.claimed = append(looked.claimed, claimedBy(run))
			}
			if !is || run.Claim != nil && run.Claim.Host == host {
				continue // only a human's word ends what a host has claimed
			}
			all = append(all, orphan{work{it.Path, who.Name, run.Retries}, host, run.Again != nil})
		}
	})
	return all, looked
}

// goneHosts are the hosts that have ever served an agent and are gone. It is asked while the state
// is read.
func (c *claims) goneHosts(s *fleet.State, who fleet.Who, a configs.Agent) []protocol.Name {
	return slices.DeleteFunc(c.hostsOnce(s, who.Name), func(h protocol.Name) bool { return !c.isGone(s, h, who.Name, a) })
}

// hostsOnce are the other hosts that have ever served an agent.
func (c *claims) hostsOnce(s *fleet.State, agent string) (hosts []protocol.Name) {
	for _, h := range s.Keys().AllHosts() {
		if h.Alias != c.Host && h.Declared(agent) != nil {
			hosts = append(hosts, h.Alias)
		}
	}
	return hosts
}

// isGone reports whether this host may take over an agent's work at a host: that host no longer
// serves the agent, or it was not heard for longer than both hosts say. It is asked while the state
// is read.
func (c *claims) isGone(s *fleet.State, host protocol.Name, agent string, a configs.Agent) bool {
	after, ok := takeover(s, host, agent)
	switch {
	case !ok || a.TakeoverAfter == protocol.NoTakeover:
		return false
	case after == 0:
		return true
	}
	after = max(after, cmp.Or(a.TakeoverAfter, protocol.DefaultTakeover))
	var wrote protocol.Path
	if last, ok := s.Chains.LastOf(host); ok {
		wrote = last.Path
	}
	return c.vigil.silent(host, wrote) >= after
}

// forget forgets claims of work that is done, or that now belongs to another host.
func (c *claims) forget() {
	c.mu.Lock()
	all := slices.Collect(maps.Keys(c.works))
	c.mu.Unlock()
	var over []work
	c.Folded(func(s *fleet.State) {
		over = slices.DeleteFunc(all, func(w work) bool { return c.Roster.Serves(w.agent) && c.unsaid(s, w) })
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range over {
		delete(c.works, w)
	}
	c.order = slices.DeleteFunc(c.order, func(w work) bool { return c.works[w] == nil })
}

// unsaid reports whether work is still to be done, and no host has said that it has claimed it. It
// is asked while the state is read.
func (c *claims) unsaid(s *fleet.State, w work) bool {
	it, there := s.Ledger.Item(w.path)
	run := s.Run(w.path, w.agent)
	return there && run.Retries == w.epoch && run.Dead == nil && run.Claim == nil && !s.Talk.ReadBy(it, fleet.Who{Name: w.agent, Host: c.Host})
}

// settle makes the claims that are wanted.
func (c *claims) settle(ctx context.Context) {
	for ctx.Err() == nil {
		batch := c.next()
		if len(batch) == 0 {
			break
		}
		c.claim(ctx, batch)
		c.doors.Nudge()
	}
	c.tidyUp(ctx)
}

// next are the claims to make now. A claim about which nobody knows is tried again at the next
// look.
func (c *claims) next() []*claiming {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.order), claimsBatch)
	var batch []*claiming
	for _, w := range c.order[:n] {
		if at := c.works[w]; at != nil {
			at.queued, at.failed, at.asked = false, false, c.Now()
			batch = append(batch, at)
		}
	}
	c.order = c.order[n:]
	return batch
}

// claim claims work. Work that this host gets is begun only after what others said until then was
// fetched: somebody may have done it before.
func (c *claims) claim(ctx context.Context, batch []*claiming) {
	var mine []*claiming
	for _, at := range batch {
		w := at.work
		got, err := c.Record.Claim(ctx, w.name(), protocol.RunClaim.Format(protocol.RunClaimed{Of: w.path, Agent: w.agent, Epoch: w.epoch, From: at.from}))
		switch {
		case err != nil:
			c.failed(at, err)
		case got:
			mine = append(mine, at)
		default:
			c.lost(at)
		}
	}
	if len(mine) == 0 {
		return
	}
	if err := c.Record.Fetch(ctx); err != nil {
		for _, at := range mine {
			c.failed(at, err)
		}
		return
	}
	for _, at := range mine {
		if err := c.take(ctx, at.work, at.from); err != nil {
			c.failed(at, err)
		}
	}
}

// take says in the record that this host has claimed the work, if it is still to be done.
func (c *claims) take(ctx context.Context, w work, from protocol.Name) error {
	c.vigil.look()
	unsaid, others := false, false
	c.Folded(func(s *fleet.State) {
		unsaid = c.unsaid(s, w)
		a, err := c.Roster.Get(w.agent)
		// Its host has come back in the meantime, or the agent is no longer served here.
		others = err != nil || from != c.Host && !c.isGone(s, from, w.agent, a)
	})
	switch {
	case !unsaid:
		c.done(w)
		return nil
	case others:
		c.done(w)
		c.giveBack(ctx, w)
		return nil
	}
	_, err := c.Do(ctx, affairs.Take(c.Host, w.path, w.agent, w.epoch, from))
	if writing.IsRefusal(err) {
		c.Log.Info().Err(err).Str("agent", w.agent).Stringer("path", w.path).Msg("claimed, and not to be done any more")
		err = nil
	}
	if err == nil {
		c.done(w)
		c.Log.Info().Str("agent", w.agent).Stringer("path", w.path).Stringer("from", from).Msg("claimed")
	}
	return err
}

// giveBack gives up a claim of work that others have to do. If the remote does not accept that, it
// is tried again later.
func (c *claims) giveBack(ctx context.Context, w work) {
	if err := c.Record.Unclaim(ctx, w.name()); err != nil {
		c.Log.Info().Err(err).Str("agent", w.agent).Stringer("path", w.path).Msg("a claim of what others are to do stays at the remote for now")
		c.tidySoon()
	}
}

func (c *claims) done(w work) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.works, w)
}

func (c *claims) lost(at *claiming) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at.lost, at.trouble = true, nil // until somebody asks for it again
}

// failed notes why nobody knows which host has claimed the work. It is tried again at the next
// look.
func (c *claims) failed(at *claiming, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at.failed = true
	if errors.Is(err, context.Canceled) {
		return // somebody has ended the request, such as a node that stops
	}
	if at.trouble == nil {
		c.Log.Warn().Err(err).Str("agent", at.work.agent).Stringer("path", at.work.path).Msg("mail waits for its claim")
	}
	at.trouble = err
}

// tidyUp gives up claims that are no longer of use: claims of work that others have to do, and old
// claims. Nobody can do that work again because of it: a host that claims it later fetches first,
// and finds what was done.
func (c *claims) tidyUp(ctx context.Context) {
	c.mu.Lock()
	now := c.Now()
	dueNow := now.Sub(c.tidy) >= claimTidy
	if dueNow {
		c.tidy = now
	}
	c.mu.Unlock()
	if !dueNow {
		return
	}
	if r := c.Record.Status(); r.Remote == "" || r.Trouble.Kind != gitsync.KindNone || r.Unrecorded+r.Unpushed > 0 {
		c.tidySoon() // the remote may not know what was done
		return
	}
	all, err := c.Record.Claims()
	if err != nil {
		c.Log.Warn().Err(err).Msg("old claims stay at the remote")
		return
	}
	for _, old := range all {
		age := now.Sub(old.Time)
		if !(age >= lostLong && c.leftOver(old) || age >= claimKept && c.useless(old)) {
			continue
		}
		if err := c.Record.Unclaim(ctx, old.Name); err != nil {
			c.Log.Debug().Err(err).Msg("an old claim stays at the remote")
			c.tidySoon()
			return
		}
	}
}

// tidySoon has useless claims looked for again in a while.
func (c *claims) tidySoon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tidy = c.Now().Add(claimTidyAgain - claimTidy)
}

// leftOver reports whether a claim is of work that no host says it has, and that this host is not
// about to take. Such a claim is left if this host could not give it up, or ended before it did.
func (c *claims) leftOver(old gitsync.Claimed) (left bool) {
	said, err := protocol.RunClaim.Parse(old.Text)
	if err != nil {
		return false
	}
	w := work{said.Of, said.Agent, said.Epoch}
	c.Folded(func(s *fleet.State) { left = c.unsaid(s, w) })
	c.mu.Lock()
	defer c.mu.Unlock()
	return left && c.works[w] == nil
}

// useless reports whether a claim no longer matters: its work is done, or was tried again since.
func (c *claims) useless(old gitsync.Claimed) (useless bool) {
	said, err := protocol.RunClaim.Parse(old.Text)
	if err != nil {
		return false
	}
	c.Folded(func(s *fleet.State) {
		it, there := s.Ledger.Item(said.Of)
		useless = there && (s.Run(said.Of, said.Agent).Retries > said.Epoch || s.Talk.ReadBy(it, fleet.Who{Name: said.Agent, Host: c.Host}))
	})
	return useless
}

// warnings are what status says of mail that waits for a claim.
func (c *claims) warnings() (all []string) {
	abandoned := c.abandoned()
	all = c.abandonedWarnings(abandoned)
	given := map[work]bool{}
	for _, a := range abandoned {
		given[a.work] = true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	waiting, example := map[string]int{}, map[string]error{}
	for w, at := range c.works {
		switch {
		case at.trouble != nil:
			waiting[w.agent]++
			example[w.agent] = at.trouble
		case at.lost && c.Now().Sub(at.since) > lostLong && !given[w]:
			all = append(all, fmt.Sprintf("%s waits: another host has claimed it for %s, and has not said so yet", w.path, w.agent))
		}
	}
	for agent, n := range waiting {
		what := "a message"
		if n > 1 {
			what = fmt.Sprintf("%d messages", n)
		}
		all = append(all, fmt.Sprintf("%s for %s, which several hosts serve, must be claimed before anybody runs it (%v); it is tried again", what, agent, example[agent]))
	}
	slices.Sort(all)
	return all
}
