package homes

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nkeys"

	"github.com/parleyfleet/parley/configs"
	"github.com/parleyfleet/parley/internal/durable"
	"github.com/parleyfleet/parley/internal/random"
	"github.com/parleyfleet/parley/internal/whereabouts"
	"github.com/parleyfleet/parley/node/control"
)

// Key is a key with which a host signs, with its public half.
type Key struct {
	Pair   nkeys.KeyPair
	Public string
}

// SeedFile is the file of one key.
func SeedFile(home configs.Home, public string) string {
	return filepath.Join(home.Keys(), public+".nk")
}

// HostKey reads the key with which a home's host signs: the seed of an nkey. Whoever has it can
// sign as that host.
func HostKey(home configs.Home) (*Key, error) { return readKey(home.HostKey()) }

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
	if err := durable.WriteFile(home.HostKey(), append(seed, '\n'), 0o600); err != nil {
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
	if err == nil {
		err = durable.WriteFile(home.HostKey(), append(seed, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot keep this host's key: %w", err)
	}
	return nil
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

// ServerID makes the name of the bus server different from others: a random part that is kept with
// the key, and a mark of this place. Servers with the same name throw each other off, and a copied
// home must get far enough to be told to stay out.
func ServerID(home configs.Home) (string, error) {
	id, err := keptServerID(home)
	mark := sha256.Sum256([]byte(whereabouts.Hostname() + "\x00" + home.Dir))
	return id + "-" + hex.EncodeToString(mark[:4]), err
}

func keptServerID(home configs.Home) (string, error) {
	file := filepath.Join(home.Keys(), "server.id")
	data, err := os.ReadFile(file)
	if err == nil {
		return strings.TrimSpace(string(data)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("cannot read the id of the bus server: %w", err)
	}
	id := random.Hex(8)
	return id, writeOnce(file, []byte(id+"\n"))
}

const tokenKeyBytes = 32

// TokenKey reads the key of agents' tokens, or makes it.
func TokenKey(home configs.Home) ([]byte, error) {
	file := filepath.Join(home.Keys(), "tokens.key")
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		data = []byte(random.Hex(tokenKeyBytes) + "\n")
		err = writeOnce(file, data)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the key of agents' tokens: %w", err)
	}
	key, err := hex.DecodeString(strings.TrimSpace(string(data)))
	if err != nil || len(key) != tokenKeyBytes {
		return nil, control.Errorf(control.KindFailed, "remove the file: a new one is made, and the tokens made with it count no more",
			"cannot read the key of agents' tokens: %s is damaged", file)
	}
	return key, nil
}
