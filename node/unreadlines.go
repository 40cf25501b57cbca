package node

import (
	"strings"

	"github.com/parleyfleet/parley/node/books"
	"github.com/parleyfleet/parley/protocol"
)

// sayUnreadLines warns once of the lines that cannot be read in what a host has told
// the fleet of itself last: the rest of it counts. The caller holds mu.
func (n *Node) sayUnreadLines(alias protocol.Name) {
	h, joined := n.state.Keys().Host(alias)
	if !joined || len(h.Unread) == 0 {
		return
	}
	about := "unread " + alias.String() + " " + protocol.Hash([]byte(strings.Join(h.Unread, "\n")))
	n.notices.Once(about, "the host %s says of itself what this version of parley cannot read, and the rest counts: %s", alias, books.UnreadText(h.Unread))
}

// sayAllUnreadLines does that for all hosts, after the record was read.
func (n *Node) sayAllUnreadLines() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, h := range n.state.Keys().Hosts() {
		n.sayUnreadLines(h.Alias)
	}
}
