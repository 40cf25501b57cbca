package talk

import (
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/search"
	"github.com/parleyfleet/parley/protocol"
)

// defaultMemories is how many memories a search shows if no limit is given.
const defaultMemories = 20

// searchMemories finds the memories that hold, the newest first. `total` counts also those beyond
// the limit. Memories are few and lie in memory, so they need no index.
func (fi *finder) searchMemories(q search.Query, from string, words search.Matcher) (hits []control.MemoryHit, total int) {
	filter := shelf.MemoryFilter{From: from}
	if q.Channel != "" {
		filter.Scopes = []protocol.ChannelID{q.Channel}
	}
	var memories []shelf.Memory
	fi.Folded(func(s *fleet.State) { memories = s.Memories.List(filter) })
	limit := q.Limit
	if limit <= 0 {
		limit = defaultMemories
	}
	for _, m := range slices.Backward(memories) {
		text := memoryText(m.Memory)
		if m.Timestamp.Before(q.Since) || !words.Matches(text) {
			continue
		}
		if total++; total <= limit {
			fi.Folded(func(s *fleet.State) {
				hits = append(hits, control.MemoryHit{Memory: memoryView(s, m), Excerpt: excerpt(words, text)})
			})
		}
	}
	return hits, total
}

// memoryText is the text of a memory that is searched.
func memoryText(m protocol.Memory) string {
	text := m.Subject + ": " + m.Body
	if len(m.Tags) > 0 {
		text += " [" + strings.Join(m.Tags, ", ") + "]"
	}
	return text
}
