package bus

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"testing"
	"time"

	"github.com/parleyfleet/parley/internal/testkit/natstool"
)

// certificate makes a certificate for 127.0.0.1 that signs itself, as two PEM
// files.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return writeFile(t, "cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		writeFile(t, "key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
}

// TLS as the system wants it: after the greeting, before it, and not at all for
// a host that does not believe the certificate.
func TestPlainServerWithTLS(t *testing.T) {
	t.Parallel()
	cert, key := certificate(t)
	for name, first := range map[string]bool{"after the greeting": false, "first": true} {
		t.Run(name, func(t *testing.T) {
			f := newFleet()
			one, two, three := newHost(t, f, "white"), newHost(t, f, "oracle-world"), newHost(t, f, "black")
			srv := natstool.Serve(t, users(nkeyUser(t, one), nkeyUser(t, two), nkeyUser(t, three))+
				fmt.Sprintf("tls {cert_file: %q, key_file: %q, handshake_first: %v}\n", cert, key, first))
			for _, h := range []*host{one, two} {
				h.opts.URL = "tls://" + srv.Address
				h.opts.Login = Login{CA: cert, TLSFirst: first}
			}
			converse(t, one, two)
			three.opts.URL, three.opts.Login.TLSFirst = "tls://"+srv.Address, first
			three.start(t)
			awaitProblem(t, three, "certificate", "bus.ca")
		})
	}
}

func TestPlainServerOverWebsockets(t *testing.T) {
	f := newFleet()
	one, two := newHost(t, f, "white"), newHost(t, f, "oracle-world")
	web := closedPort(t)
	natstool.Serve(t, users(nkeyUser(t, one), nkeyUser(t, two))+fmt.Sprintf("websocket {listen: %q, no_tls: true}\n", web))
	one.opts.URL, two.opts.URL = "ws://"+web, "ws://"+web
	converse(t, one, two)
}
