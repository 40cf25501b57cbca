package talk

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/search"
	"github.com/parleyfleet/parley/protocol"
)

type finder struct {
	*tools
	indexer *search.Indexer
}

// Search answers control.Search.
func (fi *finder) Search(ctx context.Context, r control.SearchRequest) (control.SearchResult, error) {
	if r.Limit < 0 || r.Limit > control.MaxHits {
		return control.SearchResult{}, control.Errorf(control.KindUsage, "", "a search shows from 1 to %d messages", control.MaxHits)
	}
	from := addressOf(r.From)
	q := search.Query{Words: r.Words, From: from.String(), Since: r.Since, Limit: r.Limit}
	if r.Channel != "" {
		var err error
		if fi.Folded(func(s *fleet.State) { q.Channel, err = s.Channels.Find(r.Channel) }); err != nil {
			return control.SearchResult{}, err
		}
	}
	found, broken, err := fi.indexer.Search(ctx, q)
	switch {
	case errors.Is(err, search.ErrNoIndex):
		return control.SearchResult{}, control.Errorf(control.KindFailed, "see: parley status", "%v", err)
	case errors.Is(err, search.ErrNothingAsked):
		return control.SearchResult{}, control.Errorf(control.KindUsage, "parley search --help", "%v", err)
	case broken:
		return control.SearchResult{}, control.Errorf(control.KindFailed, "it is made anew: try again in a few seconds", "%v", err)
	case err != nil:
		return control.SearchResult{}, err
	}
	words := q.Matcher()
	result := control.SearchResult{Total: found.Total, Pending: fi.indexer.Pending()}
	for _, m := range fi.views.all(fi.present(found.Hits)) {
		result.Hits = append(result.Hits, control.MessageHit{Message: m, Excerpt: excerpt(words, m.Body)})
	}
	result.Memories, result.MemoriesTotal = fi.searchMemories(q, from.Name, words)
	return result, nil
}

// addressOf reads the address that a person gave. A text that is no address counts as a name.
func addressOf(text string) protocol.Address {
	a, err := protocol.ParseAddress(text)
	if err != nil {
		return protocol.Address{Name: text}
	}
	return a
}

func excerpt(words search.Matcher, text string) []control.Fragment {
	return each.Of(words.Excerpt(text), func(f search.Fragment) control.Fragment { return control.Fragment{Text: f.Text, Hit: f.Hit} })
}

// present returns the hits that the record still holds with the same bytes.
func (fi *finder) present(hits []search.Hit) (all []facts) {
	fi.Folded(func(s *fleet.State) {
		for _, hit := range hits {
			if it, ok := s.Ledger.Item(hit.Path); ok && it.Hash == hit.Hash {
				all = append(all, factsOf(s, it))
			}
		}
	})
	return all
}

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
			hit := control.MemoryHit{Excerpt: excerpt(words, text)}
			fi.Folded(func(s *fleet.State) { hit.Memory = memoryView(s, m) })
			hits = append(hits, hit)
		}
	}
	return hits, total
}

func memoryText(m protocol.Memory) string {
	text := m.Subject + ": " + m.Body
	if len(m.Tags) > 0 {
		text += " [" + strings.Join(m.Tags, ", ") + "]"
	}
	return text
}
