package bus

import (
	"crypto/tls"
	"fmt"

	"github.com/nats-io/nkeys"
)

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
	b.current.Store(&identity{key: key, public: public, cert: cert})
	return nil
}

// Rekey makes `key` the key of this host from now on. Letters are signed with it, and links and
// clients that are accepted or dialled see it. The link that this host has dialled is made anew.
// The others stay, because their peers have proved their own keys. Call Rekey when the record holds
// the new key. A connection to an existing system keeps its old key until it is made anew.
func (b *Bus) Rekey(key nkeys.KeyPair) error {
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
