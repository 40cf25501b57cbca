package talk

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
)

// Show answers control.Show.
func (vs *Views) Show(_ context.Context, r control.ShowRequest) (control.Message, error) {
	f, err := vs.find(r.Path)
	if err != nil {
		return control.Message{}, err
	}
	return vs.of(f)
}

// Replies answers control.Replies.
func (vs *Views) Replies(_ context.Context, r control.ThreadRequest) ([]control.Message, error) {
	asked, err := vs.find(r.Path)
	if err != nil {
		return nil, err
	}
	var all []facts
	vs.Folded(func(s *fleet.State) {
		all = each.Of(s.Talk.Answers(asked.item.Path), func(it *fleet.Item) facts { return factsOf(s, it) })
	})
	return vs.all(all), nil
}

// Thread answers control.Thread.
func (vs *Views) Thread(_ context.Context, r control.ThreadRequest) ([]control.ThreadMessage, error) {
	in, err := vs.find(r.Path)
	if err != nil {
		return nil, err
	}
	var tree []fleet.ThreadItem
	var all []facts
	vs.Folded(func(s *fleet.State) {
		tree = s.Talk.Thread(in.item.Path)
		for _, it := range tree {
			all = append(all, factsOf(s, it.Item))
		}
	})
	messages := make([]control.ThreadMessage, 0, len(tree))
	for i, f := range all {
		messages = append(messages, control.ThreadMessage{Message: vs.shown(f), Depth: tree[i].Depth})
	}
	return messages, nil
}
