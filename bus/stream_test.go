package bus

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/nats-io/nkeys"
)

// echoing is a host whose links port sends back what comes, to hosts and to the strangers in
// `guests`.
func echoing(t *testing.T, f *fleet, guests map[string]bool) *host {
	t.Helper()
	echo := func(_ context.Context, conn *tls.Conn, _ string) { _, _ = io.Copy(conn, conn) }
	h := newHost(t, f, "white")
	h.opts.Listen = "127.0.0.1:0"
	h.opts.Streams = []Stream{
		{Name: "echo/1", Serve: echo},
		{Name: "guests/1", Most: 2, Serve: echo, Admit: func(key string) bool { return guests[key] }},
	}
	return h.start(t)
}

func (h *host) dialStream(t *testing.T, name string, key nkeys.KeyPair) (*tls.Conn, error) {
	t.Helper()
	conn, err := DialStream(t.Context(), h.Addresses().Links, name, key, func(shown string) error {
		if shown != publicKey(t, h.opts.Key) {
			return errors.New("the key is wrong")
		}
		return nil
	})
	if err == nil {
		t.Cleanup(func() { _ = conn.Close() })
	}
	return conn, err
}

// echoes reports whether what is sent comes back.
func echoes(t *testing.T, conn *tls.Conn) {
	t.Helper()
	got := make([]byte, 5)
	if _, err := conn.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(conn, got); err != nil || string(got) != "hello" {
		t.Fatalf("got back %q, %v", got, err)
	}
}

func causeOf(err error) Cause {
	var dial *DialError
	if errors.As(err, &dial) {
		return dial.Cause
	}
	return Cause(fmt.Sprint(err))
}

func TestStreamBesideLinks(t *testing.T) {
	f, guest := newFleet(), newKey(t)
	guests := map[string]bool{publicKey(t, guest): true}
	hub := echoing(t, f, guests)
	leaf := newHost(t, f, "oracle-world")
	leaf.opts.Hubs = hubsOf(t, hub)
	leaf.start(t).awaitLinked(t, 1)

	conn, err := hub.dialStream(t, "echo/1", leaf.opts.Key)
	if err != nil {
		t.Fatal(err)
	}
	echoes(t, conn)
	if _, err := hub.dialStream(t, "echo/1", guest); causeOf(err) != CauseKey {
		t.Errorf("a stranger: %v", err)
	}
	if _, err := hub.dialStream(t, "guests/1", leaf.opts.Key); causeOf(err) != CauseKey {
		t.Errorf("a host that is no guest: %v", err)
	}
	if _, err := hub.dialStream(t, "nothing/1", leaf.opts.Key); causeOf(err) != CauseTLS {
		t.Errorf("what nobody serves: %v", err)
	}
	if _, err := DialStream(t.Context(), hub.Addresses().Links, "echo/1", leaf.opts.Key, func(string) error { return errors.New("no") }); causeOf(err) != CauseKey {
		t.Errorf("a wrong key there: %v", err)
	}
	welcomed, err := hub.dialStream(t, "guests/1", guest)
	if err != nil {
		t.Fatal(err)
	}
	echoes(t, welcomed)
	if _, err := hub.dialStream(t, "guests/1", guest); causeOf(err) != CauseBusy {
		t.Errorf("more than half of the connections for one: %v", err)
	}

	f.forget(t, leaf.opts.Key)
	hub.Recheck()
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a host whose key was revoked is still served")
	}
	echoes(t, welcomed)
}

// A port that closes ends what it serves.
func TestStreamEndsWithTheBus(t *testing.T) {
	f := newFleet()
	hub, other := echoing(t, f, nil), newHost(t, f, "oracle-world")
	conn, err := hub.dialStream(t, "echo/1", other.opts.Key)
	if err != nil {
		t.Fatal(err)
	}
	echoes(t, conn)
	if err := hub.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a connection outlives its port")
	}
}

// A host that was away while another one changed its key reaches it all the same, and no stranger who
// only says that its key follows.
func TestStreamAfterARotation(t *testing.T) {
	f := newFleet()
	hub, other := echoing(t, f, nil), newHost(t, f, "oracle-world")
	next, later := newKey(t), newKey(t)
	for _, key := range []nkeys.KeyPair{next, later} {
		if err := hub.Rekey(key); err != nil {
			t.Fatal(err)
		}
	}
	conn, err := hub.dialStream(t, "echo/1", other.opts.Key) // it insists on the first key
	if err != nil {
		t.Fatal(err)
	}
	echoes(t, conn)
	cert, err := hostCertificate(next, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	byAnother, err := succession(later, cert)
	if err != nil {
		t.Fatal(err)
	}
	forged, err := x509.ParseCertificate(byAnother)
	if err != nil {
		t.Fatal(err)
	}
	forged.Issuer.CommonName = publicKey(t, hub.opts.Key)
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := formerKeys(tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf, forged}}); len(got) > 0 {
		t.Errorf("a succession that another key has signed is believed: %v", got)
	}
	ofAnother, err := hostCertificate(later, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	if leaf, err = x509.ParseCertificate(ofAnother.Certificate[0]); err != nil {
		t.Fatal(err)
	}
	if forged, err = x509.ParseCertificate(byAnother); err != nil {
		t.Fatal(err)
	}
	if got := formerKeys(tls.ConnectionState{PeerCertificates: []*x509.Certificate{leaf, forged}}); len(got) > 0 {
		t.Errorf("a succession of another key is believed: %v", got)
	}
}
