package bus

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/parleyfleet/parley/protocol"
)

// Each thing that can be wrong has its name.
func TestProbeNamesTheCause(t *testing.T) {
	t.Parallel()
	f := newFleet()
	hub, other, asker := newHost(t, f, "white"), newHost(t, f, "grey"), newHost(t, f, "black")
	unknown, out := newHost(t, newFleet(), "red"), newHost(t, newFleet(), "blue")
	gone := publicKey(t, out.opts.Key)
	hub.opts.Revoked = func(key string) (protocol.Name, bool) { return out.alias, key == gone }
	for _, h := range []*host{hub, other} {
		h.opts.Listen = "127.0.0.1:0"
		h.start(t)
	}
	asker.start(t)
	for _, h := range []*host{unknown, out} {
		h.opts.Trusted = f.trusted
		h.start(t)
	}
	late := newHost(t, f, "late")
	late.opts.Links = "127.0.0.1:0"
	late.opts.Now = func() time.Time { return time.Now().Add(26 * time.Hour) }
	late.start(t)
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mute.Close() })
	newer := newHost(t, f, "newer")
	upgraded := hangingHub(t, newer, welcome{Link: linkVersion + 1, Cause: CauseVersion, Reason: "it speaks version 2 of links"})
	for name, c := range map[string]struct {
		from, to *host
		address  string
		cause    Cause
		says     string
	}{
		"fine":             {asker, hub, hub.Addresses().Links, "", ""},
		"no such name":     {asker, hub, "nowhere.invalid:4223", CauseName, "looked up"},
		"nobody listens":   {asker, hub, closedPort(t), CauseRefused, "connection refused"},
		"the clients port": {asker, hub, hub.Addresses().Clients, CauseTLS, "is it the port for links?"},
		"another host":     {asker, hub, other.Addresses().Links, CauseKey, "that of grey, not of white"},
		"our key is new":   {unknown, hub, hub.Addresses().Links, CauseKey, "does not accept this host's key"},
		"our key is out":   {out, hub, hub.Addresses().Links, CauseKey, toldRevoked},
		"another version":  {asker, newer, upgraded, CauseVersion, "version 2"},
		"a day apart":      {asker, late, late.Addresses().Links, CauseClock, "26h ahead"},
		"mute":             {asker, hub, mute.Addr().String(), CauseTLS, "said nothing within"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := c.from.Probe(context.Background(), Hub{Alias: c.to.alias, Keys: []string{publicKey(t, c.to.opts.Key)}, Addresses: []string{c.address}})
			if len(got) != 1 || got[0].Cause != c.cause || !strings.Contains(got[0].Reason, c.says) {
				t.Errorf("got %+v, want %s: %q", got, c.cause, c.says)
			}
			if works := c.cause == "" || c.cause == CauseClock; got[0].Works() != works || works != (got[0].Took > 0) {
				t.Errorf("it works: %v, %+v", got[0].Works(), got[0])
			}
		})
	}
	t.Cleanup(func() {
		if n := len(hub.Links()) + len(other.Links()); n != 0 {
			t.Errorf("probing left %d links", n)
		}
	})
}
