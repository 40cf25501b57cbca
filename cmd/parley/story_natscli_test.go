package main

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/internal/testkit/scratch"
)

// The command line program of NATS reads along on a node's own port, without a key and with the
// host's key. It can say nothing in another host's name.
func TestNatsProgramOnANodesPort(t *testing.T) {
	scratch.Long(t)
	t.Parallel()
	nats := newNatsProgram(t)
	h := newStoryHost(t, "white", "--fleet", "demo", "--listen", "127.0.0.1:0")
	h.start()
	port := h.status().Bus.Clients
	h.must("agent", "add", "loud", "--exec", "tr a-z A-Z")
	for who, login := range map[string][]string{"nobody": {"--server", port}, "the host": {"--server", port, "--nkey", filepath.Join(h.home.Keys(), "host.nk")}} {
		w := nats.watch(append(login, "sub", "parley.>")...)
		h.must("hey", "loud", "--wait", "20s", "heard by "+who)
		w.await("\n\n" + strings.ToUpper("heard by "+who) + "\n")
		for _, want := range []string{`Received on "parley.demo.white.hey.loud"`, "\nfrom: loud\nto: nat\n", "\nkey: " + h.publicKey() + "\n"} {
			if !strings.Contains(w.String(), want) {
				t.Errorf("%s: nats sub did not print %q but:\n%s", who, want, w)
			}
		}
		out, err := nats.run(append(login, "pub", "parley.demo.black.hey.loud", "forged")...)
		if !strings.Contains(strings.ToLower(out), "permissions violation") {
			t.Errorf("%s: nats pub in the name of black: %v, %s", who, err, out)
		}
	}
	checkCertificate(t, h)
	for _, m := range h.log() {
		if strings.Contains(m.Body, "forged") {
			t.Errorf("%s was taken in", m.Path)
		}
	}
}

// checkCertificate checks that the certificate that NATS clients are to believe is of the host's
// key.
func checkCertificate(t *testing.T, h *storyHost) {
	t.Helper()
	data := h.must("host", "show", "white", "--cert")
	block, _ := pem.Decode([]byte(data))
	if block == nil {
		t.Fatalf("%q is not PEM", data)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	public, ok := cert.PublicKey.(ed25519.PublicKey)
	if !ok {
		t.Fatalf("the certificate has a %T", cert.PublicKey)
	}
	if key, err := nkeys.Encode(nkeys.PrefixByteUser, public); err != nil || string(key) != h.publicKey() {
		t.Errorf("the certificate is of %s, %v, not of %s", key, err, h.publicKey())
	}
}
