package node

import (
	"context"

	"github.com/parleyfleet/parley/node/control"
)

// Replies answers control.Replies.
func (n *Node) Replies(_ context.Context, r control.ThreadRequest) ([]control.Message, error) {
	asked, err := n.find(r.Path)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	all := n.factsOfAll(n.state.Talk.Answers(asked.item.Path))
	n.mu.Unlock()
	return n.views(all), nil
}

// Thread answers control.Thread.
func (n *Node) Thread(_ context.Context, r control.ThreadRequest) ([]control.ThreadMessage, error) {
	in, err := n.find(r.Path)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	tree := n.state.Talk.Thread(in.item.Path)
	all := make([]facts, len(tree))
	for i, it := range tree {
		all[i] = n.factsOf(it.Item)
	}
	n.mu.Unlock()
	messages := make([]control.ThreadMessage, 0, len(tree))
	for i, f := range all {
		m, err := n.view(f)
		if err != nil {
			return nil, asError(err)
		}
		messages = append(messages, control.ThreadMessage{Message: m, Depth: tree[i].Depth})
	}
	return messages, nil
}
