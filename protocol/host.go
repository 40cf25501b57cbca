package protocol

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// InboxTier is the tier of an agent that asks for its mail instead of being
// run.
const InboxTier = "inbox"

// HostState is what a host says of itself in the bodies of host-join and
// host-agents: its key (host-join only), where other hosts reach it, who it
// serves and who its humans are. A later host-agents replaces the addresses,
// humans and agents of an earlier one, and the hostname where it says one.
type HostState struct {
	Host     Name
	Key      string // public nkey
	Hostname string
	// Addresses are where the host takes links of others, host:port, the one to
	// try first in front; none for a host that only dials.
	Addresses []string
	Humans    []Name
	Agents    []HostedAgent
}

// HostedAgent is an agent that a host serves, with its tiers in their order.
// The commands of tiers are never told (R12).
type HostedAgent struct {
	Name  Name
	Tiers []Tier
}

// Tier is a named slot of an agent with a number of parallel workers.
type Tier struct {
	Name  string
	Count int
}

// maxTierCount bounds what one tier may declare, so that a file cannot make a
// reader build a huge group.
const maxTierCount = 1024

// Instances are the agent's workers on host: tiers in order, each repeated
// count times (R6).
func (a HostedAgent) Instances(host Name) []Instance {
	var all []Instance
	for _, t := range a.Tiers {
		for n := range t.Count {
			all = append(all, Instance{Host: host, Tier: t.Name, N: n})
		}
	}
	return all
}

// FormatHost writes the body of a host-join or host-agents message:
//
//	HOST-JOIN | host: white
//	key: U…
//	hostname: white.example
//	address: 192.0.2.7:4223
//	human: nat
//	agent: mawjs, opus*1, haiku*5
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
		fmt.Fprintf(&b, "agent: %s", a.Name)
		for _, t := range a.Tiers {
			fmt.Fprintf(&b, ", %s*%d", t.Name, t.Count)
		}
		b.WriteByte('\n')
	}
	return NormalBody(b.String())
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

// ParseHost reads a body that FormatHost wrote. Lines that it does not know are
// passed over, so that later versions may say more.
func ParseHost(body string) (HostState, error) {
	var h HostState
	host, err := readWord(body, h.take)
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
	case "agent":
		a, err := parseHostedAgent(value)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(h.Agents, func(b HostedAgent) bool { return b.Name == a.Name }) {
			return fmt.Errorf("agent %s stands twice", a.Name)
		}
		h.Agents = append(h.Agents, a)
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

func parseTier(s string) (Tier, error) {
	name, count, ok := strings.Cut(s, "*")
	if _, err := ParseName(name); err != nil || !ok {
		return Tier{}, fmt.Errorf("%q is not a tier such as opus*1", s)
	}
	n, err := strconv.Atoi(count)
	if err != nil || n < 1 || n > maxTierCount {
		return Tier{}, fmt.Errorf("tier %q: the count is not a number from 1 to %d", s, maxTierCount)
	}
	return Tier{Name: name, Count: n}, nil
}
