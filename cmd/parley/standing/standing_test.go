package standing

import (
	"testing"
	"time"

	"github.com/parleyfleet/parley/cmd/parley/cli"
	"github.com/parleyfleet/parley/node/control"
)

func TestWhereTheBusIsShown(t *testing.T) {
	for want, bus := range map[string]control.BusStatus{
		"in process, no port":         {},
		"NATS clients at 127.0.0.1:1": {Clients: "127.0.0.1:1"},
		"other hosts at 127.0.0.1:2":  {Links: "127.0.0.1:2", Advertised: []string{"127.0.0.1:2"}},
		"other hosts at 0.0.0.0:2 (they are told 192.0.2.7:2, [2001:db8::7]:2)":                                 {Links: "0.0.0.0:2", Advertised: []string{"192.0.2.7:2", "[2001:db8::7]:2"}},
		"other hosts at 10.0.0.7:2 (they are told white.example:2)":                                             {Links: "10.0.0.7:2", Advertised: []string{"white.example:2"}},
		"other hosts at 0.0.0.0:2 (this machine has no address that they could use: name one at bus.advertise)": {Links: "0.0.0.0:2"},
	} {
		if got := busText(bus); got != want {
			t.Errorf("%+v is shown as %q, want %q", bus, got, want)
		}
	}
}

// It prevents: hosts that meet through git alone, and nobody knows why.
func TestHostsThatNoLinkJoins(t *testing.T) {
	two := []control.HostStatus{{Alias: "white"}, {Alias: "black"}}
	for _, c := range []struct {
		status control.Status
		said   bool
	}{
		{control.Status{Hosts: two}, true},
		{control.Status{Hosts: two[:1]}, false},
		{control.Status{Hosts: two, Bus: control.BusStatus{Links: "127.0.0.1:2"}}, false},
		{control.Status{Hosts: two, Bus: control.BusStatus{Peers: []control.LinkStatus{{Peer: "white"}}}}, false},
	} {
		if said := unlinked(c.status); said != c.said {
			t.Errorf("%+v: said %t", c.status, said)
		}
	}
}

// It prevents: "down", without a reason, for a link that was not yet tried to its end.
func TestStateOfALink(t *testing.T) {
	for want, link := range map[string]control.LinkStatus{
		"white at 192.0.2.7:2, connecting":      {Peer: "white at 192.0.2.7:2", Out: true},
		"white, connecting; so far: refused":    {Peer: "white", Out: true, Connecting: true, Problem: "refused"},
		"black at b:1, connecting":              {Peer: "x", Host: "black", Address: "b:1", Out: true, Connecting: true, HalfUp: true, Problem: "deaf"},
		"white, down: refused":                  {Peer: "white", Out: true, Problem: "refused"},
		"white, half up: deaf":                  {Peer: "white", HalfUp: true, Problem: "deaf"},
		"white, up":                             {Peer: "white", Up: true},
		"white at 192.0.2.7:2, up, 1.23ms away": {Peer: "white-0123", Host: "white", Address: "192.0.2.7:2", Up: true, RTT: 1234567},
	} {
		if got := linkText(link); got != want {
			t.Errorf("%+v is shown as %q, want %q", link, got, want)
		}
	}
}

// It prevents: a node that was started again says that it has never pushed.
func TestWhenTheRemoteWasUsed(t *testing.T) {
	at, v := time.Date(2026, 5, 23, 19, 1, 0, 0, time.UTC), cli.View{Zone: time.UTC}
	for want, r := range map[string]control.RecordStatus{
		"neither fetched nor pushed since the start":                            {},
		"not fetched since the start, pushed 2026-05-23 19:01:00 +00:00":        {LastPush: at},
		"fetched 2026-05-23 19:01:00 +00:00, nothing pushed since the start":    {LastFetch: at},
		"fetched 2026-05-23 19:01:00 +00:00, pushed 2026-05-23 19:01:00 +00:00": {LastFetch: at, LastPush: at},
	} {
		if got := RemoteUse(v, r); got != want {
			t.Errorf("used: %q, want %q", got, want)
		}
	}
}

// ls, status and agent list say in the same words what keeps an agent from its mail.
func TestHindered(t *testing.T) {
	if got := Hindered(control.AgentWork{Paused: true, Stalled: "no room", Held: true, Over: 1, Failing: 1, Dead: 2}); got != "paused, cannot start, over budget, in line, failing, 2 dead letters" {
		t.Errorf("hindered: %s", got)
	}
	if got := Hindered(control.AgentWork{}); got != "" {
		t.Errorf("hindered by nothing: %s", got)
	}
}
