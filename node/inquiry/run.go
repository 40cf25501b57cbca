package inquiry

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/affair"
	"github.com/parleyfleet/parley/fleet/inquiries"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/inquiry/calls"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// callTries is how often a call is made if its answer is not accepted. A member's run is made
	// once (R62).
	callTries = 3
	// maxFeed is how many messages may come between two looks at inquiries. If there are more, all
	// inquiries are looked at.
	maxFeed = 1024
)

// going is an inquiry that goes on, as far as this host has to do with it.
type going struct {
	ctx    context.Context // ends with the inquiry; its runs end with it too (R50)
	cancel context.CancelFunc
	runs   sync.WaitGroup  // calls whose commands have not ended
	calls  map[call]string // inFlight for calls that are being made; the round for calls that could not be made
	failed map[call]error  // why calls could not be made
	asked  map[string]bool // runs of members about which a human was asked: whether because the host was lost
	told   bool            // status warns that the inquiry does not go on

	epoch    int             // the newest epoch in which the coordinator made a call here
	chair    context.Context // the context of these calls: ends with the epoch
	endChair context.CancelFunc
}

func newGoing(ctx context.Context) *going {
	g := &going{calls: map[call]string{}, failed: map[call]error{}, asked: map[string]bool{}, endChair: func() {}}
	g.ctx, g.cancel = context.WithCancel(ctx)
	return g
}

// ended notes how a call ended. A call that failed is made again in another round.
func (g *going) ended(v inquiries.Inquiry, c inquiries.Call, err error) {
	delete(g.calls, callIn(v, c))
	if err != nil {
		g.calls[callIn(v, c)], g.failed[callIn(v, c)] = round(v, c), err
	}
}

// trouble is why an inquiry does not go on here: why calls could not be made that are still to be
// made. It is "" if there are none.
func (g *going) trouble(v inquiries.Inquiry) string {
	var why []string
	for _, c := range inquiries.Next(v) {
		if err := g.failed[callIn(v, c)]; err != nil && !slices.Contains(why, err.Error()) {
			why = append(why, err.Error())
		}
	}
	return strings.Join(why, "; ")
}

// call is a call, and the epoch in which the coordinator makes it. The epoch is 0 for a call of a
// member. Members work on while another host coordinates; calls of the coordinator are made anew
// (R54).
type call struct {
	inquiries.Call
	epoch int
}

// fence ends the coordinator's calls of older epochs. Without it, a human who resumes an inquiry
// because a call hangs would still wait for that call.
func (g *going) fence(epoch int) {
	if epoch <= g.epoch {
		return
	}
	g.endChair()
	g.epoch = epoch
	g.chair, g.endChair = context.WithCancel(g.ctx)
	maps.DeleteFunc(g.calls, func(c call, _ string) bool { return c.epoch != 0 })
}

func callIn(v inquiries.Inquiry, c inquiries.Call) call {
	if ofMember(c) {
		return call{Call: c}
	}
	return call{c, v.Epoch}
}

// inFlight stands in place of a round for a call that is being made.
const inFlight = "in flight"

// Start carries out inquiries until `stop` is called.
func (q *Inquiries) Start() (stop func()) { return wait.Background(q.watch) }

// Look has all inquiries looked at, because commands may be run again.
func (q *Inquiries) Look() { wait.Nudge(q.nudge) }

func (q *Inquiries) watch(ctx context.Context) {
	defer q.work.Wait()
	came := q.Messages.Follow(maxFeed, nil)
	defer came.End()
	around := time.NewTicker(lookAround)
	defer around.Stop()
	q.material.tidy() // what a crash left
	q.lookAtAll(ctx)
	for {
		select {
		case <-came.Wake():
			if paths, missed := came.Drain(); missed > 0 || q.concern(paths) {
				q.lookAtAll(ctx)
			}
		case <-q.nudge:
			q.lookAtAll(ctx)
		case <-around.C:
			q.lookForLost(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// concern reports whether one of the messages is a deed of an inquiry, or a word of a host
// that may make deeds count.
func (q *Inquiries) concern(paths []protocol.Path) (yes bool) {
	deeds := q.known.kind.Deeds()
	q.Folded(func(s *fleet.State) {
		yes = slices.ContainsFunc(paths, func(p protocol.Path) bool {
			it, there := s.Ledger.Item(p)
			return !there || it.Act.HostWord() || slices.Contains(deeds, it.Act)
		})
	})
	return yes
}

// lookAtAll forgets inquiries that are over, and begins whatever this host has to do for the
// others. While no command may be run, it begins nothing; Look is called afterwards.
func (q *Inquiries) lookAtAll(ctx context.Context) {
	var all []inquiries.Inquiry
	q.Folded(func(s *fleet.State) { all = q.known.open(s) })
	halted := q.Halted()
	for _, v := range all {
		switch {
		case v.State.Over():
			q.end(v)
		case !halted:
			q.look(ctx, v)
		}
	}
}

func (q *Inquiries) look(ctx context.Context, v inquiries.Inquiry) {
	q.mu.Lock()
	if q.live[v.Channel] != nil || v.Coordinator.Host == q.Host.String() { // a coordinator may only wait for others, and has to notice if they are lost
		q.goes(ctx, v)
	}
	q.mu.Unlock()
	var team []inquiries.Call // calls that start members, or give them their tasks
	for _, c := range inquiries.Next(v) {
		switch {
		case c.By.Host != q.Host.String():
		case c.Do == protocol.ActFrameStart || c.Do == protocol.ActFrameTask:
			team = append(team, c)
		default:
			q.make(ctx, v, c)
		}
	}
	q.make(ctx, v, team...)
	q.warn(v) // what has failed may be made anew, or by another host
}

// make makes calls one after another, except those that are being made already, and notes how they
// ended.
func (q *Inquiries) make(ctx context.Context, v inquiries.Inquiry, all ...inquiries.Call) {
	g, until, begun := q.begin(ctx, v, all)
	if len(begun) == 0 {
		return
	}
	g.runs.Add(1)
	q.work.Go(func() {
		defer g.runs.Done()
		for _, c := range begun {
			err := q.carry(until, v, c)
			if until.Err() != nil {
				return
			}
			q.done(v, c, err)
		}
	})
}

// round is the period in which a call that has failed is not made again. For a call of a member, it
// lasts until another epoch begins, or until a human has answered what becomes of the member. No other
// event ends it: gates that open in the meantime must not run the member twice.
func round(v inquiries.Inquiry, c inquiries.Call) string {
	if ofMember(c) {
		answered := 0
		for _, g := range v.Gates {
			if g.Gate == protocol.GateLost && g.Perspective == c.Perspective && g.Verdict() != nil {
				answered++
			}
		}
		return fmt.Sprint(v.Epoch, answered)
	}
	return fmt.Sprint(v.Epoch, v.Cycle, v.Briefs, v.Syntheses, len(v.Gates))
}

func ofMember(c inquiries.Call) bool {
	switch c.Do {
	case protocol.ActFrameSignal, protocol.ActFrameReveal, protocol.ActFrameExchange, protocol.ActFrameReport, protocol.ActFrameFollowAnswer:
		return true
	}
	return false
}

// begin notes that calls are being made: several of the coordinator, or one of a member. `until` is
// the context that ends with them. `begun` leaves out calls that are being made already, and calls
// that failed in this round.
func (q *Inquiries) begin(ctx context.Context, v inquiries.Inquiry, all []inquiries.Call) (g *going, until context.Context, begun []inquiries.Call) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, c := range all {
		g = q.goes(ctx, v)
		key := callIn(v, c)
		if at, there := g.calls[key]; there && (at == inFlight || at == round(v, c)) || key.epoch != 0 && key.epoch < g.epoch {
			continue
		}
		g.calls[key] = inFlight
		delete(g.failed, key)
		until, begun = g.chair, append(begun, c)
		if ofMember(c) {
			until = g.ctx
		}
	}
	return g, until, begun
}

// goes returns an inquiry as one that goes on, in its epoch. The caller holds q.mu.
func (q *Inquiries) goes(ctx context.Context, v inquiries.Inquiry) *going {
	g := q.live[v.Channel]
	if g == nil {
		g = newGoing(ctx)
		q.live[v.Channel] = g
	}
	g.fence(v.Epoch)
	return g
}

// done notes how a call ended. A call that failed is made again in another round, or at the node's
// next start. In any case, all inquiries are looked at again. A deed that came while the call was
// in flight may have made it, or undone it, and the look at that deed left out the call.
func (q *Inquiries) done(v inquiries.Inquiry, c inquiries.Call, err error) {
	defer q.Look()
	now := q.known.value(v.Channel)
	if err != nil && (errors.Is(err, errOvertaken) || !slices.Contains(inquiries.Next(now), c)) {
		err = nil // somebody else made it, or another host coordinates now
	}
	if err != nil {
		q.Log.Error().Err(err).Str("inquiry", id8(v.Channel)).Str("call", string(c.Do)).Msg("an inquiry does not go on")
	}
	q.mu.Lock()
	if g := q.live[v.Channel]; g != nil {
		g.ended(v, c, err)
	}
	q.mu.Unlock()
	q.warn(now)
}

// warn has status say why an inquiry does not go on here, as long as it does not.
func (q *Inquiries) warn(v inquiries.Inquiry) {
	about, why, told := "inquiry "+id8(v.Channel), "", false
	q.mu.Lock()
	if g := q.live[v.Channel]; g != nil {
		why = g.trouble(v)
		told, g.told = g.told, why != ""
	}
	q.mu.Unlock()
	switch {
	case why != "":
		q.Wrong(about, fmt.Sprintf("the %s does not go on: %s; to try it again: parley frame resume %s", about, why, id8(v.Channel)))
	case told:
		q.Wrong(about, "")
	}
}

// Running returns the inquiries that this host has to do with at the moment.
func (q *Inquiries) Running() (all []protocol.ChannelID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for channel := range q.live {
		all = append(all, channel)
	}
	return all
}

// end ends the runs of an inquiry that is over, and forgets what its members found. What was told
// of it is in the record.
func (q *Inquiries) end(v inquiries.Inquiry) {
	q.mu.Lock()
	g := q.live[v.Channel]
	delete(q.live, v.Channel)
	q.mu.Unlock()
	q.known.over.Store(v.Channel, true)
	q.Wrong("inquiry "+id8(v.Channel), "")
	forget := func() {
		if err := errors.Join(q.spool.drop(v.Channel), q.material.clear(v.Channel)); err != nil {
			q.Log.Warn().Err(err).Str("inquiry", id8(v.Channel)).Msg("what members worked with is left behind")
		}
	}
	if g == nil {
		forget()
		return
	}
	g.cancel()
	q.work.Go(func() {
		g.runs.Wait() // a run that still writes would bring back what is removed
		forget()
	})
}

func id8(c protocol.ChannelID) string { return c.String()[:8] }

func (q *Inquiries) carry(ctx context.Context, v inquiries.Inquiry, c inquiries.Call) error {
	switch c.Do {
	case protocol.ActFrameSignal:
		return q.investigate(ctx, v, c)
	case protocol.ActFrameReveal:
		k, ok, err := q.spool.read(v.Channel, c.Perspective, c.Attempt)
		switch {
		case err != nil:
			return err
		case !ok || k.Outcome != protocol.SignalCompleted:
			return fmt.Errorf("cannot tell what %q has found: it is not in this host's spool any more", c.Perspective)
		}
		return q.says(ctx, v, c, func(a inquiries.Actor) affair.Command { return a.Reveal(v.Channel, c.Perspective, k.Result) })
	case protocol.ActFrameExchange, protocol.ActFrameReport, protocol.ActFrameFollowAnswer:
		return q.converse(ctx, v, c)
	case protocol.ActFrameFindings:
		if err := q.remember(ctx, v); err != nil {
			return err
		}
	}
	agent, served := q.Pool.served(v.Coordinator.Name)
	s, err := q.surroundings(ctx, v, c)
	if err != nil {
		return err
	}
	return q.ask(ctx, v, c, s, func(input string) (door.Result, error) {
		if !served {
			return door.Result{}, fmt.Errorf("%s makes its calls, and this host serves no such agent with a command", v.Coordinator.Name)
		}
		return q.Call(ctx, agent, input, v.Path), nil
	})
}

// remember keeps the findings that the human preserved, and the limits that nobody addressed, as
// memories of the coordinator (R56). What was kept before a crash is not kept twice.
func (q *Inquiries) remember(ctx context.Context, v inquiries.Inquiry) error {
	if len(v.End.Preserve) == 0 {
		return nil
	}
	texts, _ := inquiries.Sections(v.Synthesis.Text, inquiries.SynthesisSections()...)
	var all []control.AddMemoryRequest
	keep := func(what, text string, tags ...string) {
		all = append(all, control.AddMemoryRequest{
			Subject: fmt.Sprintf("%s (inquiry %s)", what, id8(v.Channel)), Scope: v.Opening.Channel, Tags: tags, Body: v.Opening.Text + "\n\n" + text,
		})
	}
	for _, category := range v.End.Preserve {
		section := inquiries.SectionOf(category)
		keep(section, texts[section], "frame")
	}
	if gaps := v.Trace.Gaps; len(gaps) > 0 {
		text := ""
		for _, gap := range gaps {
			text += "- " + gap + "\n"
		}
		keep("Coverage gaps", text, "frame", "coverage-gap")
	}
	for _, r := range all {
		there := false
		q.Folded(func(s *fleet.State) {
			there = len(s.Memories.List(shelf.MemoryFilter{From: v.Coordinator.Name, Subject: r.Subject})) > 0
		})
		if there {
			continue
		}
		if err := q.Remember(ctx, r, v.Coordinator.Name); err != nil {
			return fmt.Errorf("cannot keep what was preserved: %w", err)
		}
	}
	return nil
}

// ask asks the agent that makes a call until its answer is accepted, and writes that answer to the
// record. A call that needs no agent is written at once.
func (q *Inquiries) ask(ctx context.Context, v inquiries.Inquiry, c inquiries.Call, s calls.Surroundings, run func(input string) (door.Result, error)) error {
	actor := q.Pool.actor(c.By.Name)
	for try := 1; ; try++ {
		input, agent := calls.Prompt(v, c, s)
		answer := ""
		if agent {
			result, err := run(input)
			if err != nil {
				return err
			}
			if problem := result.Problem(); problem != "" {
				if ctx.Err() != nil || try == callTries {
					return fmt.Errorf("%s, asked for %s: %s", c.By.Name, c.Do, problem)
				}
				q.asksAgain(v, c, problem)
				continue
			}
			answer = result.Output
		}
		command, err := calls.Read(actor, v.Channel, v, c, s, answer)
		if err == nil {
			_, err = q.Do(ctx, control.Caller{Kind: control.ByAgent, Name: protocol.Name(actor.Me), Because: v.Path}, command)
		}
		now := q.known.value(v.Channel)
		switch {
		case err == nil || ctx.Err() != nil:
			return err
		case now.Last != v.Last && (!agent || !slices.Contains(inquiries.Next(now), c)):
			return errOvertaken // an agent is not asked again for a call that was made meanwhile, or that is not to be made now
		case !agent || try == callTries:
			return fmt.Errorf("%s, asked for %s: %w", c.By.Name, c.Do, err)
		}
		s.Refused, s.Last = err.Error(), answer
		q.asksAgain(v, c, s.Refused)
	}
}

// asksAgain logs why an agent is asked once more: nothing else shows what that costs.
func (q *Inquiries) asksAgain(v inquiries.Inquiry, c inquiries.Call, why string) {
	q.Log.Info().Str("inquiry", id8(v.Channel)).Str("call", string(c.Do)).Stringer("agent", c.By).Str("why", why).Msg("an agent is asked again")
}

// errOvertaken says that another deed came between a call and its answer. So what is to be done has
// to be looked at again.
var errOvertaken = errors.New("another deed came between")

func (q *Inquiries) surroundings(ctx context.Context, v inquiries.Inquiry, c inquiries.Call) (s calls.Surroundings, err error) {
	if c.Do == protocol.ActFrameContext && v.Opening.In != "" {
		if s.Files, err = q.material.files(ctx, v); err != nil {
			return s, err
		}
	}
	q.Folded(func(state *fleet.State) {
		switch c.Do {
		case protocol.ActFrameProposals:
			for _, other := range q.known.all(state) {
				if other.State.Over() && other.Channel != v.Channel && len(s.Earlier) < maxEarlier {
					s.Earlier = append(s.Earlier, other)
				}
			}
		case protocol.ActFrameMap:
			s.Agents, s.Made = q.Pool.candidates(state, v)
		case protocol.ActFrameStart:
			s.Member = q.Pool.elsewhere(state, v, v.Member(c.Perspective))
		}
	})
	return s, nil
}

// maxEarlier is how many inquiries that are over a proposal is told of: the newest ones.
const maxEarlier = 5
