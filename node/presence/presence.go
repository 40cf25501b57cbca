package presence

import (
	"context"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/protocol"
)

// greetGap is the least time between two moments at which this host tells that it is there because
// another host has come or asks. Without it, the letters of one host could make all others speak to
// all, again and again.
const greetGap = 250 * time.Millisecond

// Presence tells the other hosts that this one is there, takes in what they say of themselves, and
// ranks those that push for each other. What is known of them is in Live.
type Presence struct {
	o     Options
	greet chan struct{} // holds a token if a host came: announce this host soon
}

// Options say what Presence tells, and through what. All are required.
type Options struct {
	Host    protocol.Name
	Version string
	Started time.Time
	Start   uint64 // rises with every start
	Now     func() time.Time
	Log     zerolog.Logger

	Bus     func() *bus.Bus // returns nil if there is none
	Live    *Live
	Lookout *Lookout
	Twins   *Twins
	Asker   *Asker
	Record  Courier
	Agents  func() []protocol.Name           // returns the agents that are served here
	Unsaid  func() []protocol.Name           // returns those of them of which the record does not tell
	At      func() map[string]string         // returns what those agents do, if that is known
	Lacks   func() string                    // returns what this host lacks, see bus.Presence
	Stuck   func() []protocol.Stuck          // returns calls of members that have failed, see bus.Presence
	Waits   func() map[string]protocol.Waits // returns what sessions here wait for

	AnswerTwin func(context.Context) // writes a message from which another node of this name learns of this one
}

// New makes a Presence that tells nobody yet.
func New(o Options) *Presence {
	return &Presence{o: o, greet: make(chan struct{}, 1)}
}

// Courier is the part of the record that matters to the other hosts: hosts that can push do so for
// all hosts, in turn.
type Courier interface {
	CanPush() bool
	SetPlace(int)
	Back(host protocol.Name) // a host is there again
}

// AnnounceAlways tells the other hosts that this one is live, every few seconds and whenever a host
// has come.
func (pr *Presence) AnnounceAlways(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		pr.Announce()
		spoke := time.Now()
		pr.turned() // hosts that were not heard for a while are gone
		pr.o.Twins.lookAway()
		select {
		case <-tick.C:
		case <-pr.greet:
			wait.Sleep(ctx, greetGap-time.Since(spoke))
		case <-pr.o.Twins.answer:
			pr.o.AnswerTwin(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// AnnounceSoon tells the other hosts in a moment that this one is there, together with what changes
// until then.
func (pr *Presence) AnnounceSoon() { wait.Nudge(pr.greet) }

// Announce tells the other hosts that this one is there.
func (pr *Presence) Announce() { pr.announceAs(true) }

// Leave tells the other hosts that this one leaves.
func (pr *Presence) Leave() { pr.announceAs(false) }

func (pr *Presence) announceAs(live bool) {
	waits := pr.o.Waits()
	pr.o.Live.Say(pr.o.Host, waits)
	b := pr.o.Bus()
	if b == nil {
		return
	}
	p := bus.Presence{
		Host: pr.o.Host, Live: live, Since: pr.o.Started, Version: pr.o.Version, Agents: []string{},
		Pushes: pr.o.Record.CanPush(), Run: pr.o.Twins.run, Machine: whereabouts.Hostname(), Start: pr.o.Start,
		Wants: pr.o.Live.takeMissing(), Lost: pr.o.Live.takeLost(), At: pr.o.At(), Lacks: pr.o.Lacks(), Stuck: pr.o.Stuck(), Waits: waits,
	}
	unsaid := pr.o.Unsaid()
	for _, name := range pr.o.Agents() {
		if slices.Contains(unsaid, name) {
			p.Sessions = append(p.Sessions, name.String())
		} else {
			p.Agents = append(p.Agents, name.String())
		}
	}
	if err := b.Announce(p); err != nil {
		pr.o.Log.Debug().Err(err).Msg("cannot announce this host")
	}
}

// SawHost takes in the presence of a host: it came, is there, or leaves.
func (pr *Presence) SawHost(p bus.Presence) {
	if p.Host == pr.o.Host {
		if pr.o.Twins.met(p) {
			pr.Announce()
		}
		return
	}
	if p.Live {
		pr.o.Lookout.Answered.Happened()
	}
	if pr.o.Live.believes(p) {
		pr.takePresence(p)
	} else {
		pr.confirm(p)
	}
}

func (pr *Presence) takePresence(p bus.Presence) {
	pr.wanted(p)
	pr.lostBehind(p)
	if pr.o.Live.see(p) {
		wait.Nudge(pr.greet) // it does not know of this host yet
		pr.o.Record.Back(p.Host)
	}
	pr.turned()
}

// turned draws the consequences if hosts may have come or gone.
func (pr *Presence) turned() {
	pr.o.Live.tellTurns()
	pr.TakePlace()
}

// TakePlace ranks this host among those that push for each other. Connected hosts that can push
// come first, by alias. A host that cannot push comes after them. A host that is alone pushes for
// itself.
func (pr *Presence) TakePlace() {
	present := pr.o.Live.Present()
	if len(present) == 0 || !pr.hasLink() {
		pr.o.Record.SetPlace(0)
		return
	}
	pr.o.Record.SetPlace(courierPlace(pr.o.Host, pr.o.Record.CanPush(), present))
}

// hasLink reports whether this host has any link to other hosts. Without a link, nobody can hear
// what it has stored, though some hosts count as connected for a while.
func (pr *Presence) hasLink() bool {
	b := pr.o.Bus()
	return b != nil && b.Linked()
}

// Pusher is the host that pushes for all, if this host has a place among those that do; "" if each
// host pushes for itself.
func (pr *Presence) Pusher(place int) (first protocol.Name) {
	if place == 0 {
		return ""
	}
	if pr.o.Record.CanPush() {
		first = pr.o.Host
	}
	for _, p := range pr.o.Live.Present() {
		if p.Pushes && (first == "" || p.Host < first) {
			first = p.Host
		}
	}
	return first
}

func courierPlace(me protocol.Name, able bool, others []bus.Presence) int {
	place, couriers := 1, 0
	for _, p := range others {
		if !p.Pushes {
			continue
		}
		couriers++
		if !able || p.Host < me {
			place++
		}
	}
	if !able && couriers == 0 {
		return 0
	}
	return place
}
