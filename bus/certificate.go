package bus

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"time"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/protocol"
)

// The dates of a host's certificate mean nothing: the record says how long a key counts. The dates
// do not depend on the time of a start. So the certificate is the same after every start.
var (
	certificateFrom = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	certificateTo   = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

// hostCertificate is the self-signed certificate of a host, made in memory from its key. The same
// key, alias and addresses give the same bytes. Its names matter only to NATS clients, which can be
// told to trust it (Certificate). Hosts look only at the key.
func hostCertificate(key nkeys.KeyPair, alias protocol.Name, addresses []string) (tls.Certificate, error) {
	private, err := privateKey(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	public := private.Public().(ed25519.PublicKey)
	serial := sha256.Sum256(public)
	template := &x509.Certificate{
		SerialNumber:          new(big.Int).SetBytes(serial[:16]),
		Subject:               pkix.Name{CommonName: alias.String()},
		NotBefore:             certificateFrom,
		NotAfter:              certificateTo,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	for _, address := range addresses {
		addName(template, address)
	}
	der, err := x509.CreateCertificate(nil, template, template, public, private)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("cannot make this host's certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: private}, nil
}

func addName(template *x509.Certificate, address string) {
	host, _, err := protocol.SplitHostPort(address)
	if err != nil {
		return
	}
	if ip := net.ParseIP(host); ip == nil {
		template.DNSNames = append(template.DNSNames, host)
	} else if !ip.IsUnspecified() {
		template.IPAddresses = append(template.IPAddresses, ip)
	}
}

func privateKey(key nkeys.KeyPair) (ed25519.PrivateKey, error) {
	seed, err := key.Seed()
	if err != nil {
		return nil, fmt.Errorf("cannot use this host's key: %w", err)
	}
	_, raw, err := nkeys.DecodeSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("cannot use this host's key: %w", err)
	}
	return ed25519.NewKeyFromSeed(raw), nil
}

// peerKey is the public nkey that the other end of a TLS connection has proved to hold. Nothing
// else in its certificate is looked at.
func peerKey(state tls.ConnectionState) (string, error) {
	if len(state.PeerCertificates) == 0 {
		return "", errors.New("it shows no certificate")
	}
	public, ok := state.PeerCertificates[0].PublicKey.(ed25519.PublicKey)
	if !ok {
		return "", errors.New("its certificate has no ed25519 key, which the key of a host is")
	}
	key, err := nkeys.Encode(nkeys.PrefixByteUser, public)
	if err != nil {
		return "", fmt.Errorf("its key cannot be written as an nkey: %w", err)
	}
	return string(key), nil
}

// maxFormer bounds how many former keys of a host are shown, and looked at.
const maxFormer = 8

// succession is a certificate by which a former key of a host says that the present one follows it. A
// host that was away while the key was changed believes it, because the record that says so may be
// nowhere else.
func succession(old nkeys.KeyPair, present tls.Certificate) ([]byte, error) {
	private, err := privateKey(old)
	if err != nil {
		return nil, err
	}
	public, err := old.PublicKey()
	if err != nil {
		return nil, err
	}
	issuer := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: public}, NotBefore: certificateFrom, NotAfter: certificateTo}
	der, err := x509.CreateCertificate(nil, issuer, issuer, present.PrivateKey.(ed25519.PrivateKey).Public(), private)
	if err != nil {
		return nil, fmt.Errorf("cannot say which key of this host follows: %w", err)
	}
	return der, nil
}

// formerKeys are the public nkeys that say that the key which was proved follows them.
func formerKeys(state tls.ConnectionState) (all []string) {
	shown := state.PeerCertificates[0].PublicKey
	for _, c := range state.PeerCertificates[1:min(len(state.PeerCertificates), 1+maxFormer)] {
		public, ok := c.PublicKey.(ed25519.PublicKey)
		raw, err := nkeys.Decode(nkeys.PrefixByteUser, []byte(c.Issuer.CommonName))
		if ok && err == nil && len(raw) == ed25519.PublicKeySize && public.Equal(shown.(ed25519.PublicKey)) && ed25519.Verify(raw, c.RawTBSCertificate, c.Signature) {
			all = append(all, c.Issuer.CommonName)
		}
	}
	return all
}

// Certificate is the certificate that the clients port shows if it is not on the loopback, in PEM.
// NATS clients are given it as --tlsca.
func (b *Bus) Certificate() []byte {
	var out bytes.Buffer
	_ = pem.Encode(&out, &pem.Block{Type: "CERTIFICATE", Bytes: b.identity().cert.Certificate[0]}) // writing to a buffer does not fail
	return out.Bytes()
}

// identity is the key that this host now shows and with which it signs. A rotation replaces it.
type identity struct {
	key    nkeys.KeyPair
	public string
	cert   tls.Certificate
}

func (b *Bus) identity() *identity { return b.current.Load() }

// setIdentity makes `key` the key of this host, with a certificate for the addresses at which it is
// reached.
func (b *Bus) setIdentity(key nkeys.KeyPair) error {
	public, err := key.PublicKey()
	if err != nil {
		return fmt.Errorf("cannot read the public key: %w", err)
	}
	if !nkeys.IsValidPublicUserKey(public) {
		return fmt.Errorf("the key %s is not a user nkey", public)
	}
	cert, err := hostCertificate(key, b.opts.Alias, append([]string{b.opts.Listen}, b.opts.Advertise...))
	if err != nil {
		return err
	}
	for _, old := range b.former[:min(len(b.former), maxFormer)] {
		follows, err := succession(old, cert)
		if err != nil {
			return err
		}
		cert.Certificate = append(cert.Certificate, follows)
	}
	b.current.Store(&identity{key: key, public: public, cert: cert})
	return nil
}

// Rekey makes `key` the key of this host from now on. Letters are signed with it, and links and
// clients that are accepted or dialled see it. The link that this host has dialled is made anew.
// The others stay, because their peers have proved their own keys. Call Rekey when the record holds
// the new key, and not twice at a time. A connection to an existing system keeps its old key until it is made anew.
func (b *Bus) Rekey(key nkeys.KeyPair) error {
	b.former = append([]nkeys.KeyPair{b.identity().key}, b.former...)
	if err := b.setIdentity(key); err != nil {
		return fmt.Errorf("cannot change the key of the bus: %w", err)
	}
	if b.dialler != nil {
		b.dialler.drop()
	}
	return nil
}

// serverTLS is how this host's ports speak TLS: only 1.3, with the present certificate.
func (b *Bus) serverTLS() *tls.Config {
	return &tls.Config{
		MinVersion: tls.VersionTLS13,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			return &b.identity().cert, nil
		},
	}
}
