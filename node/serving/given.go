package serving

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/internal/visible"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/node/promptlog"
	"github.com/parleyfleet/parley/node/runlog"
	"github.com/parleyfleet/parley/protocol"
)

// prompts makes the texts that agents of this host are given, and answers the verb that shows one.
type prompts struct {
	*Options
	profiles *profiles
	given    *promptlog.Log // what commands were given
	runs     *runlog.Log
}

// givenFor is what an agent's command is given for a message: its bare text, or everything that the
// agent should know.
func (pr *prompts) givenFor(a configs.Agent, asked *protocol.Message) (prompt.Prompt, error) {
	if a.Input != configs.InputPrompt {
		return bare(asked.Body), nil
	}
	fence, err := pr.fence(a.Name.String() + "\x00" + asked.Path.String())
	if err != nil {
		return prompt.Prompt{}, err
	}
	r, earlier := pr.surroundings(a, asked.Path.Channel(), asked.Path)
	r.Fence = fence
	r.Message = pr.letter(asked)
	if r.History, err = pr.history(earlier); err != nil {
		return prompt.Prompt{}, err
	}
	return prompt.Build(r), nil
}

// surroundings is what an agent may know of a channel, and the messages there that it may see
// before the one at `p` (with the zero path: all). The last message comes first.
func (pr *prompts) surroundings(a configs.Agent, c protocol.ChannelID, p protocol.Path) (r prompt.Request, earlier []*fleet.Item) {
	r = prompt.Request{Agent: a.Name.String(), Host: pr.Host.String(), Fleet: pr.Config.Fleet.String(), Channel: c}
	pr.Folded(func(s *fleet.State) {
		r.Purposes = s.Channels.Purposes(c)
		r.Profile, r.Unaccepted = pr.profiles.of(s, agents.ProfileName(a)).given(a)
		scopes := []protocol.ChannelID{"", c}
		for _, above := range r.Purposes {
			scopes = append(scopes, above.Parent)
		}
		for _, m := range s.Memories.List(shelf.MemoryFilter{Scopes: scopes}) {
			r.Memories = append(r.Memories, m.Memory)
		}
		past := s.Ledger.ChannelBackward(c)
		if it, ok := s.Ledger.Item(p); ok {
			past = s.Ledger.ChannelBefore(c, it)
		}
		looked := 0
		for it := range past {
			if looked++; looked > maxEarlier {
				r.Older = true
				break
			}
			if s.Talk.Sees(it, fleet.Who{Name: a.Name.String(), Host: pr.Host}) {
				earlier = append(earlier, it)
			}
		}
	})
	return r, earlier
}

// maxEarlier is how many messages of a channel's past are looked at for a prompt. A prompt can hold
// far fewer.
const maxEarlier = 2000

// history reads as many of the messages as a prompt can hold. `earlier` has the last one first.
func (pr *prompts) history(earlier []*fleet.Item) ([]prompt.ShownMessage, error) {
	letters := make([]prompt.ShownMessage, len(earlier))
	size := 0
	for i, it := range earlier {
		at := len(earlier) - 1 - i
		if size > prompt.DefaultLimit {
			// This message will be left out, and only counts.
			letters[at] = prompt.ShownMessage{Path: it.Path, From: it.From}
			continue
		}
		m, err := pr.Load(it)
		if err != nil {
			return nil, err
		}
		letters[at] = pr.letter(m)
		size += len(m.Body)
	}
	return letters, nil
}

func (pr *prompts) letter(m *protocol.Message) prompt.ShownMessage {
	l := prompt.ShownMessage{Path: m.Path, From: m.From, Host: m.Host, To: m.Names(), At: m.Timestamp, Act: m.Act, Unattended: m.Unattended, Body: m.Body}
	pr.Folded(func(s *fleet.State) {
		if it, ok := s.Ledger.Item(m.Path); ok {
			l.Signature = s.Signature(it)
		}
	})
	return l
}

// untold is everything that an agent should know of a channel before something is said to it there,
// without what was said: that text is different each time.
func (pr *prompts) untold(a configs.Agent, c protocol.ChannelID) (r prompt.Request, earlier []*fleet.Item, err error) {
	r, earlier = pr.surroundings(a, c, protocol.Path{})
	r.Fence, err = pr.fence(a.Name.String() + "\x00" + random.Hex(8))
	return r, earlier, err
}

// aside is what an agent's command is given for a text that the human says to it outside of the
// record.
func (pr *prompts) aside(a configs.Agent, text string, at time.Time) (prompt.Prompt, error) {
	if a.Input != configs.InputPrompt {
		return bare(text), nil
	}
	r, _, err := pr.untold(a, "")
	if err != nil {
		return prompt.Prompt{}, err
	}
	r.Message = prompt.ShownMessage{
		From: pr.Human.String(), Host: pr.Host, To: []string{a.Name.String()}, At: at, Act: protocol.ActHey,
		Signature: protocol.SignatureValid, Body: text,
	}
	return prompt.Build(r), nil
}

// program is what an agent should know when its interactive program is opened in a channel.
func (pr *prompts) program(a configs.Agent, c protocol.ChannelID) (prompt.Prompt, error) {
	r, earlier, err := pr.untold(a, c)
	if err != nil {
		return prompt.Prompt{}, err
	}
	if r.History, err = pr.history(earlier); err != nil {
		return prompt.Prompt{}, err
	}
	return prompt.Context(r), nil
}

// bare is the prompt of an agent that is given only a text.
func bare(text string) prompt.Prompt {
	text += "\n"
	return prompt.Prompt{Text: text, Parts: []prompt.Part{{Kind: prompt.Message, Text: text}}}
}

// fence is a word that nobody without this host's key can foresee. It is the same each time, so
// that "parley prompt" shows what the agent was given.
func (pr *prompts) fence(about string) (string, error) {
	seed, err := pr.Key().Pair.Seed()
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte("parley-fence-v1\x00" + about))
	return hex.EncodeToString(mac.Sum(nil)[:16]), nil
}

// promptedAgent is the agent that is named or, if `name` is "", the agent served here whose command
// the message is for.
func (pr *prompts) promptedAgent(it *fleet.Item, name string) (configs.Agent, error) {
	if name != "" {
		a, err := pr.Roster.Get(name)
		if err == nil && a.Door != configs.DoorExec {
			return a, control.Errorf(control.KindRefused, "parley read "+visible.Shell(it.Path.Short()), "%s asks for its mail itself: nothing is given to it", a.Name)
		}
		return a, err
	}
	all, i := pr.Roster.All(), -1
	pr.Folded(func(s *fleet.State) {
		i = slices.IndexFunc(all, func(a configs.Agent) bool {
			return a.Door == configs.DoorExec && s.Talk.Reaches(it, fleet.Who{Name: a.Name.String(), Host: pr.Host})
		})
	})
	if i >= 0 {
		return all[i], nil
	}
	return configs.Agent{}, control.Errorf(control.KindNotFound, "name one: parley prompt "+visible.Shell(it.Path.Short())+" --agent NAME",
		"no agent with a command is served here that %s is for", it.Path.Short())
}
