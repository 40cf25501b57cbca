package protocol_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parleyfleet/parley/protocol"
)

// Nothing is written that its own reader refuses or reads otherwise: what hosts say of themselves,
// host files, messages, receipts, memories and what channels are for. A tier called gpt-4.1 was
// published in an announcement that no parley could read, and the host's agents vanished.
func TestWhatIsWrittenIsRead(t *testing.T) {
	g := newGenerator(22)
	for range 700 {
		h := g.host()
		if got, err := protocol.ParseHost(protocol.FormatHost(protocol.ActHostJoin, h)); err != nil || sameHost(h, got) != "" {
			t.Fatalf("a host's word: %v (-written +read)\n%s", err, sameHost(h, got))
		}
		g.hostFile(t, h)
		g.chosenMessage(t, h)
		g.memory(t)
		g.channelFile(t)
	}
}

// A message that becomes too long with its signature was written, and every reader refused it.
func TestSignedMessageIsNotTooLongToBeRead(t *testing.T) {
	m := sample(t)
	for n := range 400 {
		m.Via = strings.Repeat("x", protocol.MaxFrontmatter-900+2*n)
		data, err := protocol.Sign(m, testRecord, testKey(t, 1))
		if err != nil {
			continue
		}
		if _, err := protocol.Decode(m.Path, data); err != nil {
			t.Fatalf("with %d bytes: %v", len(m.Via), err)
		}
	}
}

const tierLetters = "abzAZ019._/-"

func (g generator) tier() protocol.Tier {
	traps := []string{"gpt-4.1", "meta-llama/Llama-3", "-", "--", "---", ".", "..", "/", "1e3", "0x1f", "null", "Yes", "~", "1.", ".5", "2026-05-23", strings.Repeat("-", 64)}
	name := pick(g, traps)
	if name == "~" || g.maybe() {
		name = ""
		for range 1 + g.IntN(64) {
			name += string(tierLetters[g.IntN(len(tierLetters))])
		}
	}
	return protocol.Tier{Name: name, Count: 1 + g.IntN(protocol.MaxTierCount)}
}

func (g generator) name() protocol.Name {
	return pick(g, []protocol.Name{"white", "nat", "12345678", "1e5", "null", "yes", "0x1f", "a_-"})
}

// host returns anything that a host can say of itself by its configuration.
func (g generator) host() protocol.HostState {
	h := protocol.HostState{Host: g.name(), Key: "UAKEY", Hostname: pick(g, []string{"", "white.example", "1.5", "Steve's Mac", "null"})}
	h.Addresses = pick(g, [][]string{nil, {"192.0.2.7:4223"}, {"[2001:db8::7]:4223", "white.example:4223"}})
	for range g.IntN(3) {
		if n := g.name(); !slices.Contains(h.Humans, n) {
			h.Humans = append(h.Humans, n)
		}
	}
	for range g.IntN(4) {
		a := protocol.HostedAgent{Name: g.name()}
		for range 1 + g.IntN(3) {
			tier := g.tier()
			if protocol.CheckTierName(tier.Name) == nil && !slices.ContainsFunc(a.Tiers, func(u protocol.Tier) bool { return u.Name == tier.Name }) {
				a.Tiers = append(a.Tiers, tier)
			}
		}
		if !slices.ContainsFunc(h.Agents, func(b protocol.HostedAgent) bool { return b.Name == a.Name }) {
			h.Agents = append(h.Agents, a)
		}
	}
	return h
}

func (g generator) hostFile(t *testing.T, h protocol.HostState) {
	old := pick(g, []string{"", seedHostFile, "---\nactors: # mine\n  x:\n", "---\nalias: b\nnote: [a, {b: c}] # d\n---\n\ntext\n"})
	file, err := protocol.UpdateHostFile([]byte(old), h)
	if err != nil {
		t.Fatal(err)
	}
	got, err := protocol.ParseHostFile(file)
	if h.Hostname == "" {
		got.Hostname = ""
	}
	if diff := sameHost(h, got); err != nil || diff != "" {
		t.Fatalf("a host file: %v (-written +read)\n%s\n%s", err, diff, file)
	}
}

func (g generator) chosenMessage(t *testing.T, h protocol.HostState) {
	m := g.message(t)
	for _, a := range h.Agents {
		if all := a.Instances(h.Host); len(all) > 0 {
			m.Chosen = append(m.Chosen, protocol.Choice{Agent: a.Name.String(), Instance: pick(g, all)})
		}
	}
	m.Host, m.Run, m.Seq = "white", "0badcafe", 1
	data, err := protocol.Sign(m, testRecord, testKey(t, 1))
	if err != nil {
		return // a name that no reader would take
	}
	got, err := protocol.Decode(m.Path, data)
	if err != nil {
		t.Fatalf("a message: %v\n%s", err, data)
	}
	if diff := sameMessage(m, got); diff != "" {
		t.Fatalf("a message (-written +read)\n%s\n%s", diff, data)
	}
	if sig, err := protocol.CheckSignature(got, testRecord, data); sig != protocol.SignatureValid {
		t.Fatalf("a message: %s, %v\n%s", sig, err, data)
	}
}

func (g generator) text() string {
	return pick(g, append(append(trapNames(), colonNames()...), "a\nb", "a\tb", " padded ", "\x1b[0m", "nat@white", ""))
}

func (g generator) memory(t *testing.T) {
	m := protocol.Memory{
		File: "20260523T190000000Z-b2c3d4e5.md", From: g.text(), Via: g.text(), Timestamp: time.UnixMilli(g.Int64N(4_000_000_000_000)).UTC(),
		Subject: g.text(), Scope: pick(g, []protocol.ChannelID{"", testChannel}), Session: g.text(),
		Supersedes: pick(g, []string{"", "20260523T180000000Z-b2c3d4e5.md"}), Body: g.body(),
	}
	for range g.IntN(3) {
		m.Tags = append(m.Tags, g.text())
	}
	data, err := protocol.EncodeMemory(m)
	if err != nil {
		return
	}
	got, err := protocol.ParseMemory(m.File, data)
	if diff := cmp.Diff(m, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Fatalf("a memory: %v (-written +read)\n%s\n%s", err, diff, data)
	}
}

func (g generator) channelFile(t *testing.T) {
	c := protocol.ChannelFile{
		Name: g.text(), CreatedBy: g.text(), CreatedAt: time.UnixMilli(1 + g.Int64N(4_000_000_000_000)).UTC(),
		Parent: pick(g, []protocol.ChannelID{"", testChannel}), About: g.body(), Members: pick(g, [][]string{nil, {g.name().String()}}),
	}
	data, err := protocol.EncodeChannelFile(c)
	if err != nil {
		return
	}
	if got, err := protocol.ParseChannelFile(data); err != nil || !cmp.Equal(c, got) {
		t.Fatalf("a CHANNEL.md: %v (-written +read)\n%s\n%s", err, cmp.Diff(c, got), data)
	}
}
