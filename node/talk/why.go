package talk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/gitsync"
	"github.com/parleyfleet/parley/internal/agentprogram"
	"github.com/parleyfleet/parley/internal/gitremote"
	"github.com/parleyfleet/parley/internal/span"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/causes"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/protocol"
)

const (
	// mostOwn is how many messages of this host are looked through for one that waits.
	mostOwn = 4096
	// clockTolerance is by how much clocks may differ before that is a cause.
	clockTolerance = time.Minute
)

// Why answers control.Why.
func (t *tracer) Why(ctx context.Context, by control.Caller, r control.WhyRequest) (control.Reason, error) {
	it, to, err := t.unanswered(by, r.Of)
	why := control.Reason{To: []string{to}, Causes: []causes.Found{}, Steps: []control.TraceStep{}}
	if err != nil {
		return why, err
	}
	asks := addressed{t: t}
	if it == nil {
		t.Folded(func(s *fleet.State) { asks.of(s, nil, to) })
		asks.whereabouts(nil, nil)
		if why.Causes = asks.all; len(why.Causes) == 0 {
			why.Causes = append(why.Causes, causes.Well(causes.Message, "nothing of yours waits for "+to))
		}
		return why, nil
	}
	m := t.traced(ctx, it, r.Here)
	why.Path, why.From, why.To, why.Steps = it.Path, it.From, it.Names(), m.lines()
	var progress []fleet.Progress
	t.Folded(func(s *fleet.State) { progress = s.Talk.Progress(it) })
	answered := []causes.Found{}
	for _, p := range progress {
		if to != "" && p.Name != to {
			continue
		}
		t.Folded(func(s *fleet.State) { asks.of(s, it, p.Name) })
		asks.steps(m)
		asks.whereabouts(it, m)
		causes.Sort(asks.all)
		switch first := asks.first(); {
		case first.Cause == causes.Answered:
			answered = append(answered, first)
		case len(progress) == 1:
			why.Causes = asks.all
		default:
			why.Causes = append(why.Causes, first)
		}
	}
	if len(progress) > 1 {
		causes.Sort(why.Causes)
	}
	why.Causes = append(why.Causes, answered...)
	return why, nil
}

// unanswered is the message that is asked about, and the addressee that was named; nil for the message
// if nothing of the caller's waits for that addressee.
func (t *tracer) unanswered(by control.Caller, of string) (it *fleet.Item, to string, err error) {
	address, notAName := protocol.ParseAddress(of)
	if notAName == nil {
		t.Folded(func(s *fleet.State) {
			if s.People.Known(address.Name) || len(t.everServed(s, address.Name)) > 0 {
				to = address.Name
			}
		})
	}
	if of != "" && to == "" {
		f, err := t.views.find(of)
		if err != nil && notAName == nil && control.AsError(err).Kind == control.KindNotFound {
			t.Folded(func(s *fleet.State) {
				err = control.Errorf(control.KindNotFound, s.People.Suggest(address.Name), "nobody is called %q, and there is no such message", of)
			})
		}
		return f.item, "", err
	}
	me, err := t.Actors.Actor(by, "")
	if err != nil {
		return nil, "", err
	}
	t.Folded(func(s *fleet.State) {
		last, some := s.Chains.LastOf(me.Host)
		if !some {
			return
		}
		for _, own := range slices.Backward(s.Chains.Back(me.Host, last.Hash, protocol.Path{}, mostOwn)) {
			if own.Author().Name == me.Name && own.Act.Mail() && (to == "" || slices.Contains(own.Names(), to)) && waitsForAnswer(s, own) {
				it = own
				return
			}
		}
	})
	if it == nil && to == "" {
		err = control.Errorf(control.KindNotFound, "of another message: parley why ID", "nothing of yours waits for an answer")
	}
	return it, to, err
}

// waitsForAnswer reports whether somebody has not answered a message, or has given it up. It is asked
// while the state is read.
func waitsForAnswer(s *fleet.State, it *fleet.Item) bool {
	if it.Type != protocol.TypeText || !it.Act.Wakes() && it.Act != protocol.ActNote || it.ToAll() {
		return false
	}
	if re, answers := it.AnsweredPath(); answers && !re.IsZero() && it.Act == protocol.ActReply {
		return false // it is an answer itself
	}
	first, some := s.Talk.FirstAnswer(it.Path)
	return !some || first.Act == protocol.ActFailed
}

// everServed are the hosts that have ever said that they serve a name. It is asked while the state is
// read.
func (t *tracer) everServed(s *fleet.State, name string) (hosts []protocol.Name) {
	for word := range s.Keys().Declarations(name) {
		hosts = append(hosts, word.Host)
	}
	return hosts
}

// addressed gathers the causes why one addressee of a message has not answered it.
type addressed struct {
	t    *tracer
	name string
	host protocol.Name // where it is to act; "" if nobody knows, or several do
	id   string        // of the message, as a person types it
	read bool
	left bool // that host has claimed the work, and has not done it
	all  []causes.Found
}

func (a *addressed) add(id causes.ID, f causes.Facts) {
	f.Here, f.ID, f.Agent, f.Host = a.t.Config.Alias, a.id, cmp.Or(f.Agent, a.name), cmp.Or(f.Host, a.host, a.t.Config.Alias)
	found := causes.Of(id, f)
	switch i := slices.IndexFunc(a.all, func(b causes.Found) bool { return b.Cause == id && b.Agent == f.Agent }); {
	case i < 0:
		a.all = append(a.all, found)
	case a.all[i].Reason == "": // the queue says that it waits, and the host why
		a.all[i] = found
	}
}

func (a *addressed) first() causes.Found { return a.all[0] }

// of begins with what the record says. It is asked while the state is read.
func (a *addressed) of(s *fleet.State, it *fleet.Item, name string) {
	*a = addressed{t: a.t, name: name}
	served := s.People.ServedOn(name)
	if it != nil {
		a.id = it.Path.Short()
		a.host = hostOf(s, it, name)
		a.read = slices.ContainsFunc(s.Talk.Progress(it), func(p fleet.Progress) bool { return p.Name == name && p.Read })
		claim := s.Run(it.Path, name).Claim
		a.left = claim != nil && claim.Host == a.host && !a.read
		a.answers(s, it)
		if !it.Act.Wakes() && it.Act != protocol.ActReply {
			a.add(causes.WakesNobody, causes.Facts{Text: string(it.Act), Do: "parley hey " + visible.Shell(name) + " TEXT"})
		}
	}
	if a.host == "" && len(served) == 1 { // a human, or nothing was written
		a.host = served[0]
	}
	if a.host != "" || len(served) > 0 {
		return
	}
	if other := slices.IndexFunc(s.People.OtherPrograms(), func(h protocol.HostState) bool {
		return slices.ContainsFunc(h.Agents, func(a protocol.HostedAgent) bool { return a.Name.String() == name })
	}); other >= 0 {
		a.add(causes.NoKey, causes.Facts{Host: s.People.OtherPrograms()[other].Host})
		return
	}
	for _, host := range a.t.everServed(s, name) {
		if h, joined := s.Keys().Host(host); joined && h.Out() {
			a.add(causes.HostOut, causes.Facts{Host: host})
		}
	}
	a.add(causes.Nobody, causes.Facts{})
}

// answers are what was answered, or given up.
func (a *addressed) answers(s *fleet.State, it *fleet.Item) {
	for _, answer := range s.Talk.Answers(it.Path) {
		by, run := answer.Author().Name, s.Run(it.Path, a.name)
		switch {
		case answer.Act != protocol.ActFailed && by == a.name:
			a.add(causes.Answered, causes.Facts{Text: answer.Path.Short()})
		case answer.Act == protocol.ActFailed && by == answer.Host.String():
			a.add(causes.Hops, causes.Facts{})
		case answer.Act != protocol.ActFailed || by != a.name:
		case run.Dead != nil:
			f := run.Dead.Failure
			id := causes.Dead
			if agentprogram.SignedOut(f.Problem + "\n" + f.Text) {
				id = causes.SignedOut
			}
			a.add(id, causes.Facts{Host: run.Dead.Host, Text: f.Problem})
		case run.Again == nil:
			first, _, _ := strings.Cut(answer.Body, "\n")
			a.add(causes.Canceled, causes.Facts{Text: strings.TrimPrefix(first, "FAILED | ")})
		}
	}
}

// steps are what the hosts say of the message at this moment.
func (a *addressed) steps(m *traced) {
	for _, s := range m.steps {
		mine := s.Agent == a.name
		f := causes.Facts{Host: s.Host, Agent: s.Agent, Text: s.Text, At: s.Next}
		switch {
		case s.Step == protocol.TraceWaits && mine && s.By != "":
			a.add(causes.ID(s.By), f)
		case s.Step == protocol.TraceWaits && mine:
			f.Text = "it is about to start"
			a.add(causes.UnderWay, f)
		case s.Step == protocol.TraceAtWork && mine:
			f.Text = fmt.Sprintf("for %s so far, attempt %d", span.Text(s.Ran.Duration().Round(time.Second)), s.Attempt)
			a.add(causes.Running, f)
		case s.Step == protocol.TraceStopped && mine:
			a.add(causes.Hops, f)
		case s.Step == protocol.TraceHinders && (mine || s.Agent == "" && s.Host == a.host):
			a.add(causes.ID(s.By), f)
		case s.Step == protocol.TraceWoken && mine && !a.read:
			a.add(causes.Woken, f)
		case s.Step == control.TraceNoAnswer && s.Host == a.host:
			a.add(causes.Silent, f)
		}
	}
	for _, sent := range m.sent {
		sent.each(func(below *traced) {
			for _, s := range below.steps {
				if s.Step == protocol.TraceHinders && s.By == string(causes.Gate) && below.it.From == a.name {
					a.add(causes.Gate, causes.Facts{Host: s.Host, Text: s.Text})
				}
			}
		})
	}
}

// whereabouts are what this host knows of the host that is to act, and of the way there.
func (a *addressed) whereabouts(it *fleet.Item, m *traced) {
	h, known := control.Host{}, false
	for _, one := range a.t.Hosts.Known(true) {
		if one.Alias == a.host {
			h, known = one, true
		}
	}
	settled := a.read || len(a.all) > 0 // somebody there has it, or the record says what became of it
	there := h.State == control.HostHere || it != nil && slices.ContainsFunc(m.steps, func(s control.TraceStep) bool {
		return s.Step == protocol.TraceCame && s.Host == a.host || s.Step == protocol.TraceHeard && s.By == a.host.String()
	})
	there = there || a.host == ""
	if w := a.t.Live.WaitsOf(a.host, a.name); w != nil && !a.read {
		a.add(causes.ID(w.For), causes.Facts{At: w.Time})
	}
	switch {
	case !known:
	case h.State == control.HostRevoked || h.State == control.HostRemoved:
		a.add(causes.HostOut, causes.Facts{})
	case h.State == control.HostAway || h.State == control.HostGit:
		a.wayTo(h, it)
	case h.Clock.Duration().Abs() > clockTolerance && !there && !settled:
		a.add(causes.ClockOff, causes.Facts{Text: causes.OffBy(h.Clock.Duration())})
	case a.t.Hosts.PresenceOf(a.host, protocol.Name(a.name)) == control.AgentAway && !a.read:
		a.add(causes.Gone, causes.Facts{})
	}
	switch {
	case it == nil || len(a.all) > 0 && a.first().Cause != causes.Silent:
	case a.read:
		a.add(causes.Read, causes.Facts{})
	case there:
		a.add(causes.Waits, causes.Facts{})
	default:
		a.add(causes.UnderWay, causes.Facts{Text: a.t.views.ownStage(it, a.t.Live.Hearers(it.Path)).String()})
	}
}

// wayTo is why a host that is not on the bus does not get the message.
func (a *addressed) wayTo(h control.Host, it *fleet.Item) {
	at := a.t.Record.Status()
	if b := a.t.Bus(); b != nil {
		if off, some := b.Offences().Clocks[h.Alias]; some {
			a.add(causes.ClockOff, causes.Facts{Text: causes.OffBy(off)})
		}
		links := b.Links()
		alone := !slices.ContainsFunc(links, func(l bus.Link) bool { return l.Up }) // then any link leads to all
		for _, l := range links {
			id := causes.LinkDown
			if l.Cause == bus.CauseKey {
				id = causes.KeyUnknown
			}
			if (l.Host == h.Alias || alone) && !l.Up && !l.Young {
				a.add(id, causes.Facts{Host: cmp.Or(l.Host, h.Alias), Text: l.Problem})
			}
		}
	}
	if h.State == control.HostGit {
		a.add(causes.LinkDown, causes.Facts{Text: "it writes, and can be reached by git alone"})
	}
	if it != nil && slices.Contains(at.Withheld, it.Path) {
		a.add(causes.Withheld, causes.Facts{})
	}
	carrier, _, _ := gitremote.Host(a.t.Config.Remote) // if it carries the record, the remote is away with it
	if at.Trouble.Kind != gitsync.KindNone && carrier != h.Alias.String() && (it == nil || a.t.Record.Place(it.Path) != gitsync.Pushed) {
		a.add(causes.RemoteFails, causes.Facts{Host: a.t.Config.Alias, Text: at.Trouble.Text})
	}
	if a.left {
		a.add(causes.Claimed, causes.Facts{Text: h.Alias.String() + " has claimed it and not answered"})
	}
	a.add(causes.Away, causes.Facts{At: h.LastSeen})
}
