package homes

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/durable"
)

// Key is a key with which a host signs, with its public half.
type Key struct {
	Pair   nkeys.KeyPair
	Public string
}

// KeyFile has the seed of the key with which the host signs. When a host first changes its key,
// each of its keys gets a file of its own beside it.
func KeyFile(home configs.Home) string { return filepath.Join(home.Keys(), "host.nk") }

// SeedFile is the file of one key.
func SeedFile(home configs.Home, public string) string {
	return filepath.Join(home.Keys(), public+".nk")
}

// HostKey reads the key with which a home's host signs: the seed of an nkey. Whoever has it can
// sign as that host.
func HostKey(home configs.Home) (*Key, error) { return readKey(KeyFile(home)) }

// KeptKey reads one of the keys that the host has had since it first changed its key.
func KeptKey(home configs.Home, public string) (*Key, error) {
	return readKey(SeedFile(home, public))
}

func readKey(file string) (*Key, error) {
	seed, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read this host's key: %w", err)
	}
	pair, err := nkeys.FromSeed([]byte(strings.TrimSpace(string(seed))))
	if err != nil {
		return nil, fmt.Errorf("cannot read this host's key %s: %w", file, err)
	}
	return withPublic(pair)
}

// NewKey makes a key that no home has yet.
func NewKey() (*Key, error) {
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, err
	}
	return withPublic(pair)
}

func withPublic(pair nkeys.KeyPair) (*Key, error) {
	quick, err := newQuickKey(pair)
	if err != nil {
		return nil, fmt.Errorf("cannot read this host's keys: %w", err)
	}
	return &Key{quick, quick.public}, nil
}

// makeKey creates the host's key unless it is there already.
func makeKey(home configs.Home) (*Key, error) {
	if key, err := HostKey(home); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	key, err := NewKey()
	if err != nil {
		return nil, fmt.Errorf("cannot make this host's key: %w", err)
	}
	seed, err := key.Pair.Seed()
	if err != nil {
		return nil, fmt.Errorf("cannot make this host's key: %w", err)
	}
	if err := durable.WriteFile(KeyFile(home), append(seed, '\n'), 0o600); err != nil {
		return nil, fmt.Errorf("cannot keep this host's key: %w", err)
	}
	return key, errors.Join(durable.Folder(home.Dir), durable.Folder(filepath.Dir(home.Dir)))
}

// Keep writes a key durably into its own file, unless that exists.
func (k *Key) Keep(home configs.Home) error {
	seed, err := k.Pair.Seed()
	if err != nil {
		return fmt.Errorf("cannot keep this host's key: %w", err)
	}
	if err := writeOnce(SeedFile(home, k.Public), append(seed, '\n')); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.Folder(home.Keys())
}

// MakeOwn makes it the key with which the next start signs.
func (k *Key) MakeOwn(home configs.Home) error {
	seed, err := k.Pair.Seed()
	if err != nil {
		return fmt.Errorf("cannot keep this host's key: %w", err)
	}
	next := KeyFile(home) + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot keep this host's key: %w", err)
	}
	if err := writeOnce(next, append(seed, '\n')); err != nil {
		return err
	}
	if err := os.Rename(next, KeyFile(home)); err != nil {
		return fmt.Errorf("cannot keep this host's key: %w", err)
	}
	return durable.Folder(home.Keys())
}

// HasSeed reports whether the key is or was one of this home.
func HasSeed(home configs.Home, public string) bool {
	if key, err := HostKey(home); err == nil && key.Public == public {
		return true
	}
	key, err := KeptKey(home, public)
	return err == nil && key.Public == public
}

// writeOnce writes a private file durably. The file must not exist.
func writeOnce(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("cannot write %s: %w", path, err)
	}
	return nil
}

// quickKey is a pair of keys that is prepared once. The library derives both keys from the seed for
// every signature, which takes twice as long as signing.
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
