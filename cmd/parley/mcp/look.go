package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/prompt"
)

// How many messages log and search show: usually, and at most.
const (
	usualList = 20
	mostList  = 100
)

// me is who calls, and what waits.
type me struct {
	control.Self
	Unread int `json:"unread"` // how much mail waits
	Gates  int `json:"gates"`  // how much waits for the human to decide
}

func (s *server) whoami(ctx context.Context, _ call, _ struct{}) (answer, error) {
	self, err := control.Whoami.Ask(ctx, s.node)
	if err != nil {
		return answer{}, err
	}
	if !self.Agent || self.Name == "" {
		return answer{Me: &me{Self: self}, Text: fmt.Sprintf("The node of %s in the fleet %s takes this program for no agent (%s): you can look, and say nothing. %s is the human there. To say something, %s.",
			self.Host, self.Fleet, self.How, self.Human, noAgent)}, nil
	}
	status, err := control.ShowStatus.Ask(ctx, s.node)
	if err != nil {
		return answer{}, err
	}
	who := me{Self: self, Gates: status.Gates}
	for _, a := range status.Agents {
		if a.Name == self.Name {
			who.Unread = a.Unread
		}
	}
	text := fmt.Sprintf("You are %s@%s, an agent in the fleet %s (known by %s). Your human here is %s. %s for you.", self.Name, self.Host, self.Fleet, self.How, self.Human, waits(who.Unread, "message"))
	if who.Gates > 0 {
		text += fmt.Sprintf(" %s for %s to decide: tell them of parley gates.", waits(who.Gates, "question"), self.Human)
	}
	return answer{Me: &who, Text: text}, nil
}

func waits(n int, noun string) string {
	if n == 1 {
		return "1 " + noun + " waits"
	}
	return cli.Count(n, noun) + " wait"
}

// participant is somebody who can be written to.
type participant struct {
	Name  string             `json:"name"` // with its host, as hey takes it
	Kind  string             `json:"kind"` // agent or human
	Live  bool               `json:"live"` // its host is connected now
	State control.AgentState `json:"state,omitempty"`
}

func (s *server) who(ctx context.Context, _ call, _ struct{}) (answer, error) {
	list, err := control.List.Ask(ctx, s.node, control.HostsRequest{})
	if err != nil {
		return answer{}, err
	}
	var done answer
	var b strings.Builder
	fmt.Fprintf(&b, "%s can be written to:\n", cli.Count(len(list), "participant"))
	for _, p := range list {
		one := participant{Name: prompt.Name(p.Name.String()) + "@" + prompt.Name(p.Host.String()), Kind: p.Kind, Live: p.Live, State: p.Presence}
		done.Participants = append(done.Participants, one)
		b.WriteString(one.Name + "  " + one.Kind)
		switch {
		case !p.Live:
			b.WriteString(", its host is away: it reads later")
		case p.Waits != nil:
			text, _ := cli.View{Zone: time.UTC, Now: time.Now}.Waits(*p.Waits)
			b.WriteString(", " + text)
		case p.Presence != "":
			b.WriteString(", " + string(p.Presence))
		}
		b.WriteString("\n")
	}
	done.Text = b.String()
	return done, nil
}

type logArguments struct {
	ID      string `json:"id,omitempty" jsonschema:"only the conversation of this message"`
	Channel string `json:"channel,omitempty" jsonschema:"only this channel, by name or id"`
	Last    int    `json:"last,omitempty" jsonschema:"how many of the newest, at most 100; usually 20"`
}

func (s *server) log(ctx context.Context, _ call, in logArguments) (answer, error) {
	last, err := listOf(in.Last)
	if err != nil {
		return answer{}, err
	}
	var list []control.Message
	if in.ID != "" {
		thread, failed := control.Thread.Ask(ctx, s.node, control.ThreadRequest{Path: in.ID})
		for _, m := range thread[max(0, len(thread)-last):] {
			list = append(list, m.Message)
		}
		err = failed
	} else {
		err = control.Log.Ask(ctx, s.node, control.LogRequest{Channel: in.Channel, Last: last}, func(m control.Message) error {
			list = append(list, m)
			return nil
		})
	}
	if err != nil {
		return answer{}, err
	}
	if len(list) == 0 {
		return answer{Text: "Nothing was said there yet."}, nil
	}
	block, refs := listed("Messages, by their id:\n", list)
	return answer{Text: tell("read shows one as a whole.", block), Messages: refs}, nil
}

// listOf is how many messages an argument asks for.
func listOf(n int) (int, error) {
	switch {
	case n < 0 || n > mostList:
		return 0, control.Errorf(control.KindUsage, "", "cannot list %d messages: it is from 1 to %d", n, mostList)
	case n == 0:
		n = usualList
	}
	return n, nil
}

type searchArguments struct {
	Words   string `json:"words,omitempty" jsonschema:"all must occur; in quotes: together; -word: not; word*: any that begins so"`
	From    string `json:"from,omitempty" jsonschema:"only what this participant wrote"`
	Channel string `json:"channel,omitempty" jsonschema:"only this channel, by name or id"`
	Days    int    `json:"days,omitempty" jsonschema:"only of the last so many days"`
	Limit   int    `json:"limit,omitempty" jsonschema:"at most so many, up to 100; usually 20"`
}

func (s *server) search(ctx context.Context, _ call, in searchArguments) (answer, error) {
	limit, err := listOf(in.Limit)
	switch {
	case err != nil:
		return answer{}, err
	case in.Days < 0 || in.Days > 36500:
		return answer{}, control.Errorf(control.KindUsage, "", "cannot search %d days: days is from 1 to 36500", in.Days)
	}
	r := control.SearchRequest{Words: in.Words, From: in.From, Channel: in.Channel, Limit: limit}
	if in.Days > 0 {
		r.Since = s.program.Now().Add(-time.Duration(in.Days) * 24 * time.Hour)
	}
	found, err := control.Search.Ask(ctx, s.node, r)
	if err != nil {
		return answer{}, err
	}
	lead := fmt.Sprintf("%s, the best first", cli.Count(found.Total, "message"))
	if found.Pending > 0 {
		lead += fmt.Sprintf("; %s still to be indexed", cli.Count(found.Pending, "message"))
	}
	var done answer
	var blocks []prompt.Block
	if len(found.Hits) > 0 {
		list := make([]control.Message, len(found.Hits))
		for i, hit := range found.Hits {
			if list[i] = hit.Message; len(hit.Excerpt) > 0 {
				list[i].Body = excerpt(hit.Excerpt)
			}
		}
		var block prompt.Block
		block, done.Messages = listed("Messages, with the words around what was found; read shows one as a whole:\n", list)
		blocks = append(blocks, block)
	}
	if len(found.Memories) > 0 {
		var b strings.Builder
		for _, m := range found.Memories {
			text := cmp.Or(excerpt(m.Excerpt), m.Subject)
			fmt.Fprintf(&b, "%s by %s: %s\n", m.File, prompt.Name(m.From), prompt.Quote(text))
		}
		blocks = append(blocks, prompt.Block{Head: "Memories, which nobody signed; memory with do show shows one:\n", Body: b.String()})
	}
	done.Text = tell(lead+".", blocks...)
	return done, nil
}

func excerpt(fragments []control.Fragment) string {
	var b strings.Builder
	for _, f := range fragments {
		b.WriteString(f.Text)
	}
	return b.String()
}
