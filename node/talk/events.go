package talk

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
	"github.com/parleyfleet/parley/protocol"
)

// narrator tells what happens to those who follow it.
type narrator struct {
	*tools
}

// Events answers control.Events.
func (nr *narrator) Events(ctx context.Context, r control.EventsRequest, yield func(control.Event) error) error {
	wanted, err := nr.filter(r)
	if err != nil {
		return err
	}
	f := nr.Happened.Follow(wanted.mayTell)
	defer f.End()
	if err := yield(control.Event{Time: nr.Now().UTC(), Kind: control.EventBegun}); err != nil {
		return err
	}
	return f.Each(ctx, func(h feed.Happening) error { return nr.tell(h, wanted, yield) }, func(missed int) error {
		return yield(control.Event{Time: nr.Now().UTC(), Kind: control.EventMissed, Missed: missed})
	})
}

// eventFilter says which events a follower wants.
type eventFilter struct {
	kinds   []control.EventKind
	agent   protocol.Address   // zero: any
	channel protocol.ChannelID // "": any
}

func (nr *narrator) filter(r control.EventsRequest) (w eventFilter, err error) {
	w.kinds = r.Kinds
	if len(w.kinds) == 0 {
		w.kinds = control.EventKinds()
	}
	for _, k := range w.kinds {
		if !slices.Contains(control.EventKinds(), k) {
			return w, control.Errorf(control.KindUsage, "", "cannot follow what happens: there are no events of the kind %q", k)
		}
	}
	if r.Agent != "" {
		if w.agent, err = knownAddress(nr.Folded, r.Agent); err != nil {
			return w, err
		}
	}
	if r.Channel != "" {
		nr.Folded(func(s *fleet.State) { w.channel, err = s.Channels.Find(r.Channel) })
	}
	return w, err
}

// mayTell reports whether something may have to be told. A message can also bring another one to a
// stage.
func (w eventFilter) mayTell(h feed.Happening) bool {
	return slices.Contains(w.kinds, h.Kind) || h.Kind == control.EventMessage && (slices.Contains(w.kinds, control.EventStage) || slices.Contains(w.kinds, control.EventGate))
}

// of reports whether events of a kind are wanted that belong to no agent and no channel.
func (w eventFilter) of(k control.EventKind) bool {
	return slices.Contains(w.kinds, k) && w.agent.Name == "" && w.channel == ""
}

// about reports whether events of a kind that are about that message are wanted.
func (w eventFilter) about(k control.EventKind, it *fleet.Item) bool {
	return slices.Contains(w.kinds, k) && isText(it) && (w.channel == "" || it.Path.Channel() == w.channel) &&
		(w.agent.Name == "" || wroteAt(it, w.agent) || addressedTo(it, w.agent))
}

// tell yields those events of something that has happened which are wanted.
func (nr *narrator) tell(h feed.Happening, wanted eventFilter, yield func(control.Event) error) error {
	switch h.Kind {
	case control.EventMessage:
		return nr.tellCame(h, wanted, yield)
	case control.EventStage:
		var it *fleet.Item
		var ok bool
		nr.Folded(func(s *fleet.State) { it, ok = s.Ledger.Item(h.Stage.Path) })
		if !ok || !wanted.about(h.Kind, it) {
			return nil
		}
	case control.EventRun:
		if !wanted.aboutRun(h.Run, nr.Config.Alias) {
			return nil
		}
	default:
		if !wanted.of(h.Kind) {
			return nil
		}
	}
	return yield(h.Event)
}

func (w eventFilter) aboutRun(r *control.RunChange, here protocol.Name) bool {
	mine := w.agent.Name == "" || w.agent.Name == r.Agent.String() && (w.agent.Host == "" || w.agent.Host == here.String())
	return slices.Contains(w.kinds, control.EventRun) && mine && (w.channel == "" || r.Path.Channel() == w.channel)
}

// tellCame yields a message that came, and the stage to which it brings another one.
func (nr *narrator) tellCame(h feed.Happening, wanted eventFilter, yield func(control.Event) error) error {
	var f facts
	var to fleet.Advance
	var advanced bool
	var gate *control.GateChange
	nr.Folded(func(s *fleet.State) {
		if it, ok := s.Ledger.Item(h.Came); ok {
			f = factsOf(s, it)
			to, advanced = s.Talk.Advance(it)
			gate = nr.Gates(s, it)
		}
	})
	if f.item == nil {
		return nil
	}
	if wanted.about(control.EventMessage, f.item) {
		m := nr.views.shown(f)
		h.Message = &m
		if err := yield(h.Event); err != nil {
			return err
		}
	}
	if gate != nil && wanted.about(control.EventGate, f.item) {
		if err := yield(control.Event{Time: h.Time, Kind: control.EventGate, Gate: gate}); err != nil {
			return err
		}
	}
	if !advanced || !wanted.about(control.EventStage, to.Of) {
		return nil
	}
	return yield(control.Event{
		Time: h.Time, Kind: control.EventStage, Stage: &control.StageChange{Path: to.Of.Path, Stage: to.Stage, By: to.By}})
}
