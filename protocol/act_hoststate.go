package protocol

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
)

// HostState is what a host says of itself in the bodies of host-join and host-agents: its key
// (host-join only), where other hosts reach it, whom it serves and who its humans are. A later
// host-agents replaces the addresses, humans and agents of an earlier one. It replaces the hostname
// only if it says one.
//
// If it was read from a host file, the names are as they stand in that file, and Unread says what
// of the file cannot be read: see ParseHostFile.
type HostState struct {
	Host     Name
	Key      string // public nkey
	Hostname string
	// Addresses are where the host takes links of others, as host:port. The first one is tried
	// first. A host that only dials has none.
	Addresses []string
	Humans    []Name
	Agents    []HostedAgent
	// Unread are the lines of the body that cannot be read, as they stand there. Only such a line
	// is left out: the host's other agents must not vanish with it.
	Unread []string
}

// HostedAgent is an agent that a host serves, with its tiers in their order.
// The commands of tiers are never told (R12).
type HostedAgent struct {
	Name  Name
	Tiers []Tier
	// TakeoverAfter is for how long the host must be gone before another host that serves the agent
	// does its work (R7). 0 stands for DefaultTakeover; with NoTakeover no host ever does.
	TakeoverAfter time.Duration
	// AsksRerun says that work is not done again if nobody knows whether it was begun: it becomes a
	// dead letter (R19).
	AsksRerun bool
}

const (
	// DefaultTakeover is for how long a host must be gone before another one takes over its work.
	DefaultTakeover = 10 * time.Minute
	// NoTakeover says that no host ever takes over.
	NoTakeover = time.Duration(-1)
)

// Takeover is for how long the host must be gone before another one may do the agent's work. `ok`
// is false if no other host ever may.
func (a HostedAgent) Takeover() (after time.Duration, ok bool) {
	return cmp.Or(a.TakeoverAfter, DefaultTakeover), a.TakeoverAfter != NoTakeover
}

// Instances are the agent's workers on host: the tiers in their order, each as often as its count
// says (R6).
func (a HostedAgent) Instances(host Name) []Instance {
	var all []Instance
	for _, t := range a.Tiers {
		for n := range t.Count {
			all = append(all, Instance{Host: host, Tier: t.Name, N: n})
		}
	}
	return all
}

// The acts of a HostState.
const (
	ActHostJoin   Act = "host-join"
	ActHostAgents Act = "host-agents"
)

// HostJoin and HostAgents are the acts by which a host enters the fleet, and by which it later says
// whom it serves.
var (
	HostJoin   = hostState(wordOfHost(ActHostJoin, "A host and its key enter the fleet."), HostState{Host: "white", Key: exampleKey, Hostname: "white.example", Addresses: []string{"192.0.2.7:4223"}, Humans: []Name{"nat"}})
	HostAgents = hostState(wordOfHost(ActHostAgents, "Says who is served on a host, who its humans are and where it is reached."), HostState{Host: "white", Hostname: "white.example", Addresses: []string{"192.0.2.7:4223"}, Humans: []Name{"nat"}, Agents: []HostedAgent{
		{Name: "mawjs", Tiers: []Tier{{Name: "opus", Count: 1}, {Name: "haiku", Count: 5}}},
		{Name: "codex", Tiers: []Tier{{Name: "gpt-4.1", Count: 1}}, TakeoverAfter: time.Hour, AsksRerun: true},
	}})
)

func hostState(spec ActSpec, example HostState) WordAct[HostState] {
	return NewAct(spec, ParseHost, func(h HostState) string { return FormatHost(spec.Act, h) }, example)
}

// FormatHost writes the body of a host-join or host-agents message:
//
//	HOST-JOIN | host: white
//	key: U…
//	hostname: white.example
//	address: 192.0.2.7:4223
//	human: nat
//	agent: mawjs, opus*1, haiku*5
//	serves: codex, gpt-4.1*1
//	takeover: codex, never
//	rerun: codex, ask
//
// An agent stands on a line "serves" if one of its tiers has a name that parley 0.1.0 cannot read
// on a line "agent". That version would refuse the whole message for such a line "agent". It passes
// over lines that it does not know.
func FormatHost(act Act, h HostState) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s | host: %s\n", strings.ToUpper(string(act)), h.Host)
	if h.Key != "" {
		fmt.Fprintf(&b, "key: %s\n", oneLine(h.Key))
	}
	if h.Hostname != "" {
		fmt.Fprintf(&b, "hostname: %s\n", oneLine(h.Hostname))
	}
	for _, a := range h.Addresses {
		fmt.Fprintf(&b, "address: %s\n", oneLine(a))
	}
	for _, n := range h.Humans {
		fmt.Fprintf(&b, "human: %s\n", n)
	}
	for _, a := range h.Agents {
		fmt.Fprintf(&b, "%s: %s", a.lineKey(), a.Name)
		for _, t := range a.Tiers {
			b.WriteString(", " + t.String())
		}
		b.WriteByte('\n')
	}
	for _, a := range h.Agents {
		switch {
		case a.TakeoverAfter == NoTakeover:
			fmt.Fprintf(&b, "takeover: %s, never\n", a.Name)
		case a.TakeoverAfter != 0:
			fmt.Fprintf(&b, "takeover: %s, %s\n", a.Name, a.TakeoverAfter)
		}
		if a.AsksRerun {
			fmt.Fprintf(&b, "rerun: %s, ask\n", a.Name)
		}
	}
	for _, line := range h.Unread {
		b.WriteString(line + "\n")
	}
	return NormalBody(b.String())
}

func (a HostedAgent) lineKey() string {
	for _, t := range a.Tiers {
		if _, err := ParseName(t.Name); err != nil {
			return "serves"
		}
	}
	return "agent"
}

// oneLine drops control characters, so that a field cannot write other lines.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
}

// ParseHost reads a body that FormatHost wrote. Lines that it does not know are passed over, so
// that later versions may say more. A line whose key it knows, but whose value it cannot read, is
// left out and kept in Unread. The only error is that the body does not name its host.
func ParseHost(body string) (HostState, error) {
	var h HostState
	host, err := readWord(body, func(key, value string) error {
		value = strings.TrimRight(value, "\r") // without this, a line that goes to Unread could be readable the next time
		if h.take(key, value) != nil {
			h.Unread = append(h.Unread, key+": "+value)
		}
		return nil
	})
	if err != nil {
		return HostState{}, err
	}
	h.Host = host
	return h, nil
}

func (h *HostState) take(key, value string) error {
	switch key {
	case "key":
		h.Key = oneLine(value)
	case "hostname":
		h.Hostname = oneLine(value)
	case "address":
		return h.takeAddress(value)
	case "human":
		n, err := ParseName(value)
		if err != nil {
			return err
		}
		if !slices.Contains(h.Humans, n) {
			h.Humans = append(h.Humans, n)
		}
	case "agent", "serves":
		a, err := parseHostedAgent(value)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(h.Agents, func(b HostedAgent) bool { return b.Name == a.Name }) {
			return fmt.Errorf("agent %s stands twice", a.Name)
		}
		h.Agents = append(h.Agents, a)
	case "takeover", "rerun":
		return h.takeRule(key, value)
	}
	return nil
}

// takeRule reads a line of its own that says something of an agent, and stands after the agent's
// line. Hosts that do not know such a line read the rest (R7).
func (h *HostState) takeRule(key, value string) error {
	name, rule, _ := strings.Cut(value, ", ")
	i := slices.IndexFunc(h.Agents, func(a HostedAgent) bool { return a.Name.String() == name })
	if i < 0 {
		return fmt.Errorf("%q is no agent of the host", name)
	}
	a := &h.Agents[i]
	switch {
	case key == "rerun" && rule == "ask" && !a.AsksRerun:
		a.AsksRerun = true
	case key == "takeover" && rule == "never" && a.TakeoverAfter == 0:
		a.TakeoverAfter = NoTakeover
	case key == "takeover" && a.TakeoverAfter == 0:
		after, err := time.ParseDuration(rule)
		if err != nil || after <= 0 {
			return fmt.Errorf("%q is no time after which work is taken over", rule)
		}
		a.TakeoverAfter = after
	default:
		return fmt.Errorf("it says %q of %s", value, key)
	}
	return nil
}

func parseHostedAgent(s string) (HostedAgent, error) {
	parts := strings.Split(s, ", ")
	name, err := ParseName(parts[0])
	if err != nil {
		return HostedAgent{}, err
	}
	a := HostedAgent{Name: name}
	for _, p := range parts[1:] {
		t, err := parseTier(p)
		if err != nil {
			return HostedAgent{}, err
		}
		if slices.ContainsFunc(a.Tiers, func(u Tier) bool { return u.Name == t.Name }) {
			return HostedAgent{}, fmt.Errorf("tier %s stands twice", t.Name)
		}
		a.Tiers = append(a.Tiers, t)
	}
	return a, nil
}
