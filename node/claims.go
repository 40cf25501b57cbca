package node

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	affairs "github.com/parleyfleet/parley/fleet/runs"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/folded"
	"github.com/parleyfleet/parley/protocol"
)

// claims settle with the other hosts which of them does a piece of work (R7). That concerns mail
// for which no instance was chosen, and the work of a host that is gone. It also concerns work of
// this host, while others may have taken it for gone. A claim is a ref at the remote. The host
// that has it fetches what was said until then, and does the work if it is still to be done. Mail
// with a chosen instance, or with one host to serve it, needs no claim.
type claims struct {
	claimsOptions
	vigil *vigil
	wake  chan struct{} // holds a token where there is something to settle

	mu    sync.Mutex // guards what follows
	works map[work]*claiming
	order []work // that are to be claimed, as they came
	moved bool   // somebody serves other agents now
	left  []abandonment
	tidy  time.Time
	vain  map[protocol.Name]orphanSearch // by agent
}

// orphanSearch is for what work of hosts that are gone an agent's mail was looked through.
type orphanSearch struct {
	gone     []protocol.Name
	agent    configs.Agent
	messages int // that the record had

	claimed []abandonment // what others had claimed of it
}

// repeats reports whether a search can find no more than one before.
func (s orphanSearch) repeats(before orphanSearch) bool {
	return s.messages == before.messages && slices.Equal(s.gone, before.gone) && reflect.DeepEqual(s.agent, before.agent)
}

// claimsOptions are what claims work with.
type claimsOptions struct {
	host   protocol.Name
	folded folded.State
	now    func() time.Time
	log    zerolog.Logger
	roster *agents.Roster
	limits func(a configs.Agent) fleet.Limits
	// attended says whether a session of an agent is there that asks for its mail.
	attended func(agent protocol.Name) bool
	record   interface {
		Claim(ctx context.Context, name, text string) (bool, error)
		Unclaim(ctx context.Context, name string) error
		Claims() ([]gitsync.Claimed, error)
		Fetch(ctx context.Context) error
		Status() gitsync.Status
	}
	do    func(ctx context.Context, c affair.Command) ([]written, error)
	older func(a configs.Agent) func(protocol.Path) bool // which mail was there before the agent
	fill  func()                                         // has the doors look for mail that they do not know
	nudge func()                                         // has the doors look at what waits
}

// work is an agent's work on a message, of one epoch.
type work struct {
	path  protocol.Path
	agent string
	epoch int
}

func (w work) name() string { return protocol.ClaimName(w.path, w.agent, w.epoch) }

// claiming is how far a claim has come.
type claiming struct {
	from    protocol.Name // whose work it is
	since   time.Time
	queued  bool      // it is among those that are to be claimed
	asked   time.Time // when that was tried last
	failed  bool      // nobody knows who has it; it is tried again
	trouble error     // why, where that is any trouble
	lost    bool      // another host has it
}

const (
	claimsLook  = 5 * time.Second // between looks at who is there
	claimsBatch = 64              // claims that share one fetch
	// claimKept is for how long a claim stays at the remote, for people to see, when
	// nothing can come of it any more.
	claimKept = 7 * 24 * time.Hour
	claimTidy = time.Hour // between looks for such claims
	// claimTidyAgain is when it is looked again where the remote did not take that one is
	// given up, or it could not be told what may be.
	claimTidyAgain = time.Minute
	lostLong       = time.Minute
)

func newClaims(o claimsOptions, v *vigil) *claims {
	return &claims{claimsOptions: o, vigil: v, wake: make(chan struct{}, 1), works: map[work]*claiming{}}
}

// start settles claims until stop.
func (c *claims) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { c.vigil.keep(ctx) })
	running.Go(func() {
		ticker := time.NewTicker(claimsLook)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-c.wake:
				if c.hasMoved() {
					c.look()
				}
			case <-ticker.C:
				c.look()
			}
			c.settle(ctx)
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// due reports whether an agent's work here must be claimed before it is begun, and sees to
// that. It is asked in a look at the state.
func (c *claims) due(s *fleet.State, it *fleet.Item, a configs.Agent) bool {
	who := fleet.Who{Name: a.Name.String(), Host: c.host}
	if !s.Talk.ClaimDue(it, who) && !c.doubtful(s, it, who, a) {
		return false
	}
	if run := s.Run(it.Path, who.Name); run.Claim == nil || run.Claim.Host == c.host { // else that is not to be had
		c.want(work{it.Path, who.Name, run.Retries}, c.host)
	}
	return true
}

// settling reports whether an agent's work here is being claimed. It is asked in a look at
// the state.
func (c *claims) settling(s *fleet.State, it *fleet.Item, a configs.Agent) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.works[work{it.Path, a.Name.String(), s.Run(it.Path, a.Name.String()).Retries}] != nil
}

// doubtful reports whether another host may have taken this one for gone, and so claimed
// its work, and nobody here knows.
func (c *claims) doubtful(s *fleet.State, it *fleet.Item, who fleet.Who, a configs.Agent) bool {
	after := cmp.Or(a.TakeoverAfter, protocol.DefaultTakeover)
	if after == protocol.NoTakeover {
		return false
	}
	c.vigil.look()
	for _, other := range s.Talk.ServedOn(it, who.Name) {
		if other == c.host || !c.vigil.missed(other, after/2, it.Timestamp) {
			continue
		}
		if _, mayTake := takeover(s, other, who.Name); mayTake {
			return !s.Talk.Claimed(it, who)
		}
	}
	return false
}

// takeover is what a host says of the agent's work there, in a look at the state.
func takeover(s *fleet.State, host protocol.Name, agent string) (after time.Duration, ok bool) {
	h, joined := s.Keys().Host(host)
	if !joined {
		return 0, true
	}
	served, serves := h.Serves(agent)
	if !serves || h.Out() {
		return 0, true // it has given the agent up: nobody waits for it
	}
	return served.Takeover()
}

// want has work be claimed, if that is not under way.
func (c *claims) want(w work, from protocol.Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.works[w] != nil {
		return
	}
	c.works[w] = &claiming{from: from, since: c.now(), queued: true}
	c.order = append(c.order, w)
	wait.Nudge(c.wake)
}

// again has claims tried again about which nobody knows and, now and then, those that
// another host had: it may have given them up.
func (c *claims) again() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for w, at := range c.works {
		if !at.queued && (at.failed || at.lost && c.now().Sub(at.asked) >= lostLong) {
			at.queued = true
			c.order = append(c.order, w)
			wait.Nudge(c.wake)
		}
	}
}

// rosterMoved says that a host may serve other agents than before. It may be said in a look
// at the state.
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

// look wants the work of hosts that are gone, and forgets what is done.
func (c *claims) look() {
	c.vigil.look()
	c.mu.Lock()
	moved, before := c.moved, c.vain
	c.moved = false
	c.mu.Unlock()
	if moved {
		c.fill() // what another host was to do by the rule may be this one's now
	}
	c.forget()
	c.again()
	vain := map[protocol.Name]orphanSearch{}
	var left []abandonment
	defer func() { c.leave(left) }()
	for _, a := range c.roster.All() {
		if a.Paused || a.Door == configs.DoorInbox && !c.attended(a.Name) {
			continue // nobody here would read what is taken over, and whoever serves it may come back
		}
		orphans, looked := c.orphans(a, before[a.Name])
		left = append(left, looked.claimed...)
		old, wanted := func(protocol.Path) bool { return true }, false
		if len(orphans) > 0 {
			old = c.older(a)
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
}

// orphan is work of a host that is gone.
type orphan struct {
	work  work
	from  protocol.Name
	again bool // somebody has it tried again, whatever its age
}

// orphans are the messages for an agent of this host whose hosts are gone, and for what it
// was looked. What such a host has claimed is nobody's to take over. As long as no host is
// gone nothing is looked through, and nothing twice where that was in vain: a host that was
// removed is gone for ever.
func (c *claims) orphans(a configs.Agent, vain orphanSearch) (all []orphan, looked orphanSearch) {
	who := fleet.Who{Name: a.Name.String(), Host: c.host}
	c.folded(func(s *fleet.State) {
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
		for it, host := range s.Talk.Elsewhere(who, c.limits(a)) {
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
				continue // what a host has claimed ends by a human's word alone
			}
			all = append(all, orphan{work{it.Path, who.Name, run.Retries}, host, run.Again != nil})
		}
	})
	return all, looked
}

// goneHosts are the hosts that have ever served an agent and are gone. It is asked in a look
// at the state.
func (c *claims) goneHosts(s *fleet.State, who fleet.Who, a configs.Agent) []protocol.Name {
	return slices.DeleteFunc(c.hostsOnce(s, who.Name), func(h protocol.Name) bool { return !c.isGone(s, h, who.Name, a) })
}

// hostsOnce are the other hosts that have ever served an agent.
func (c *claims) hostsOnce(s *fleet.State, agent string) (hosts []protocol.Name) {
	for _, h := range s.Keys().AllHosts() {
		if h.Alias != c.host && h.Declared(agent) != nil {
			hosts = append(hosts, h.Alias)
		}
	}
	return hosts
}

// isGone reports whether an agent's work at a host may be taken over by this one. It may
// where the host has given the agent up, or was not heard for longer than both of them
// say. It is asked in a look at the state.
func (c *claims) isGone(s *fleet.State, host protocol.Name, agent string, a configs.Agent) bool {
	after, ok := takeover(s, host, agent)
	switch {
	case !ok || a.TakeoverAfter == protocol.NoTakeover:
		return false
	case after == 0:
		return true
	}
	after = max(after, cmp.Or(a.TakeoverAfter, protocol.DefaultTakeover))
	var wrote time.Time
	if last, ok := s.Chains.LastOf(host); ok {
		wrote = last.Timestamp
	}
	return c.vigil.silent(host, wrote) >= after
}

// forget forgets claims of work that is done, or that has become another host's.
func (c *claims) forget() {
	c.mu.Lock()
	var all []work
	for w := range c.works {
		all = append(all, w)
	}
	c.mu.Unlock()
	var over []work
	c.folded(func(s *fleet.State) {
		for _, w := range all {
			if !c.open(s, w) {
				over = append(over, w)
			}
		}
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, w := range over {
		delete(c.works, w)
	}
	c.order = slices.DeleteFunc(c.order, func(w work) bool { return c.works[w] == nil })
}

// open reports whether work is still to be done, by anybody. It is asked in a look at the
// state.
func (c *claims) open(s *fleet.State, w work) bool {
	return c.roster.Serves(w.agent) && c.unsaid(s, w)
}

// unsaid reports whether work is still to be done and no host says to have claimed it. It
// is asked in a look at the state.
func (c *claims) unsaid(s *fleet.State, w work) bool {
	it, there := s.Ledger.Item(w.path)
	run := s.Run(w.path, w.agent)
	return there && run.Retries == w.epoch && run.Dead == nil && run.Claim == nil && !s.Talk.ReadBy(it, fleet.Who{Name: w.agent, Host: c.host})
}

// settle makes the claims that are wanted.
func (c *claims) settle(ctx context.Context) {
	for ctx.Err() == nil {
		batch := c.next()
		if len(batch) == 0 {
			break
		}
		c.claim(ctx, batch)
		c.nudge()
	}
	c.tidyUp(ctx)
}

// next are the claims to make now. One about which nobody knows is tried again at the next
// look.
func (c *claims) next() []work {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := min(len(c.order), claimsBatch)
	var batch []work
	for _, w := range c.order[:n] {
		if at := c.works[w]; at != nil {
			at.queued, at.failed, at.asked = false, false, c.now()
			batch = append(batch, w)
		}
	}
	c.order = c.order[n:]
	return batch
}

// claim claims work. What is this host's is begun only after what others said until then
// has been fetched: somebody may have done it before.
func (c *claims) claim(ctx context.Context, batch []work) {
	var mine []work
	for _, w := range batch {
		got, err := c.record.Claim(ctx, w.name(), protocol.RunClaim.Format(protocol.RunClaimed{Of: w.path, Agent: w.agent, Epoch: w.epoch, From: c.fromOf(w)}))
		switch {
		case err != nil:
			c.failed(w, err)
		case got:
			mine = append(mine, w)
		default:
			c.lost(w)
		}
	}
	if len(mine) == 0 {
		return
	}
	if err := c.record.Fetch(ctx); err != nil {
		for _, w := range mine {
			c.failed(w, err)
		}
		return
	}
	for _, w := range mine {
		if err := c.take(ctx, w); err != nil {
			c.failed(w, err)
		}
	}
}

// take says in the record that this host has claimed the work, if it is still to be done.
func (c *claims) take(ctx context.Context, w work) error {
	c.vigil.look()
	from := c.fromOf(w)
	unsaid, others := false, false
	c.folded(func(s *fleet.State) {
		unsaid = c.unsaid(s, w)
		a, err := c.roster.Get(w.agent)
		// Its host came back meanwhile, or the agent is not served here any more.
		others = err != nil || from != c.host && !c.isGone(s, from, w.agent, a)
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
	_, err := c.do(ctx, affairs.Take(c.host, w.path, w.agent, w.epoch, from))
	if isRefusal(err) {
		c.log.Info().Err(err).Str("agent", w.agent).Stringer("path", w.path).Msg("claimed, and not to be done any more")
		err = nil
	}
	if err == nil {
		c.done(w)
		c.log.Info().Str("agent", w.agent).Stringer("path", w.path).Stringer("from", from).Msg("claimed")
	}
	return err
}

// giveBack gives up a claim of work that is others' to do. Where the remote does not take
// that, it is looked for again.
func (c *claims) giveBack(ctx context.Context, w work) {
	if err := c.record.Unclaim(ctx, w.name()); err != nil {
		c.log.Info().Err(err).Str("agent", w.agent).Stringer("path", w.path).Msg("a claim of what others are to do stays at the remote for now")
		c.tidySoon()
	}
}

func (c *claims) fromOf(w work) protocol.Name {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.works[w]; at != nil {
		return at.from
	}
	return c.host
}

func (c *claims) done(w work) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.works, w)
}

// lost notes that another host has claimed the work.
func (c *claims) lost(w work) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.works[w]; at != nil {
		at.lost, at.trouble = true, nil // until it is asked for again
	}
}

// failed notes why nobody knows who has claimed the work. It is tried again at the next look.
func (c *claims) failed(w work, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.works[w]
	if at == nil {
		return
	}
	at.failed = true
	if errors.Is(err, context.Canceled) {
		return // somebody ended the asking, be it because the node stops
	}
	if at.trouble == nil {
		c.log.Warn().Err(err).Str("agent", w.agent).Stringer("path", w.path).Msg("mail waits for its claim")
	}
	at.trouble = err
}

// tidyUp gives up claims that are of no use any more: of what others are to do and this
// host kept from them, and old ones. Nobody can do that work anew: who claims it then
// fetches first, and finds what was done.
func (c *claims) tidyUp(ctx context.Context) {
	c.mu.Lock()
	now := c.now()
	dueNow := now.Sub(c.tidy) >= claimTidy
	if dueNow {
		c.tidy = now
	}
	c.mu.Unlock()
	if !dueNow {
		return
	}
	if r := c.record.Status(); r.Remote == "" || r.Trouble.Kind != gitsync.KindNone || r.Unrecorded+r.Unpushed > 0 {
		c.tidySoon() // what was done may not be known there
		return
	}
	all, err := c.record.Claims()
	if err != nil {
		c.log.Warn().Err(err).Msg("old claims stay at the remote")
		return
	}
	for _, old := range all {
		age := now.Sub(old.Time)
		if !(age >= lostLong && c.leftOver(old) || age >= claimKept && c.useless(old)) {
			continue
		}
		if err := c.record.Unclaim(ctx, old.Name); err != nil {
			c.log.Debug().Err(err).Msg("an old claim stays at the remote")
			c.tidySoon()
			return
		}
	}
}

// tidySoon has claims of no use be looked for again in a while.
func (c *claims) tidySoon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tidy = c.now().Add(claimTidyAgain - claimTidy)
}

// leftOver reports whether a claim is of work that no host says to have and that this
// host is not about to take. This host could not give the claim up, or ended before it
// had.
func (c *claims) leftOver(old gitsync.Claimed) (left bool) {
	said, err := protocol.RunClaim.Parse(old.Text)
	if err != nil {
		return false
	}
	w := work{said.Of, said.Agent, said.Epoch}
	c.folded(func(s *fleet.State) { left = c.unsaid(s, w) })
	c.mu.Lock()
	defer c.mu.Unlock()
	return left && c.works[w] == nil
}

// useless reports whether nothing can come of a claim any more: its work is done, or was
// tried again since.
func (c *claims) useless(old gitsync.Claimed) (useless bool) {
	said, err := protocol.RunClaim.Parse(old.Text)
	if err != nil {
		return false
	}
	c.folded(func(s *fleet.State) {
		it, there := s.Ledger.Item(said.Of)
		useless = there && (s.Run(said.Of, said.Agent).Retries > said.Epoch || s.Talk.ReadBy(it, fleet.Who{Name: said.Agent, Host: c.host}))
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
		case at.lost && c.now().Sub(at.since) > lostLong && !given[w]:
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
