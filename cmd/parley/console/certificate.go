package console

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/node/control"
)

const (
	certified = 365 * 24 * time.Hour // for how long a certificate of our own holds
	renewed   = 30 * 24 * time.Hour  // before its end it is made anew
)

// certificate returns the certificate that is kept in a file for an address. It is made where there is
// none, where it holds for another address, and before it ends.
func certificate(file, host string, now time.Time) (tls.Certificate, error) {
	ip := net.ParseIP(host)
	if ip == nil || ip.IsUnspecified() {
		return tls.Certificate{}, control.Errorf(control.KindUsage, "--listen ADDRESS:PORT, or --cert FILE --key FILE", "cannot make a certificate for %q: it is no address", host)
	}
	if data, err := os.ReadFile(file); err == nil {
		cert, err := tls.X509KeyPair(data, data)
		if err == nil && cert.Leaf.VerifyHostname(host) == nil && now.Before(cert.Leaf.NotAfter.Add(-renewed)) {
			return cert, nil
		}
	}
	data, err := certify(ip, now)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = durable.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot make a certificate: %w", err)
	}
	return tls.X509KeyPair(data, data)
}

// certify makes a certificate for an address, and its key.
func certify(ip net.IP, now time.Time) ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	form := x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "parley console"}, IPAddresses: []net.IP{ip},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(certified), // clocks differ
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, &form, &form, key.Public(), key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})...), nil
}

// fingerprint is the SHA-256 of a certificate, as browsers show it.
func fingerprint(cert tls.Certificate) string {
	sum := sha256.Sum256(cert.Certificate[0])
	return strings.ReplaceAll(fmt.Sprintf("% X", sum), " ", ":")
}
