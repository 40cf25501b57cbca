package presence

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"github.com/parleyfleet/parley/bus"
	"github.com/parleyfleet/parley/internal/wait"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/protocol"
)

// greetGap is the least time between two times at which this host tells that it is there because
// another host has come or asks. Else the letters of one host could have all others speak to all
// again and again.
const greetGap = 250 * time.Millisecond

// Presence tells the other hosts that this one is there, takes in what they say of
// themselves, and ranks those that push for each other. What is known of them is in live.
type Presence struct {
	o     Options
	greet chan struct{} // holds a token when a host came: announce this one soon
}

// Options say who tells that, and by what. All are required.
type Options struct {
	Host    protocol.Name
	Version string
	Started time.Time
	Start   uint64 // rises with every start
	Now     func() time.Time
	Log     zerolog.Logger

	Bus     func() *bus.Bus // nil where there is none
	Live    *Live
	Lookout *Lookout
	Twins   *Twins
	Asker   *Asker
	Record  Courier
	Agents  func() []protocol.Name   // that are served here
	At      func() map[string]string // what they are at, where that is known
	Lacks   func() string            // see bus.Presence

	AnswerTwin func(context.Context) // writes a message, by which another node of this name learns of this one
}

// New tells nobody yet.
func New(o Options) *Presence {
	return &Presence{o: o, greet: make(chan struct{}, 1)}
}

// Courier is the record as far as it matters to the other hosts: who can push does so
// for all of them, in turn.
type Courier interface {
	CanPush() bool
	SetPlace(int)
}

// AnnounceAlways tells the other hosts every few seconds, and whenever one has
// come, that this one is live.
func (pr *Presence) AnnounceAlways(ctx context.Context) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		pr.Announce()
		spoke := time.Now()
		pr.turned() // hosts that were not heard of for a while are gone
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

// AnnounceSoon tells them in a moment, together with what changes until then.
func (pr *Presence) AnnounceSoon() { wait.Nudge(pr.greet) }

// Announce tells the other hosts that this one is there.
func (pr *Presence) Announce() { pr.announceAs(true) }

// Leave tells them that it goes.
func (pr *Presence) Leave() { pr.announceAs(false) }

func (pr *Presence) announceAs(live bool) {
	b := pr.o.Bus()
	if b == nil {
		return
	}
	p := bus.Presence{
		Host: pr.o.Host, Live: live, Since: pr.o.Started, Version: pr.o.Version, Agents: []string{},
		Pushes: pr.o.Record.CanPush(), Run: pr.o.Twins.run, Machine: whereabouts.Hostname(), Start: pr.o.Start,
		Wants: pr.o.Live.takeMissing(), Lost: pr.o.Live.takeLost(), At: pr.o.At(), Lacks: pr.o.Lacks(),
	}
	for _, name := range pr.o.Agents() {
		p.Agents = append(p.Agents, name.String())
	}
	if err := b.Announce(p); err != nil {
		pr.o.Log.Debug().Err(err).Msg("cannot announce this host")
	}
}

// SawHost is the bus's news of a host that came, is there or leaves.
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
	}
	pr.turned()
}

// turned looks what it means that hosts may have come or gone.
func (pr *Presence) turned() {
	pr.o.Live.tellTurns()
	pr.TakePlace()
}

// TakePlace ranks this host among those that push for each other: who can push and
// is connected, by alias. Who cannot push comes after them; who is alone pushes
// for itself.
func (pr *Presence) TakePlace() {
	present := pr.o.Live.Present()
	if len(present) == 0 || !pr.hasLink() {
		pr.o.Record.SetPlace(0)
		return
	}
	pr.o.Record.SetPlace(courierPlace(pr.o.Host, pr.o.Record.CanPush(), present))
}

// hasLink reports whether this host has any link to others. Without one nobody can
// hear what it has stored, though some count as connected for a while.
func (pr *Presence) hasLink() bool {
	b := pr.o.Bus()
	return b != nil && b.Linked()
}

// Pusher is the host that pushes for all, where this one has a place among those that
// do; "" where each pushes for itself.
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
