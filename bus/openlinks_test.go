package bus

import (
	"slices"
	"testing"

	"github.com/parleyfleet/parley/protocol"
)

// A host that is asked to take links while it runs carries what hosts behind it say, and keeps its
// own link out.
func TestOpenLinks(t *testing.T) {
	f := newFleet()
	hub, between, leaf := newHost(t, f, "black"), newHost(t, f, "oracle-world"), newHost(t, f, "white")
	hub.opts.Links = "127.0.0.1:0"
	opened := make(chan struct{})
	hub.opts.Hubs = func() []Hub {
		select {
		case <-opened:
			return hubsOf(t, between)()
		default:
			return nil
		}
	}
	hub.start(t)
	between.opts.Hubs = hubsOf(t, hub)
	between.opts.Heard = func(protocol.Name) bool { return true }
	between.start(t).awaitLinked(t, 1)
	if a := between.Addresses(); a.Links != "" {
		t.Fatalf("it takes links at %s already", a.Links)
	}
	if err := between.OpenLinks(t.Context(), "127.0.0.1:0", []string{"oracle.example:1"}); err != nil {
		t.Fatal(err)
	}
	if a := between.Addresses(); a.Links == "" || len(a.Advertised) != 1 || a.Advertised[0] != "oracle.example:1" {
		t.Errorf("Addresses() = %+v", a)
	}
	if err := between.OpenLinks(t.Context(), "127.0.0.1:0", nil); err == nil {
		t.Error("a second port was opened")
	}
	close(opened) // the record tells the hub
	hub.Recheck()
	leaf.opts.Hubs = func() []Hub {
		return []Hub{{Alias: between.alias, Keys: []string{publicKey(t, between.opts.Key)}, Addresses: []string{between.Addresses().Links}}}
	}
	leaf.start(t).awaitLinked(t, 1)
	awaitTrue(t, "a link that carries", func() bool {
		all := hub.Links()
		return len(all) == 1 && all[0].Up && slices.ContainsFunc(hub.entrance.links(), func(in *inlink) bool { return in.carries })
	})
	awaitTrue(t, "both links", func() bool {
		all := between.Links()
		return len(all) == 2 && all[0].Up && all[1].Up
	})
	leaf.publish(t, 1)
	hub.await(t, "what the leaf says", func() bool { return len(hub.messages) == 1 })
}
