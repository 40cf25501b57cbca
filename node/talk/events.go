package talk

import (
	"context"
	"slices"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/feed"
)

// narrator tells what happens to those who follow it.
type narrator struct {
	*tools
}

// Events answers control.Events.
func (nr *narrator) Events(ctx context.Context, r control.EventsRequest, yield func(control.Event) error) error {
	wanted, err := filterOf(r)
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

// eventFilter is the kinds of events that a follower wants.
type eventFilter []control.EventKind

func filterOf(r control.EventsRequest) (eventFilter, error) {
	for _, k := range r.Kinds {
		if !slices.Contains(control.EventKinds(), k) {
			return nil, control.Errorf(control.KindUsage, "", "cannot follow what happens: there are no events of the kind %q", k)
		}
	}
	if len(r.Kinds) == 0 {
		return control.EventKinds(), nil
	}
	return r.Kinds, nil
}

// mayTell reports whether something may have to be told. A message can also bring another one to a
// stage.
func (w eventFilter) mayTell(h feed.Happening) bool {
	return slices.Contains(w, h.Kind) || h.Kind == control.EventMessage && (slices.Contains(w, control.EventStage) || slices.Contains(w, control.EventGate))
}

// about reports whether events of a kind that are about that message are wanted.
func (w eventFilter) about(k control.EventKind, it *fleet.Item) bool {
	return slices.Contains(w, k) && isText(it)
}

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
	default:
		if !slices.Contains(wanted, h.Kind) {
			return nil
		}
	}
	return yield(h.Event)
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
