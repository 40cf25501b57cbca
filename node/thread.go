package node

import (
	"context"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/node/control"
)

// Show answers control.Show.
func (vs *views) Show(_ context.Context, r control.ShowRequest) (control.Message, error) {
	f, err := vs.find(r.Path)
	if err != nil {
		return control.Message{}, err
	}
	m, err := vs.of(f)
	return m, asError(err)
}

// Replies answers control.Replies.
func (vs *views) Replies(_ context.Context, r control.ThreadRequest) ([]control.Message, error) {
	asked, err := vs.find(r.Path)
	if err != nil {
		return nil, err
	}
	var all []facts
	vs.folded(func(s *fleet.State) { all = factsOfAll(s, s.Talk.Answers(asked.item.Path)) })
	return vs.all(all), nil
}

// Thread answers control.Thread.
func (vs *views) Thread(_ context.Context, r control.ThreadRequest) ([]control.ThreadMessage, error) {
	in, err := vs.find(r.Path)
	if err != nil {
		return nil, err
	}
	var tree []fleet.ThreadItem
	var all []facts
	vs.folded(func(s *fleet.State) {
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
