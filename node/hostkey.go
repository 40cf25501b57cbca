package node

import (
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

// hostKey is a key that this host signs with.
type hostKey struct {
	pair   nkeys.KeyPair
	public string
}

// ownKey is the one that it signs with now.
func (n *Node) ownKey() *hostKey { return n.signsWith.Load() }

// keyFile holds the seed of the key that the host signs with. Every key that it has
// had since it first changed one has a file of its own beside it.
func keyFile(home configs.Home) string { return filepath.Join(home.Keys(), "host.nk") }

func seedFile(home configs.Home, public string) string {
	return filepath.Join(home.Keys(), public+".nk")
}

// HostKey reads the key of a home's host, the seed of an nkey. Who has it can sign
// as that host.
func HostKey(home configs.Home) (nkeys.KeyPair, error) {
	key, err := readKey(keyFile(home))
	if err != nil {
		return nil, err
	}
	return key.pair, nil
}

func readKey(file string) (*hostKey, error) {
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

func withPublic(pair nkeys.KeyPair) (*hostKey, error) {
	quick, err := newQuickKey(pair)
	if err != nil {
		return nil, fmt.Errorf("cannot read this host's keys: %w", err)
	}
	return &hostKey{quick, quick.public}, nil
}

// makeKey creates the host's key unless it is there already.
func makeKey(home configs.Home) (nkeys.KeyPair, error) {
	if key, err := HostKey(home); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return key, err
	}
	pair, err := nkeys.CreateUser()
	if err != nil {
		return nil, fmt.Errorf("cannot make this host's key: %w", err)
	}
	seed, err := pair.Seed()
	if err != nil {
		return nil, fmt.Errorf("cannot make this host's key: %w", err)
	}
	return pair, writeOnce(keyFile(home), append(seed, '\n'))
}

// keepSeed writes a key into the file that is its own, durably, unless it is there.
func (k *hostKey) keepSeed(home configs.Home) error {
	seed, err := k.pair.Seed()
	if err != nil {
		return fmt.Errorf("cannot keep this host's key: %w", err)
	}
	if err := writeOnce(seedFile(home, k.public), append(seed, '\n')); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return durable.Folder(home.Keys())
}

// makeOwn makes it the key that the next start signs with.
func (k *hostKey) makeOwn(home configs.Home) error {
	seed, err := k.pair.Seed()
	if err != nil {
		return fmt.Errorf("cannot keep this host's key: %w", err)
	}
	next := keyFile(home) + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot keep this host's key: %w", err)
	}
	if err := writeOnce(next, append(seed, '\n')); err != nil {
		return err
	}
	if err := os.Rename(next, keyFile(home)); err != nil {
		return fmt.Errorf("cannot keep this host's key: %w", err)
	}
	return durable.Folder(home.Keys())
}

// hasSeed reports whether the key is, or was, this home's.
func hasSeed(home configs.Home, public string) bool {
	if key, err := readKey(keyFile(home)); err == nil && key.public == public {
		return true
	}
	key, err := readKey(seedFile(home, public))
	return err == nil && key.public == public
}

// rightKey takes the key that the record says is this host's, where this home has it:
// the node ended after the record had its new key and before the home did.
func (n *Node) rightKey() error {
	h, joined := n.state.Host(n.cfg.Alias)
	if !joined || h.Key == n.ownKey().public {
		return nil
	}
	key, err := readKey(seedFile(n.home, h.Key))
	if errors.Is(err, fs.ErrNotExist) || err == nil && key.public != h.Key {
		return nil // the name is another host's: joining says so
	}
	if err != nil {
		return err
	}
	n.signsWith.Store(key)
	n.log.Info().Str("key", key.public).Msg("the change of this host's key is brought to its end")
	return key.makeOwn(n.home)
}

// writeOnce writes a private file that must not exist, durably.
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
