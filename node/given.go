package node

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/fleet"
	"github.com/parleyfleet/parley/fleet/shelf"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/node/agents"
	"github.com/parleyfleet/parley/node/control"
	"github.com/parleyfleet/parley/node/door"
	"github.com/parleyfleet/parley/node/prompt"
	"github.com/parleyfleet/parley/protocol"
)

// givenFor is what an agent's command is given for a message: its bare text, or
// all that the agent should know.
func (n *Node) givenFor(a configs.Agent, asked *protocol.Message) (prompt.Prompt, error) {
	if a.Input != configs.InputPrompt {
		return prompt.Prompt{Text: asked.Body + "\n"}, nil
	}
	fence, err := n.fence(a.Name.String() + "\x00" + asked.Path.String())
	if err != nil {
		return prompt.Prompt{}, err
	}
	r, earlier := n.surroundings(a, asked.Path.Channel(), asked.Path)
	r.Fence = fence
	r.Message = n.letter(asked)
	if r.History, err = n.history(earlier); err != nil {
		return prompt.Prompt{}, err
	}
	return prompt.Build(r), nil
}

// surroundings is what an agent may know of a channel, and the messages there
// that it may see before the one at p (with the zero path: all), the last first.
func (n *Node) surroundings(a configs.Agent, c protocol.ChannelID, p protocol.Path) (prompt.Request, []*fleet.Item) {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := prompt.Request{
		Agent: a.Name.String(), Host: n.cfg.Alias.String(), Fleet: n.cfg.Fleet.String(),
		Channel: c, Purposes: n.state.Channels.Purposes(c),
	}
	if actor, _, ok := n.state.Profiles.Of(agents.ProfileName(a)); ok {
		r.Profile = &actor
	}
	scopes := []protocol.ChannelID{"", c}
	for _, above := range r.Purposes {
		scopes = append(scopes, above.Parent)
	}
	for _, m := range n.state.Memories.List(shelf.MemoryFilter{Scopes: scopes}) {
		r.Memories = append(r.Memories, m.Memory)
	}
	past := n.state.Ledger.ChannelBackward(c)
	if it, ok := n.state.Ledger.Item(p); ok {
		past = n.state.Ledger.ChannelBefore(c, it)
	}
	var earlier []*fleet.Item
	looked := 0
	for it := range past {
		if looked++; looked > maxEarlier {
			r.Older = true
			break
		}
		if n.state.Talk.Sees(it, n.me(a.Name.String())) {
			earlier = append(earlier, it)
		}
	}
	return r, earlier
}

// maxEarlier is how many messages of a channel's past are looked at for a prompt,
// which can hold far fewer.
const maxEarlier = 2000

// history reads as many of the messages, given last first, as a prompt can hold.
func (n *Node) history(earlier []*fleet.Item) ([]prompt.Letter, error) {
	letters := make([]prompt.Letter, len(earlier))
	size := 0
	for i, it := range earlier {
		at := len(earlier) - 1 - i
		if size > prompt.DefaultLimit {
			// It will be left out; only that it is there counts.
			letters[at] = prompt.Letter{Path: it.Path, From: it.From}
			continue
		}
		m, err := n.views.load(it)
		if err != nil {
			return nil, err
		}
		letters[at] = n.letter(m)
		size += len(m.Body)
	}
	return letters, nil
}

func (n *Node) letter(m *protocol.Message) prompt.Letter {
	l := prompt.Letter{Path: m.Path, From: m.From, Host: m.Host, To: m.Names(), At: m.Timestamp, Act: m.Act, Body: m.Body}
	n.mu.Lock()
	defer n.mu.Unlock()
	if it, ok := n.state.Ledger.Item(m.Path); ok {
		l.Signature = n.state.Signature(it)
	}
	return l
}

// fence is a word that nobody without this host's key can foresee, and that is
// the same each time: what "parley prompt" shows is what the agent was given.
func (n *Node) fence(about string) (string, error) {
	seed, err := n.ownKey().Pair.Seed()
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, seed)
	mac.Write([]byte("parley-fence-v1\x00" + about))
	return hex.EncodeToString(mac.Sum(nil)[:16]), nil
}

// Prompt answers control.ShowPrompt.
func (n *Node) Prompt(_ context.Context, by control.Caller, r control.PromptRequest) (control.Prompt, error) {
	f, err := n.views.find(r.Path)
	if err != nil {
		return control.Prompt{}, err
	}
	as := r.As
	if as == "" && by.Kind != control.Operator {
		as = by.Name.String() // an agent sees what it is given itself
	}
	a, err := n.promptedAgent(f.item, as)
	if err != nil {
		return control.Prompt{}, err
	}
	asked, err := n.views.load(f.item)
	if err != nil {
		return control.Prompt{}, asError(err)
	}
	given, err := n.givenFor(a, asked)
	if err != nil {
		return control.Prompt{}, asError(err)
	}
	return control.Prompt{Agent: a.Name.String(), Input: agents.InputOf(a), Text: given.Text, LeftOut: given.LeftOut.Total()}, nil
}

// promptedAgent is the agent named or, with "", the one served here whose
// command the message is for.
func (n *Node) promptedAgent(it *fleet.Item, name string) (configs.Agent, error) {
	if name != "" {
		a, err := n.roster.Get(name)
		if err == nil && a.Door != configs.DoorExec {
			return a, control.Errorf(control.KindRefused, "parley read "+it.Path.String(), "%s asks for its mail itself: nothing is given to it", a.Name)
		}
		return a, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, a := range n.roster.All() {
		if a.Door == configs.DoorExec && n.state.Talk.Reaches(it, n.me(a.Name.String())) {
			return a, nil
		}
	}
	return configs.Agent{}, control.Errorf(control.KindNotFound, "name one: parley prompt "+it.Path.String()+" --as AGENT",
		"no agent with a command is served here that %s is for", it.Path)
}

// TestAgent answers control.TestAgent.
func (n *Node) TestAgent(ctx context.Context, r control.TestRequest) (control.TestResult, error) {
	a, err := n.roster.Get(r.Name)
	if err != nil {
		return control.TestResult{}, err
	}
	if a.Door != configs.DoorExec {
		return control.TestResult{}, control.Errorf(control.KindRefused, "", "%s asks for its mail itself: there is no command to test", a.Name)
	}
	input := r.Text + "\n"
	if a.Input == configs.InputPrompt {
		about, _ := n.surroundings(a, "", protocol.Path{})
		about.Message = prompt.Letter{
			From: n.cfg.Human.String(), Host: n.cfg.Alias, To: []string{a.Name.String()}, At: n.now(), Act: protocol.ActHey,
			Signature: protocol.SignatureValid, Body: r.Text,
		}
		if about.Fence, err = n.fence(a.Name.String() + "\x00" + random.Hex(8)); err != nil {
			return control.TestResult{}, asError(err)
		}
		input = prompt.Build(about).Text
	}
	result := n.runCommand(ctx, a, a.Tiers[0], input, protocol.Path{}, "PARLEY_FROM="+n.cfg.Human.String())
	if result.Failure == door.Canceled {
		return control.TestResult{}, asError(ctx.Err())
	}
	return control.TestResult{
		Agent: a.Name.String(), Command: a.Tiers[0].Exec, Input: input, Answer: result.Output, Problem: result.Problem(),
		Stderr: result.Stderr, Elapsed: control.Seconds(result.Elapsed),
	}, nil
}
