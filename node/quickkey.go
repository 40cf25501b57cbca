package node

import (
	"crypto/ed25519"
	"fmt"

	"github.com/nats-io/nkeys"
)

// quickKey is a pair of keys that is made ready once. A pair itself derives both
// keys from its seed for every signature, which takes twice as long as signing.
type quickKey struct {
	nkeys.KeyPair
	public  string
	private ed25519.PrivateKey
}

func newQuickKey(pair nkeys.KeyPair) (*quickKey, error) {
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, err
	}
	_, raw, err := nkeys.DecodeSeed(seed)
	if err != nil {
		return nil, err
	}
	if len(raw) != ed25519.SeedSize {
		return nil, fmt.Errorf("its seed has %d bytes, not %d", len(raw), ed25519.SeedSize)
	}
	return &quickKey{KeyPair: pair, public: public, private: ed25519.NewKeyFromSeed(raw)}, nil
}

// PublicKey implements nkeys.KeyPair.
func (k *quickKey) PublicKey() (string, error) { return k.public, nil }

// Sign implements nkeys.KeyPair.
func (k *quickKey) Sign(data []byte) ([]byte, error) { return ed25519.Sign(k.private, data), nil }
