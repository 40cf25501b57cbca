package console

import (
	"strings"

	"github.com/parleyfleet/parley/cmd/parley/talk"
	"github.com/parleyfleet/parley/internal/each"
	"github.com/parleyfleet/parley/node/control"
)

const mostHits = 50 // messages, and as many memories

// searchPage is what was sought, and what was found.
type searchPage struct {
	Words, From, Channel, Since string
	Names                       []string
	Channels                    []channelLine
	Asked                       bool
	Problem                     *control.Error // why nothing was sought
	Hits                        []hit
	Memories                    []memory
	control.SearchResult
}

// hit is a message that was found.
type hit struct {
	said
	Excerpt []control.Fragment
}

type memory struct {
	control.MemoryHit
	ID string
}

func showSearch(a *asking) (any, string) {
	page := searchPage{Words: a.FormValue("words"), From: a.FormValue("from"), Channel: a.FormValue("channel"), Since: a.FormValue("since"), Names: a.names()[1:]}
	for _, c := range need(a, control.Channels.Verb, control.None{}) {
		if c.Name != "" || c.ID.String() == page.Channel {
			page.Channels = append(page.Channels, channelLine{c, channelLabel(c)})
		}
	}
	page.Asked = strings.TrimSpace(page.Words+page.From+page.Channel+page.Since) != ""
	if page.Asked {
		page.Problem = page.seek(a)
	}
	return page, "Search"
}

// seek asks for what fits. What somebody has not typed to the end may be wrong.
func (p *searchPage) seek(a *asking) *control.Error {
	r := control.SearchRequest{Words: p.Words, From: p.From, Channel: p.Channel, Limit: mostHits}
	if p.Since != "" {
		var err error
		if r.Since, err = talk.ParseSince(p.Since, a.c.now(), a.c.view().Zone); err != nil {
			return control.Errorf(control.KindUsage, "", "since: %v", err)
		}
	}
	found, err := ask(a, control.Search, r)
	if err != nil {
		return control.AsError(err)
	}
	p.SearchResult = found
	p.Hits = each.Of(found.Hits, func(h control.MessageHit) hit { return hit{a.c.inList(h.Message), h.Excerpt} })
	p.Memories = each.Of(found.Memories, func(m control.MemoryHit) memory { return memory{m, talk.MemoryID(m.File)} })
	return nil
}

// Command is the search as a person would type it.
func (p searchPage) Command() string {
	words := []string{"search"}
	for _, w := range [][2]string{{"", p.Words}, {"--from", p.From}, {"--channel", p.Channel}, {"--since", p.Since}} {
		if w[1] != "" {
			words = append(words, each.Only(w[:], func(word string) bool { return word != "" })...)
		}
	}
	return command(words)
}
