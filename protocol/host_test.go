package protocol_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/parleyfleet/parley/protocol"
)

const hostBody = `HOST-JOIN | host: white
key: UAKEY
hostname: white.example
address: 192.0.2.7:4223
address: [2001:db8::7]:4223
address: white.example:4223
human: nat
human: alice
agent: mawjs, opus*1, haiku*5
agent: neo, inbox*1`

func hostState() protocol.HostState {
	return protocol.HostState{
		Host: "white", Key: "UAKEY", Hostname: "white.example",
		Addresses: []string{"192.0.2.7:4223", "[2001:db8::7]:4223", "white.example:4223"}, Humans: []protocol.Name{"nat", "alice"},
		Agents: []protocol.HostedAgent{
			{Name: "mawjs", Tiers: []protocol.Tier{{Name: "opus", Count: 1}, {Name: "haiku", Count: 5}}},
			{Name: "neo", Tiers: []protocol.Tier{{Name: protocol.InboxTier, Count: 1}}},
		},
	}
}

func sameHost(a, b protocol.HostState) string { return cmp.Diff(a, b, cmpopts.EquateEmpty()) }

func TestHostBody(t *testing.T) {
	if got := protocol.FormatHost(protocol.ActHostJoin, hostState()); got != hostBody {
		t.Errorf("got\n%s", got)
	}
	for name, body := range map[string]string{
		"as written":        hostBody,
		"CRLF":              strings.ReplaceAll(hostBody, "\n", "\r\n"),
		"later lines":       hostBody + "\nweather: fine\n\na line\nkeys: x",
		"a human twice":     hostBody + "\nhuman: nat",
		"an address twice":  hostBody + "\naddress: white.example:4223",
		"the other act":     strings.Replace(hostBody, "JOIN", "AGENTS", 1),
		"newline at end":    hostBody + "\n",
		"another key first": strings.Replace(hostBody, "key:", "key: UOTHER\nkey:", 1),
	} {
		got, err := protocol.ParseHost(body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := sameHost(hostState(), got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestSmallestHostBody(t *testing.T) {
	h := protocol.HostState{Host: "white"}
	body := protocol.FormatHost(protocol.ActHostAgents, h)
	if body != "HOST-AGENTS | host: white" {
		t.Errorf("got %q", body)
	}
	if got, err := protocol.ParseHost(body); err != nil || sameHost(h, got) != "" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Through a field's text, a host cannot say a line that it does not mean.
func TestHostFieldsStayOnTheirLine(t *testing.T) {
	h := hostState()
	h.Hostname = "white\nagent: evil, opus*1"
	got, err := protocol.ParseHost(protocol.FormatHost(protocol.ActHostJoin, h))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(h.Agents, got.Agents); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestParseHostRefuses(t *testing.T) {
	for _, body := range []string{
		"", "hello", "HOST-JOIN | host:", "HOST-JOIN | host: ", "HOST-JOIN | host: White", "HOST-JOIN | host: all", "\nHOST-JOIN | host: white",
	} {
		if h, err := protocol.ParseHost(body); err == nil {
			t.Errorf("%q was read as %+v", body, h)
		}
	}
}

// A line that cannot be read is left out alone. Before, the whole announcement was refused because
// of it, and all agents of its host vanished.
func TestUnreadableLinesOfAHostAreLeftOut(t *testing.T) {
	for _, body := range []string{
		hostBody + "\nhuman: Nat W.", hostBody + "\nhuman: ", hostBody + "\nagent: ", hostBody + "\nagent: all", hostBody + "\nagent: mawjs, opus*1",
		hostBody + "\nagent: x, opus", hostBody + "\nagent: x, opus*0", hostBody + "\nagent: x, opus*-1", hostBody + "\nagent: x, opus*1025",
		hostBody + "\nagent: x, opus*99999999999999999999", hostBody + "\nagent: x, *1", hostBody + "\nagent: x, a b*1", hostBody + "\nagent: x,opus*1",
		hostBody + "\nagent: x, opus*1, opus*2",
		hostBody + "\naddress: ", hostBody + "\naddress: white", hostBody + "\naddress: white:0", hostBody + "\naddress: 0.0.0.0:4223",
		hostBody + "\naddress: white:1\naddress: a:1\naddress: b:1\naddress: c:1\naddress: d:1\naddress: e:1",
	} {
		h, err := protocol.ParseHost(body)
		if err != nil || len(h.Unread) == 0 {
			t.Errorf("%q was read as %+v, %v", body, h, err)
		}
		if again, err := protocol.ParseHost(protocol.FormatHost(protocol.ActHostJoin, h)); err != nil || sameHost(h, again) != "" {
			t.Errorf("%q became %+v, %v", body, again, err)
		}
		want := hostState()
		if h.Unread, h.Addresses = nil, want.Addresses; sameHost(want, h) != "" {
			t.Errorf("%q says otherwise\n%s", body, sameHost(want, h))
		}
	}
}

// If parley 0.1.0 cannot read a tier of an agent, the agent stands on a line that 0.1.0 passes
// over. So 0.1.0 still reads the other agents. What 0.1.0 wrote of such an agent is read.
func TestTiersAreCalledLikeModels(t *testing.T) {
	h := protocol.HostState{Host: "white", Agents: []protocol.HostedAgent{
		{Name: "a", Tiers: []protocol.Tier{{Name: "opus", Count: 1}}},
		{Name: "b", Tiers: []protocol.Tier{{Name: "opus", Count: 1}, {Name: "gpt-4.1", Count: 2}}},
		{Name: "c", Tiers: []protocol.Tier{{Name: "meta-llama/Llama-3", Count: 1}}},
	}}
	const body = "HOST-AGENTS | host: white\nagent: a, opus*1\nserves: b, opus*1, gpt-4.1*2\nserves: c, meta-llama/Llama-3*1"
	if got := protocol.FormatHost(protocol.ActHostAgents, h); got != body {
		t.Errorf("got\n%s", got)
	}
	for _, text := range []string{body, strings.ReplaceAll(body, "serves", "agent")} {
		if got, err := protocol.ParseHost(text); err != nil || sameHost(h, got) != "" {
			t.Errorf("%v (-want +got)\n%s", err, sameHost(h, got))
		}
	}
}

func FuzzParseHost(f *testing.F) {
	f.Add(hostBody)
	f.Add(strings.ReplaceAll(hostBody, "\n", "\r\n"))
	f.Add("HOST-AGENTS | host: a\naddress: [::1]:1\naddress: localhost:65535")
	f.Add("HOST-AGENTS | host: a\nagent: b, c*1024\nhostname: \r\nkey: \t")
	// A host that started from an archive read this, and other hosts could not read it.
	f.Add("HOST-AGENTS | host: a\nagent: b, c*1\r\r\nhuman: eve\r\r\nhuman: ")
	f.Fuzz(func(t *testing.T, body string) {
		h, err := protocol.ParseHost(body)
		if err != nil {
			return
		}
		again := protocol.FormatHost(protocol.ActHostJoin, h)
		back, err := protocol.ParseHost(again)
		if err != nil {
			t.Fatalf("%v\n%q", err, again)
		}
		if diff := sameHost(h, back); diff != "" {
			t.Fatalf("(-first +again)\n%s\n%q", diff, again)
		}
	})
}

// A host of an earlier version passes over the line that says that a host was removed. A host of
// this version reads it back.
func TestTheRevocationOfARemovedHost(t *testing.T) {
	of := protocol.HostKey{Host: "white", Key: "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"}
	r := protocol.Revocation{Host: "oracle-world", Revokes: of, Removed: true}
	body := protocol.HostRevoke.Format(r)
	if got, err := protocol.HostRevoke.Parse(body); err != nil || !got.Removed || got.Revokes != of {
		t.Errorf("it reads %+v, %v\n%s", got, err, body)
	}
	if got, err := protocol.HostRevoke.Parse(strings.Replace(body, "removed: yes", "moved: elsewhere", 1)); err != nil || got.Removed {
		t.Errorf("a line that is not known: %+v, %v", got, err)
	}
}
