package bus

import (
	"net"
	"testing"
	"time"
)

// Hundreds of strangers from as many addresses connect and say nothing. It prevents: a host that is let
// in nowhere as long as they go on.
func TestStrangersFromManyAddresses(t *testing.T) {
	f := newFleet()
	hub, other := echoing(t, f, nil), newHost(t, f, "oracle-world")
	for n := range 3 * maxKnocking {
		from := &net.TCPAddr{IP: net.IPv4(127, 0, byte(1+n/200), byte(1+n%200))}
		conn, err := (&net.Dialer{LocalAddr: from, Timeout: 10 * time.Second}).DialContext(t.Context(), "tcp", hub.Addresses().Links)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	hub.entrance.mu.Lock()
	if n := len(hub.entrance.knocking); n > maxKnocking {
		t.Errorf("%d are greeted at once", n)
	}
	hub.entrance.mu.Unlock()
	conn, err := hub.dialStream(t, "echo/1", other.opts.Key)
	if err != nil {
		t.Fatal(err)
	}
	echoes(t, conn)
}
