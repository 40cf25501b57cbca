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

// A host cannot say a line that it does not mean through a field's text.
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
		hostBody + "\nhuman: Nat W.", hostBody + "\nhuman: ", hostBody + "\nagent: ", hostBody + "\nagent: all", hostBody + "\nagent: mawjs, opus*1",
		hostBody + "\nagent: x, opus", hostBody + "\nagent: x, opus*0", hostBody + "\nagent: x, opus*-1", hostBody + "\nagent: x, opus*1025",
		hostBody + "\nagent: x, opus*99999999999999999999", hostBody + "\nagent: x, *1", hostBody + "\nagent: x, a b*1", hostBody + "\nagent: x,opus*1",
		hostBody + "\nagent: x, opus*1, opus*2",
		hostBody + "\naddress: ", hostBody + "\naddress: white", hostBody + "\naddress: white:0", hostBody + "\naddress: 0.0.0.0:4223",
		hostBody + "\naddress: white:1\naddress: a:1\naddress: b:1\naddress: c:1\naddress: d:1\naddress: e:1",
	} {
		if h, err := protocol.ParseHost(body); err == nil {
			t.Errorf("%q was read as %+v", body, h)
		}
	}
}

func FuzzParseHost(f *testing.F) {
	f.Add(hostBody)
	f.Add(strings.ReplaceAll(hostBody, "\n", "\r\n"))
	f.Add("HOST-AGENTS | host: a\naddress: [::1]:1\naddress: localhost:65535")
	f.Add("HOST-AGENTS | host: a\nagent: b, c*1024\nhostname: \r\nkey: \t")
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
